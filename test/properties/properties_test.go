package properties

import (
	"regexp"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/test/properties/draw"
)

// aField is how a message names what is wrong: by its path.
var aField = regexp.MustCompile(`^(metadata|spec|targetNamespace)[.:[]`)

// conditions that every answer has.
var conditions = []string{fn.TypeSpecValid, fn.TypeJetStreamReady, fn.TypeNetworkPolicyReady, fn.TypeDeploymentReady, fn.TypeScaledObjectReady}

// maxMessage of a condition. All conditions of a composite, and of its claim,
// must fit into etcd beside the rest.
const maxMessage = 64 << 10

// TestAnswer: whatever the component is, the function answers; either it
// composes all three resources, or it names the fields that are wrong. It
// answers the same twice, and so that gRPC can carry it.
func TestAnswer(t *testing.T) {
	t.Parallel()

	drawn, accepted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		xr := draw.Composite().Draw(t, "composite")
		drawn++

		answer := ask(t, xr.Struct)
		if again := ask(t, xr.Struct); !proto.Equal(answer, again) {
			t.Errorf("two answers to one component: %v and %v", answer, again)
		}
		if _, err := proto.Marshal(answer); err != nil {
			t.Errorf("the answer cannot be sent: %v", err)
		}
		for _, typ := range conditions {
			c := answer.Condition(typ)
			if c.GetReason() == "" || c.GetReason() == fn.ReasonInternalError || len(c.GetMessage()) > maxMessage {
				t.Errorf("condition %s: got %.300v", typ, c)
			}
		}

		switch why := answer.Refusal(); {
		case why == "" && len(answer.Manifests) != 3:
			t.Errorf("want three resources of a component that is not refused, got %d", len(answer.Manifests))
		case why != "" && len(answer.Manifests) != 0:
			t.Errorf("want no resource of a component that is refused, got %d", len(answer.Manifests))
		case why != "" && !aField.MatchString(why):
			t.Errorf("want a refusal to name a field, got %q", why)
		case why == "":
			accepted++
		}
	})
	t.Logf("accepted %d of %d", accepted, drawn)
}
