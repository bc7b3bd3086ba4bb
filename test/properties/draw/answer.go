package draw

import (
	"context"
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An Answer is what the function says to a component.
type Answer struct {
	*fnv1.RunFunctionResponse

	// Objects that the function composes, and the manifests in them, by the
	// names of the Objects. None if it refuses the component.
	Objects, Manifests map[string]*unstructured.Unstructured
}

// Ask asks the function about a composite that is new. The input may be nil.
func Ask(ctx context.Context, function fnv1.FunctionRunnerServiceServer, xr, input *structpb.Struct) (*Answer, error) {
	rsp, err := function.RunFunction(ctx, &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "drawn"},
		Input:    input,
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: xr}},
	})
	if err != nil {
		return nil, err
	}
	a := &Answer{RunFunctionResponse: rsp, Objects: map[string]*unstructured.Unstructured{}, Manifests: map[string]*unstructured.Unstructured{}}
	for name, r := range rsp.GetDesired().GetResources() {
		object := &unstructured.Unstructured{Object: r.GetResource().AsMap()}
		a.Objects[name] = object
		manifest, found, err := unstructured.NestedMap(object.Object, "spec", "forProvider", "manifest")
		if err != nil || !found {
			return nil, fmt.Errorf("%s has no manifest: %w", name, err)
		}
		a.Manifests[name] = &unstructured.Unstructured{Object: manifest}
	}
	return a, nil
}

// Refusal returns why the function refuses the component, empty if it does not.
func (a *Answer) Refusal() string {
	for _, r := range a.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return r.GetMessage()
		}
	}
	return ""
}

// Condition returns the condition of that type, nil if there is none.
func (a *Answer) Condition(typ string) *fnv1.Condition {
	for _, c := range a.GetConditions() {
		if c.GetType() == typ {
			return c
		}
	}
	return nil
}
