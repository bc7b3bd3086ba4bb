package fn

import (
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/utils/ptr"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// Types of the conditions that every response sets, on the composite and on
// the claim.
const (
	// TypeSpecValid tells whether the spec can be rendered.
	TypeSpecValid = "SpecValid"
	// TypeJetStreamReady tells whether the stream and the consumer are there.
	TypeJetStreamReady = "JetStreamReady"
	// TypeNetworkPolicyReady tells whether the NetworkPolicy is in place.
	TypeNetworkPolicyReady = "NetworkPolicyReady"
	// TypeDeploymentReady tells whether the workers can run. None running is
	// fine if none is needed.
	TypeDeploymentReady = "DeploymentReady"
	// TypeScaledObjectReady tells whether KEDA scales the workers.
	TypeScaledObjectReady = "ScaledObjectReady"
)

// Reasons of SpecValid.
const (
	// ReasonValid: every rule is kept.
	ReasonValid = "Valid"
	// ReasonInvalidSpec: at least one rule is broken; the message has them
	// all. Nothing is applied, and what runs keeps running.
	ReasonInvalidSpec = "InvalidSpec"
)

// Reasons of any condition while nothing can be said about it.
const (
	// ReasonInvalidInput: the function's Input or a credential cannot be used,
	// which is for the platform engineer to mend.
	ReasonInvalidInput = "InvalidInput"
	// ReasonInternalError: the function has a fault.
	ReasonInternalError = "InternalError"
)

// Reasons of JetStreamReady beside those of package nats.
const (
	// ReasonNotConfigured: the function knows of no NATS.
	ReasonNotConfigured = "NotConfigured"
	// ReasonDisabled: the Input leaves JetStream to somebody else.
	ReasonDisabled = "Disabled"
)

// Reasons of the conditions of composed resources.
const (
	// ReasonAvailable: it is there and works.
	ReasonAvailable = "Available"
	// ReasonCreating: it was not there yet when last seen.
	ReasonCreating = "Creating"
	// ReasonNotSynced: provider-kubernetes cannot apply it; the message says
	// why.
	ReasonNotSynced = "NotSynced"
	// ReasonProgressing: a change is under way.
	ReasonProgressing = "Progressing"
	// ReasonUnavailable: the workers do not come up; the message says why.
	ReasonUnavailable = "Unavailable"
	// ReasonNotReady: KEDA cannot scale by it; the message says why.
	ReasonNotReady = "NotReady"
	// ReasonWaitingForJetStream: it is held back until the stream and the
	// consumer are there, since jobs published before would never reach a
	// worker.
	ReasonWaitingForJetStream = "WaitingForJetStream"
)

// A Condition is one of those that every response sets. Nothing in it changes
// by itself, such as a depth or a time: that would make a reconcile loop.
type Condition struct {
	Type    string
	Status  fnv1.Status
	Reason  string
	Message string
}

func isTrue(typ, reason string) Condition {
	return Condition{Type: typ, Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: reason}
}

func isFalse(typ, reason, message string) Condition {
	return Condition{Type: typ, Status: fnv1.Status_STATUS_CONDITION_FALSE, Reason: reason, Message: message}
}

func isUnknown(typ, reason, message string) Condition {
	return Condition{Type: typ, Status: fnv1.Status_STATUS_CONDITION_UNKNOWN, Reason: reason, Message: message}
}

// ready reports whether the condition is true.
func (c Condition) ready() bool {
	return c.Status == fnv1.Status_STATUS_CONDITION_TRUE
}

// proto returns the condition as it stands in a response. Only conditions that
// target both reach the claim.
func (c Condition) proto() *fnv1.Condition {
	p := &fnv1.Condition{
		Type:   c.Type,
		Status: c.Status,
		Reason: c.Reason,
		Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
	if c.Message != "" {
		p.Message = ptr.To(c.Message)
	}
	return p
}

// observedCondition returns the condition of that type that an observed
// resource has, with its observed generation, zero if it has none.
func observedCondition(s *structpb.Struct, typ string) (c Condition, generation int64) {
	for _, v := range value(s, "status", "conditions").GetListValue().GetValues() {
		f := v.GetStructValue().GetFields()
		if f["type"].GetStringValue() != typ {
			continue
		}
		c = Condition{Type: typ, Reason: f["reason"].GetStringValue(), Message: f["message"].GetStringValue()}
		switch f["status"].GetStringValue() {
		case "True":
			c.Status = fnv1.Status_STATUS_CONDITION_TRUE
		case "False":
			c.Status = fnv1.Status_STATUS_CONDITION_FALSE
		case "Unknown":
			c.Status = fnv1.Status_STATUS_CONDITION_UNKNOWN
		}
		return c, int64(f["observedGeneration"].GetNumberValue())
	}
	return Condition{}, 0
}

// value returns what lies at that path in s, nil if nothing does.
func value(s *structpb.Struct, path ...string) *structpb.Value {
	for _, name := range path[:len(path)-1] {
		s = s.GetFields()[name].GetStructValue()
	}
	return s.GetFields()[path[len(path)-1]]
}
