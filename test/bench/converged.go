// Package bench measures the function beside what cannot be faster: the same
// gRPC server that answers with the same bytes and does no work.
package bench

import (
	"context"
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Converged returns the request that Crossplane sends for the composite once
// everything that the function composes of it is there and ready.
func Converged(ctx context.Context, function fnv1.FunctionRunnerServiceServer, composite, input *structpb.Struct) (*fnv1.RunFunctionRequest, error) {
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "converged"},
		Input:    input,
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: composite}, Resources: map[string]*fnv1.Resource{}},
		Desired:  &fnv1.State{},
	}
	rsp, err := function.RunFunction(ctx, proto.Clone(req).(*fnv1.RunFunctionRequest)) //nolint:forcetypeassert // A clone is of the same type.
	if err != nil {
		return nil, err
	}
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return nil, fmt.Errorf("cannot converge: %s", r.GetMessage())
		}
	}
	for name, desired := range rsp.GetDesired().GetResources() {
		observed, err := observe(desired.GetResource())
		if err != nil {
			return nil, err
		}
		req.Observed.Resources[name] = &fnv1.Resource{Resource: observed}
	}
	return req, nil
}

// observe returns an Object as provider-kubernetes leaves it when the resource
// in it is there and works.
func observe(object *structpb.Struct) (*structpb.Struct, error) {
	observed := proto.Clone(object).(*structpb.Struct) //nolint:forcetypeassert // A clone is of the same type.
	manifest := proto.Clone(object.GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().
		GetFields()["manifest"].GetStructValue()).(*structpb.Struct) //nolint:forcetypeassert // The same.

	resource, err := structpb.NewStruct(map[string]any{
		"observedGeneration": 1,
		"conditions": []any{
			map[string]any{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
			map[string]any{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
			map[string]any{"type": "Ready", "status": "True", "reason": "ScaledObjectReady"},
		},
	})
	if err != nil {
		return nil, err
	}
	manifest.Fields["status"] = structpb.NewStructValue(resource)
	manifest.GetFields()["metadata"].GetStructValue().Fields["generation"] = structpb.NewNumberValue(1)

	status, err := structpb.NewStruct(map[string]any{
		"conditions": []any{
			map[string]any{"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "observedGeneration": 1},
			map[string]any{"type": "Ready", "status": "True", "reason": "Available"},
		},
	})
	if err != nil {
		return nil, err
	}
	status.Fields["atProvider"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		"manifest": structpb.NewStructValue(manifest),
	}})
	observed.Fields["status"] = structpb.NewStructValue(status)
	observed.Fields["metadata"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		"generation": structpb.NewNumberValue(1),
	}})
	return observed, nil
}
