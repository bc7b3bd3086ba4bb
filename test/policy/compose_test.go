package policy

import (
	"context"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/test/properties/draw"
)

// fataler is a test or one of rapid's checks.
type fataler interface {
	Fatal(args ...any)
}

// offline is an Input that leaves JetStream out.
func offline(t fataler) *structpb.Struct {
	in, err := structpb.NewStruct(map[string]any{
		"apiVersion": "tmi.fn.crossplane.io/v1beta1", "kind": "Input", "targetNamespace": workerNamespace,
		"nats": map[string]any{"provisioning": "Disabled"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// compose returns the NetworkPolicy and the Deployment of a component as they
// leave the function, nil if it refuses the component.
func compose(t fataler, xr *structpb.Struct) (*networkingv1.NetworkPolicy, *appsv1.Deployment) {
	answer, err := draw.Ask(context.Background(), fn.New(), xr, offline(t))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Refusal() != "" {
		return nil, nil
	}
	np, deployment := &networkingv1.NetworkPolicy{}, &appsv1.Deployment{}
	for name, into := range map[string]any{fn.ResourceNetworkPolicy: np, fn.ResourceDeployment: deployment} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(answer.Manifests[name].Object, into, true); err != nil {
			t.Fatal(name, err)
		}
	}
	return np, deployment
}

func networkPolicy(t *testing.T, xr *structpb.Struct) *networkingv1.NetworkPolicy {
	t.Helper()
	np, _ := compose(t, xr)
	if np == nil {
		t.Fatal("the component is refused")
	}
	return np
}
