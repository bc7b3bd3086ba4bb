package fn

import (
	"maps"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/input/v1alpha1"
	"tmi.dev/function-tmicomponent/input/v1beta1"
	"tmi.dev/function-tmicomponent/nats"
)

// How many broken rules one message lists, how many bytes each of them may
// have, and after how many bytes the list ends. A condition must fit into the
// composite, whatever a user wrote.
const (
	maxReported     = 100
	maxErrorBytes   = 1 << 10
	maxMessageBytes = 16 << 10
)

// defaultTTL of a response that says nothing else: the function SDK's.
const defaultTTL = time.Minute

// respond returns a response with all that earlier steps of the pipeline want.
// It is what the function SDK's response.To does, whose package would bring the
// whole Kubernetes client into the binary.
func respond(req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	return &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: req.GetMeta().GetTag(), Ttl: durationpb.New(defaultTTL)},
		Desired: req.GetDesired(),
		Context: req.GetContext(),
	}
}

// A composedResource is one of the three that a component is made of.
type composedResource struct {
	// name among the composed resources.
	name string
	// conditionType that tells how it is.
	conditionType string
	// readiness from the observed Object.
	readiness func(observed *structpb.Struct) Condition
	// runsWorkers: it must not exist before the stream and the consumer do.
	runsWorkers bool
}

var composedResources = []composedResource{
	{name: ResourceNetworkPolicy, conditionType: TypeNetworkPolicyReady, readiness: networkPolicyReadiness},
	{name: ResourceDeployment, conditionType: TypeDeploymentReady, readiness: deploymentReadiness, runsWorkers: true},
	{name: ResourceScaledObject, conditionType: TypeScaledObjectReady, readiness: scaledObjectReadiness, runsWorkers: true},
}

// report puts the rendered resources into the response, and how the component
// is: conditions, events, the composite's readiness and status, and when
// Crossplane is to call again.
func report(rsp *fnv1.RunFunctionResponse, req *fnv1.RunFunctionRequest, c *Component, in *v1beta1.Input, js jetStream, rendered map[string]*structpb.Struct) {
	if rsp.GetDesired() == nil {
		rsp.Desired = &fnv1.State{}
	}
	if rsp.GetDesired().GetResources() == nil {
		rsp.Desired.Resources = make(map[string]*fnv1.Resource, len(composedResources))
	}
	conditions := []Condition{isTrue(TypeSpecValid, ReasonValid), js.condition}
	settled := js.settled

	observed := req.GetObserved().GetResources()
	hold := js.holdsWorkers && !hasWorkers(observed)
	for _, r := range composedResources {
		if hold && r.runsWorkers {
			conditions = append(conditions, isFalse(r.conditionType, ReasonWaitingForJetStream,
				"It is created as soon as the stream and the consumer exist; see the condition "+TypeJetStreamReady+"."))
			continue
		}
		readiness := r.readiness(observed[r.name].GetResource())
		conditions = append(conditions, readiness)
		desired := &fnv1.Resource{Resource: rendered[r.name], Ready: fnv1.Ready_READY_TRUE}
		if !readiness.ready() {
			desired.Ready = fnv1.Ready_READY_FALSE
			// While JetStream is for a person to mend, its readiness is what
			// matters, and that does not come by itself.
			settled = settled && js.unready
		}
		rsp.Desired.Resources[r.name] = desired
	}

	setConditions(rsp, conditions)
	for _, change := range js.changes {
		addResult(rsp, fnv1.Severity_SEVERITY_NORMAL, string(nats.Provisioned), change)
	}
	if js.holdsWorkers {
		addResult(rsp, fnv1.Severity_SEVERITY_WARNING, js.condition.Reason, js.condition.Message)
	}

	setCompositeStatus(rsp, req, c)
	if js.unready {
		rsp.Desired.Composite.Ready = fnv1.Ready_READY_FALSE
	}

	ttl := in.TTL.Converging.Duration
	if settled {
		ttl = in.TTL.Steady.Duration
	}
	rsp.Meta.Ttl = durationpb.New(ttl)
}

// refuse answers with a Fatal result: Crossplane applies nothing of the
// response but its conditions. Those are all there, since it would set to
// unknown the ones that are not: what can be seen is told as ever, and
// JetStream as it was when it was last looked at.
func refuse(rsp *fnv1.RunFunctionResponse, req *fnv1.RunFunctionRequest, reason, message string) {
	rsp.Results = nil
	addResult(rsp, fnv1.Severity_SEVERITY_FATAL, reason, message)

	spec := isUnknown(TypeSpecValid, reason, message)
	if reason == ReasonInvalidSpec {
		spec = isFalse(TypeSpecValid, reason, message)
	}
	js, _ := observedCondition(req.GetObserved().GetComposite().GetResource(), TypeJetStreamReady)
	looked := js.Status == fnv1.Status_STATUS_CONDITION_TRUE || js.Status == fnv1.Status_STATUS_CONDITION_FALSE
	if !looked && js.Reason != ReasonDisabled {
		js = isUnknown(TypeJetStreamReady, reason, "JetStream is looked at as soon as the component can be.")
	}
	conditions := []Condition{spec, js}
	for _, r := range composedResources {
		readiness := isUnknown(r.conditionType, reason, "Nothing is composed before the condition "+TypeSpecValid+" is true.")
		if o := req.GetObserved().GetResources()[r.name].GetResource(); o != nil {
			readiness = r.readiness(o)
		}
		conditions = append(conditions, readiness)
	}
	setConditions(rsp, conditions)
}

// hasWorkers reports whether the component was composed before: what runs
// workers is then kept, whatever happens to NATS, since a desired resource that
// is left out is deleted.
func hasWorkers(observed map[string]*fnv1.Resource) bool {
	for _, r := range composedResources {
		if r.runsWorkers && observed[r.name].GetResource() != nil {
			return true
		}
	}
	return false
}

func setConditions(rsp *fnv1.RunFunctionResponse, conditions []Condition) {
	rsp.Conditions = make([]*fnv1.Condition, len(conditions))
	for i, c := range conditions {
		rsp.Conditions[i] = c.proto()
	}
}

func addResult(rsp *fnv1.RunFunctionResponse, severity fnv1.Severity, reason, message string) {
	rsp.Results = append(rsp.Results, &fnv1.Result{
		Severity: severity,
		Reason:   ptr.To(reason),
		Message:  message,
		Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	})
}

// setCompositeStatus sets what is ours of the desired composite's status. What
// earlier steps have set of the composite, its readiness included, stays.
func setCompositeStatus(rsp *fnv1.RunFunctionResponse, req *fnv1.RunFunctionRequest, c *Component) {
	if rsp.GetDesired().GetComposite() == nil {
		rsp.Desired.Composite = &fnv1.Resource{}
	}
	composite := rsp.GetDesired().GetComposite()
	if composite.GetResource().GetFields() == nil {
		observed := req.GetObserved().GetComposite().GetResource()
		composite.Resource = &structpb.Struct{Fields: map[string]*structpb.Value{
			"apiVersion": structpb.NewStringValue(value(observed, "apiVersion").GetStringValue()),
			"kind":       structpb.NewStringValue(value(observed, "kind").GetStringValue()),
		}}
	}
	ours := protostruct.Encode(&v1alpha1.TMIComponentStatus{JetStream: &v1alpha1.JetStreamStatus{
		Stream:   nats.StreamName(c.Name),
		Consumer: nats.ConsumerName(c.Name),
	}})
	fields := composite.GetResource().GetFields()
	if status := fields["status"].GetStructValue(); status.GetFields() != nil {
		maps.Copy(status.GetFields(), ours.GetFields())
		return
	}
	fields["status"] = structpb.NewStructValue(ours)
}

// sentence returns the errors as one line.
func sentence(errs field.ErrorList) string {
	var b strings.Builder
	for i, err := range errs {
		if i == maxReported || b.Len() > maxMessageBytes {
			b.WriteString("; and more")
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if text := err.Error(); len(text) > maxErrorBytes {
			b.WriteString(strings.ToValidUTF8(text[:maxErrorBytes], "") + "...")
		} else {
			b.WriteString(text)
		}
	}
	return b.String()
}
