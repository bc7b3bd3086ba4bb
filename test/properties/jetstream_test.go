package properties

import (
	"context"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/bench/natsd"
	"tmi.dev/function-tmicomponent/test/properties/draw"
)

// TestJetStream: the stream and the consumer of a component that is accepted
// are made by a real nats-server, which then says of them what we mean.
func TestJetStream(t *testing.T) {
	t.Parallel()

	url := natsd.Start(t)
	js := natsd.Connect(t, url)
	provisioner := nats.NewProvisioner()
	t.Cleanup(provisioner.Close)
	function := fn.New(fn.WithStreamProvisioner(provisioner))
	in := input(map[string]any{"url": url, "timeout": "30s"})

	rapid.Check(t, func(rt *rapid.T) {
		xr := draw.Composite().Draw(rt, "composite").Struct
		answer := askOf(rt, function, xr, in)
		if answer.Refusal() != "" {
			return
		}
		// Also with an error: the stream may be there, and only the consumer not.
		stream := value(answer.GetDesired().GetComposite().GetResource(), "status", "jetStream", "stream").GetStringValue()
		defer func() { _ = js.DeleteStream(context.WithoutCancel(t.Context()), stream) }()

		// A server that is still removing the files of a deleted stream fails to
		// create one of that name, once in some thousand times.
		for tries := 0; tries < 10 && answer.Condition(fn.TypeJetStreamReady).GetReason() == string(nats.JetStreamUnavailable); tries++ {
			answer = askOf(rt, function, xr, in)
		}
		if c := answer.Condition(fn.TypeJetStreamReady); c.GetStatus() != fnv1.Status_STATUS_CONDITION_TRUE {
			rt.Fatalf("JetStreamReady of a component that is accepted: %v", c)
		}
		// What the server made of it must be what we look for: else each call
		// would update it again, or report a drift.
		again := askOf(rt, function, xr, in)
		if c := again.Condition(fn.TypeJetStreamReady); c.GetReason() != string(nats.Provisioned) || len(again.GetResults()) > 0 {
			rt.Errorf("a second call: %v, %v", c, again.GetResults())
		}
	})
}

func value(s *structpb.Struct, path ...string) *structpb.Value {
	v := structpb.NewStructValue(s)
	for _, name := range path {
		v = v.GetStructValue().GetFields()[name]
	}
	return v
}
