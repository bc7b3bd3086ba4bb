// Package properties draws components from the whole schema and holds the
// function to what must be true of all of them: it answers; what it refuses, it
// names; and what it accepts, a real API server and a real NATS server accept.
package properties

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/test/properties/draw"
)

// offline is an Input that leaves JetStream out and says where components of
// neither a claim nor a namespace go.
var offline = input(map[string]any{"provisioning": "Disabled"})

func input(nats map[string]any) *structpb.Struct {
	in, err := structpb.NewStruct(map[string]any{
		"apiVersion":      "tmi.fn.crossplane.io/v1beta1",
		"kind":            "Input",
		"targetNamespace": "tmi-platform",
		"nats":            nats,
	})
	if err != nil {
		panic(err)
	}
	return in
}

// fataler is a test or one of rapid's checks.
type fataler interface {
	Fatal(args ...any)
}

// ask asks the function about a component, without NATS.
func ask(t fataler, xr *structpb.Struct) *draw.Answer {
	return askOf(t, fn.New(), xr, offline)
}

func askOf(t fataler, function *fn.Function, xr, in *structpb.Struct) *draw.Answer {
	answer, err := draw.Ask(context.Background(), function, xr, in)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
