package fn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"tmi.dev/function-tmicomponent/input/v1beta1"
	"tmi.dev/function-tmicomponent/nats"
)

// A provisioner stands for what package nats finds.
type provisioner func(r nats.Request) (nats.Outcome, error)

func (p provisioner) EnsureStreamAndConsumer(_ context.Context, r nats.Request) (nats.Outcome, error) {
	return p(r)
}

// found returns a provisioner with that outcome.
func found(state nats.State, changes ...string) provisioner {
	return func(r nats.Request) (nats.Outcome, error) {
		return nats.Outcome{
			State:    state,
			Stream:   nats.StreamName(r.Component.Name),
			Consumer: nats.ConsumerName(r.Component.Name),
			Changes:  changes,
		}, nil
	}
}

// failed returns a provisioner with that error.
func failed(reason nats.Reason, changes ...string) provisioner {
	return func(nats.Request) (nats.Outcome, error) {
		return nats.Outcome{Changes: changes}, &nats.Error{Reason: reason, Message: "What happened with " + string(reason) + "."}
	}
}

// configured makes the function know of a NATS, at which it finds what p says.
func configured(p StreamProvisioner, opts ...Option) *Function {
	return New(append([]Option{
		WithStreamProvisioner(p),
		WithDefaultNATS(nats.Settings{URL: "nats://nats.example:4222"}),
	}, opts...)...)
}

// fromYAML returns a struct. It is for text in tests, and ends the test if that
// is none.
func fromYAML(t testing.TB, text string) *structpb.Struct {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	s := &structpb.Struct{}
	if err := protojson.Unmarshal(data, s); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return s
}

const aClaim = `
apiVersion: tmi.dev/v1alpha1
kind: XTMIComponent
metadata: {name: tmi-extractor-x7k2p, generation: 1}
spec:
  claimRef: {apiVersion: tmi.dev/v1alpha1, kind: TMIComponent, name: tmi-extractor, namespace: team-a}
  image: extractor:1
  jobSubjects: [jobs.extract.pdf]
`

const aNamespaced = `
apiVersion: tmi.dev/v1alpha1
kind: TMIComponent
metadata: {name: tmi-extractor, namespace: team-a}
spec:
  image: extractor:1
  jobSubjects: [jobs.extract.pdf]
`

const anInvalid = `
apiVersion: tmi.dev/v1alpha1
kind: TMIComponent
metadata: {name: tmi-extractor, namespace: team-a}
spec:
  jobSubjects: [jobs.extract.pdf]
  inputMode: source-locator
  scaling: {maxReplicas: 0}
`

// richest returns a claim and an Input with every field.
func richest(t testing.TB) (xr, input *structpb.Struct) {
	t.Helper()
	return asClaim(t, readCase(t, "valid/every-field.yaml")), fromYAML(t, everyInput)
}

const everyInput = `
apiVersion: tmi.fn.crossplane.io/v1beta1
kind: Input
metadata: {name: input}
nats:
  url: "nats://one.example:4222,nats://two.example:4222"
  provisioning: Ensure
  adoptExisting: true
  streamReplicas: 3
  timeout: 2s
  account: WORKERS
  accountID: ABC
  monitoringEndpoint: monitoring.example:8222
  monitoringHTTPS: true
  tlsServerName: nats.example
  jetStreamDomain: hub
  peer: {namespaceSelector: {name: nats}, podSelector: {app.kubernetes.io/name: nats}, port: 4333}
dnsPeers:
- {cidr: 169.254.20.10/32}
- {namespaceSelector: {kubernetes.io/metadata.name: kube-system}, podSelector: {k8s-app: kube-dns}}
providerConfigRef: {name: workers, kind: ProviderConfig}
targetNamespace: workers
allowedSubjects: ["jobs.>"]
ttl: {steady: 5m, converging: 7s}
`

// Observed Objects of a component that works, as provider-kubernetes leaves
// them.
var working = map[string]string{
	"network-policy": `
apiVersion: kubernetes.crossplane.io/v1alpha2
kind: Object
metadata: {name: np, generation: 1}
status:
  atProvider: {manifest: {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {generation: 1}}}
  conditions:
  - {type: Synced, status: "True", observedGeneration: 1}
  - {type: Ready, status: "True"}
`,
	"deployment": `
apiVersion: kubernetes.crossplane.io/v1alpha2
kind: Object
metadata: {name: d, generation: 2}
status:
  atProvider:
    manifest:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {generation: 4}
      spec: {replicas: 0}
      status:
        observedGeneration: 4
        conditions:
        - {type: Available, status: "True"}
        - {type: Progressing, status: "True"}
  conditions:
  - {type: Synced, status: "True", observedGeneration: 2}
  - {type: Ready, status: "True"}
`,
	"scaled-object": `
apiVersion: kubernetes.crossplane.io/v1alpha2
kind: Object
metadata: {name: so, generation: 1}
status:
  atProvider:
    manifest:
      apiVersion: keda.sh/v1alpha1
      kind: ScaledObject
      metadata: {generation: 1}
      status:
        conditions:
        - {type: Ready, status: "True"}
        - {type: Active, status: "False"}
        - {type: Fallback, status: "False"}
        - {type: Paused, status: "Unknown"}
  conditions:
  - {type: Synced, status: "True", observedGeneration: 1}
  - {type: Ready, status: "True"}
`,
}

// A requestOption changes a request.
type requestOption func(t testing.TB, req *fnv1.RunFunctionRequest)

// request returns one for the composite, nothing of which is there yet.
func request(t testing.TB, xr string, opts ...requestOption) *fnv1.RunFunctionRequest {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "tag"},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: fromYAML(t, xr)}, Resources: map[string]*fnv1.Resource{}},
		Desired:  &fnv1.State{},
	}
	for _, o := range opts {
		o(t, req)
	}
	return req
}

// works adds observed resources that work: all of them, if none is named.
func works(names ...string) requestOption {
	return func(t testing.TB, req *fnv1.RunFunctionRequest) {
		t.Helper()
		if len(names) == 0 {
			names = slices.Collect(maps.Keys(working))
		}
		for _, name := range names {
			req.Observed.Resources[name] = &fnv1.Resource{Resource: fromYAML(t, working[name])}
		}
	}
}

func withInput(input string) requestOption {
	return func(t testing.TB, req *fnv1.RunFunctionRequest) {
		t.Helper()
		req.Input = fromYAML(t, input)
	}
}

// withSecret adds the pipeline step's credentials for NATS.
func withSecret(data map[string]string) requestOption {
	return func(_ testing.TB, req *fnv1.RunFunctionRequest) {
		secret := map[string][]byte{}
		for k, v := range data {
			secret[k] = []byte(v)
		}
		req.Credentials = map[string]*fnv1.Credentials{"nats": {Source: &fnv1.Credentials_CredentialData{CredentialData: &fnv1.CredentialData{Data: secret}}}}
	}
}

func withDesired(d *fnv1.State) requestOption {
	return func(_ testing.TB, req *fnv1.RunFunctionRequest) { req.Desired = proto.Clone(d).(*fnv1.State) } //nolint:forcetypeassert // A clone is of the same type.
}

// withStatus sets the observed composite's status.
func withStatus(status string) requestOption {
	return func(t testing.TB, req *fnv1.RunFunctionRequest) {
		t.Helper()
		req.Observed.Composite.Resource.Fields["status"] = structpb.NewStructValue(fromYAML(t, status))
	}
}

// An answer is what matters of a response, for people to read.
type answer struct {
	// Conditions as Type=Status/Reason, in their order.
	Conditions []string
	// Resources are the desired ones, with their readiness.
	Resources map[string]fnv1.Ready
	// Composite readiness.
	Composite fnv1.Ready
	// Results as Severity/Reason, in their order.
	Results []string
	// TTL, but not of an answer with a Fatal, to which Crossplane backs off by
	// itself.
	TTL time.Duration
}

func answerOf(rsp *fnv1.RunFunctionResponse) answer {
	a := answer{Composite: rsp.GetDesired().GetComposite().GetReady(), TTL: rsp.GetMeta().GetTtl().AsDuration()}
	for _, c := range rsp.GetConditions() {
		status := strings.TrimPrefix(c.GetStatus().String(), "STATUS_CONDITION_")
		a.Conditions = append(a.Conditions, fmt.Sprintf("%s=%s/%s", c.GetType(), status, c.GetReason()))
	}
	for name, r := range rsp.GetDesired().GetResources() {
		if a.Resources == nil {
			a.Resources = map[string]fnv1.Ready{}
		}
		a.Resources[name] = r.GetReady()
	}
	for _, r := range rsp.GetResults() {
		a.Results = append(a.Results, strings.TrimPrefix(r.GetSeverity().String(), "SEVERITY_")+"/"+r.GetReason())
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			a.TTL = 0
		}
	}
	return a
}

// Reasons that DESIGN.md gives each condition, beside those of a Fatal.
var documentedReasons = map[string][]string{
	"SpecValid": {"Valid", "InvalidSpec"},
	"JetStreamReady": {"Provisioned", "Adopted", "NotConfigured", "Disabled", "NotFound", "Unreachable", "Unauthorized", "JetStreamUnavailable",
		"NameCollision", "SubjectOverlap", "Drifted", "InsufficientResources", "Rejected"},
	"NetworkPolicyReady": {"Available", "Creating", "NotSynced"},
	"DeploymentReady":    {"Available", "Creating", "NotSynced", "Progressing", "Unavailable", "WaitingForJetStream"},
	"ScaledObjectReady":  {"Available", "Creating", "NotSynced", "NotReady", "WaitingForJetStream"},
}

// wellFormed fails the test unless the response keeps what every response must:
// all five conditions, in order, on composite and claim, each with a reason that
// is documented and, unless it is true, a message; results with a reason, a
// message and the same target; a TTL; nothing that server-side apply would take
// for ours without our meaning it.
func wellFormed(t testing.TB, rsp *fnv1.RunFunctionResponse, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("RunFunction must never return an error, which loses every condition: %v", err)
	}
	fatal := slices.ContainsFunc(rsp.GetResults(), func(r *fnv1.Result) bool { return r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL })

	var types []string
	for _, c := range rsp.GetConditions() {
		types = append(types, c.GetType())
		if c.GetTarget() != fnv1.Target_TARGET_COMPOSITE_AND_CLAIM {
			t.Errorf("condition %s: want the target composite and claim, got %s", c.GetType(), c.GetTarget())
		}
		if c.GetStatus() == fnv1.Status_STATUS_CONDITION_UNSPECIFIED {
			t.Errorf("condition %s: want a status", c.GetType())
		}
		unknown := fatal && c.GetStatus() == fnv1.Status_STATUS_CONDITION_UNKNOWN
		known := slices.Contains(documentedReasons[c.GetType()], c.GetReason())
		if !known && !(unknown && slices.Contains([]string{"InvalidSpec", "InvalidInput", "InternalError"}, c.GetReason())) {
			t.Errorf("condition %s: the reason %q is not documented", c.GetType(), c.GetReason())
		}
		if c.GetStatus() != fnv1.Status_STATUS_CONDITION_TRUE && c.GetMessage() == "" {
			t.Errorf("condition %s is %s and does not say why", c.GetType(), c.GetStatus())
		}
		if len(c.GetMessage()) > 32768 {
			t.Errorf("condition %s: a message of %d bytes, an API server takes no more than 32768: %.300s", c.GetType(), len(c.GetMessage()), c.GetMessage())
		}
	}
	if diff := cmp.Diff([]string{"SpecValid", "JetStreamReady", "NetworkPolicyReady", "DeploymentReady", "ScaledObjectReady"}, types); diff != "" {
		t.Errorf("want all conditions on every call: -want, +got:\n%s", diff)
	}
	for _, r := range rsp.GetResults() {
		if r.GetTarget() != fnv1.Target_TARGET_COMPOSITE_AND_CLAIM || r.GetReason() == "" || r.GetMessage() == "" {
			t.Errorf("want a result with target, reason and message, got %v", r)
		}
	}
	if rsp.GetMeta().GetTtl().AsDuration() <= 0 {
		t.Errorf("want a TTL above zero, got %v", rsp.GetMeta().GetTtl())
	}
	if rsp.GetRequirements() != nil {
		t.Error("want no requirements: they would make Crossplane call twice")
	}
	if fatal {
		return
	}
	for _, r := range composedResources {
		if d := rsp.GetDesired().GetResources()[r.name]; d != nil {
			onlyWhatWeMean(t, r.name, structpb.NewStructValue(d.GetResource()))
		}
	}
}

// onlyWhatWeMean fails the test if there is, anywhere below v, a null, an empty
// object or list, or a field that is not ours to set.
func onlyWhatWeMean(t testing.TB, path string, v *structpb.Value) {
	t.Helper()
	switch k := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		if len(k.StructValue.GetFields()) == 0 {
			t.Errorf("%s: an empty object is emitted", path)
		}
		for name, fv := range k.StructValue.GetFields() {
			if slices.Contains([]string{"status", "strategy", "creationTimestamp", "replicas", "enableServiceLinks"}, name) {
				t.Errorf("%s.%s must never be emitted", path, name)
			}
			onlyWhatWeMean(t, path+"."+name, fv)
		}
	case *structpb.Value_ListValue:
		if len(k.ListValue.GetValues()) == 0 {
			t.Errorf("%s: an empty list is emitted", path)
		}
		for i, e := range k.ListValue.GetValues() {
			onlyWhatWeMean(t, fmt.Sprintf("%s[%d]", path, i), e)
		}
	case *structpb.Value_StringValue, *structpb.Value_NumberValue, *structpb.Value_BoolValue:
	default:
		t.Errorf("%s: a null is emitted", path)
	}
}

const (
	isReady  = fnv1.Ready_READY_TRUE
	notReady = fnv1.Ready_READY_FALSE
)

func TestRunFunction(t *testing.T) {
	t.Parallel()

	allReady := map[string]fnv1.Ready{"network-policy": isReady, "deployment": isReady, "scaled-object": isReady}
	allUnready := map[string]fnv1.Ready{"network-policy": notReady, "deployment": notReady, "scaled-object": notReady}
	available := []string{"NetworkPolicyReady=TRUE/Available", "DeploymentReady=TRUE/Available", "ScaledObjectReady=TRUE/Available"}
	creating := []string{"NetworkPolicyReady=FALSE/Creating", "DeploymentReady=FALSE/Creating", "ScaledObjectReady=FALSE/Creating"}
	waiting := []string{"NetworkPolicyReady=FALSE/Creating", "DeploymentReady=FALSE/WaitingForJetStream", "ScaledObjectReady=FALSE/WaitingForJetStream"}
	refused := func(reason string) []string {
		return []string{"JetStreamReady=UNKNOWN/" + reason, "NetworkPolicyReady=UNKNOWN/" + reason, "DeploymentReady=UNKNOWN/" + reason, "ScaledObjectReady=UNKNOWN/" + reason}
	}
	conditions := func(first string, others ...[]string) []string {
		return slices.Concat(append([][]string{{first}}, others...)...)
	}
	jetStream := func(status string) []string { return []string{"JetStreamReady=" + status} }

	type args struct {
		f   *Function
		req *fnv1.RunFunctionRequest
	}
	type want struct {
		answer   answer
		messages []string // Parts of the results' messages.
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"AllWell": {
			reason: "A component that works should be steady, and its readiness be left to Crossplane.",
			args:   args{configured(found(nats.Provisioned)), request(t, aClaim, works())},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Provisioned"), available),
				Resources:  allReady,
				TTL:        time.Minute,
			}},
		},
		"AllWellAdopted": {
			reason: "A stream of somebody else that satisfies the component should be as good.",
			args:   args{configured(found(nats.Adopted)), request(t, aNamespaced, works())},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Adopted"), available),
				Resources:  allReady,
				TTL:        time.Minute,
			}},
		},
		"New": {
			reason: "A new component should get all three at once if its stream exists, with an event for each thing written.",
			args: args{
				configured(found(nats.Provisioned, "Created the stream.", "Created the consumer.")),
				request(t, aClaim),
			},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Provisioned"), creating),
					Resources:  allUnready,
					Results:    []string{"NORMAL/Provisioned", "NORMAL/Provisioned"},
					TTL:        3 * time.Second,
				},
				messages: []string{"Created the stream.", "Created the consumer."},
			},
		},
		"Converging": {
			reason: "While one resource is not ready Crossplane should soon call again.",
			args:   args{configured(found(nats.Provisioned)), request(t, aClaim, works("network-policy", "scaled-object"))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Provisioned"),
					[]string{"NetworkPolicyReady=TRUE/Available", "DeploymentReady=FALSE/Creating", "ScaledObjectReady=TRUE/Available"}),
				Resources: map[string]fnv1.Ready{"network-policy": isReady, "deployment": notReady, "scaled-object": isReady},
				TTL:       3 * time.Second,
			}},
		},
		"UpdatedAndWell": {
			reason: "A change to the stream should be an event, and not keep a component from being steady.",
			args:   args{configured(found(nats.Provisioned, "Updated the stream.")), request(t, aClaim, works())},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Provisioned"), available),
					Resources:  allReady,
					Results:    []string{"NORMAL/Provisioned"},
					TTL:        time.Minute,
				},
				messages: []string{"Updated the stream."},
			},
		},
		"InputTTL": {
			reason: "The Input's TTLs should be used.",
			args: args{
				configured(found(nats.Provisioned), WithDefaultTTL(v1beta1.TTL{Steady: &metav1.Duration{Duration: time.Hour}})),
				request(t, aClaim, works(), withInput(`{ttl: {steady: 5m, converging: 7s}}`)),
			},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Provisioned"), available),
				Resources:  allReady,
				TTL:        5 * time.Minute,
			}},
		},
		"InputTTLConverging": {
			reason: "The Input's TTLs should be used while converging, too.",
			args:   args{configured(found(nats.Provisioned)), request(t, aClaim, withInput(`{ttl: {steady: 5m, converging: 7s}}`))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Provisioned"), creating),
				Resources:  allUnready,
				TTL:        7 * time.Second,
			}},
		},
		"DefaultTTL": {
			reason: "The function's TTLs should be used where the Input has none.",
			args: args{
				configured(found(nats.Provisioned), WithDefaultTTL(v1beta1.TTL{Steady: &metav1.Duration{Duration: time.Hour}})),
				request(t, aClaim, works(), withInput(`{ttl: {converging: 7s}}`)),
			},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("TRUE/Provisioned"), available),
				Resources:  allReady,
				TTL:        time.Hour,
			}},
		},
		"InvalidSpecNew": {
			reason: "An invalid component should be refused with every rule that it breaks.",
			args:   args{configured(found(nats.Provisioned)), request(t, anInvalid)},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=FALSE/InvalidSpec", refused("InvalidSpec")),
					Results:    []string{"FATAL/InvalidSpec"},
				},
				messages: []string{"spec.image: Required value", "spec.egress: Invalid value", "spec.scaling.maxReplicas: Invalid value"},
			},
		},
		"InvalidSpecExisting": {
			reason: "What runs should be told as ever, JetStream as it was when it was last looked at.",
			args: args{configured(found(nats.Provisioned)), request(t, anInvalid, works(), withStatus(
				`{conditions: [{type: JetStreamReady, status: "True", reason: Adopted}, {type: SpecValid, status: "True", reason: Valid}]}`))},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=FALSE/InvalidSpec", jetStream("TRUE/Adopted"), available),
					Results:    []string{"FATAL/InvalidSpec"},
				},
				messages: []string{"spec.image: Required value"},
			},
		},
		"InvalidSpecWasFalse": {
			reason: "What was wrong with JetStream should still be told.",
			args: args{configured(found(nats.Provisioned)), request(t, anInvalid, works("network-policy"), withStatus(
				`{conditions: [{type: JetStreamReady, status: "False", reason: Unreachable, message: NATS is down.}]}`))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=FALSE/InvalidSpec", jetStream("FALSE/Unreachable"),
					[]string{"NetworkPolicyReady=TRUE/Available", "DeploymentReady=UNKNOWN/InvalidSpec", "ScaledObjectReady=UNKNOWN/InvalidSpec"}),
				Results: []string{"FATAL/InvalidSpec"},
			}},
		},
		"InvalidSpecWasDisabled": {
			reason: "That JetStream is not looked at should still be told.",
			args: args{configured(found(nats.Provisioned)), request(t, anInvalid, withStatus(
				`{conditions: [{type: JetStreamReady, status: Unknown, reason: Disabled, message: Not looked at.}]}`))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=FALSE/InvalidSpec", jetStream("UNKNOWN/Disabled"), refused("InvalidSpec")[1:]),
				Results:    []string{"FATAL/InvalidSpec"},
			}},
		},
		"InvalidSpecWasInvalidInput": {
			reason: "An earlier refusal is not something that was seen of JetStream, and should not be repeated as its reason.",
			args: args{configured(found(nats.Provisioned)), request(t, anInvalid, withStatus(
				`{conditions: [{type: JetStreamReady, status: Unknown, reason: InvalidInput, message: Not looked at.}]}`))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=FALSE/InvalidSpec", refused("InvalidSpec")),
				Results:    []string{"FATAL/InvalidSpec"},
			}},
		},
		"NoNamespace": {
			reason: "A cluster-scoped composite without a claim and without a target namespace should be told what to do.",
			args: args{configured(found(nats.Provisioned)), request(t, `
apiVersion: tmi.dev/v1alpha1
kind: XTMIComponent
metadata: {name: tmi-extractor}
spec: {image: extractor:1, jobSubjects: [jobs.extract.pdf]}
`)},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=FALSE/InvalidSpec", refused("InvalidSpec")),
					Results:    []string{"FATAL/InvalidSpec"},
				},
				messages: []string{"set targetNamespace in the function's Input"},
			},
		},
		"InvalidInput": {
			reason: "An Input that cannot be used should be refused, and the component not be blamed.",
			args: args{configured(found(nats.Provisioned)), request(t, aClaim,
				withInput(`{nats: {provisioning: Sometimes, timeout: -1s}, targetNamespace: "No Namespace", ttl: {steady: 0s}}`))},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=UNKNOWN/InvalidInput", refused("InvalidInput")),
					Results:    []string{"FATAL/InvalidInput"},
				},
				messages: []string{"the Composition's pipeline step", `nats.provisioning: Unsupported value: "Sometimes"`, "nats.timeout", "targetNamespace", "ttl.steady"},
			},
		},
		"InvalidInputExisting": {
			reason: "What runs should be told as ever.",
			args: args{configured(found(nats.Provisioned)), request(t, aClaim, works(), withInput(`{nats: {url: 5}}`), withStatus(
				`{conditions: [{type: JetStreamReady, status: "True", reason: Provisioned}]}`))},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=UNKNOWN/InvalidInput", jetStream("TRUE/Provisioned"), available),
					Results:    []string{"FATAL/InvalidInput"},
				},
				messages: []string{"nats.url: Invalid value: 5: must be a string"},
			},
		},
		"InputBeforeSpec": {
			reason: "An Input that cannot be used should come before what is wrong with a component, which may follow from it.",
			args:   args{configured(found(nats.Provisioned)), request(t, anInvalid, withInput(`{nats: {url: 5}}`))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=UNKNOWN/InvalidInput", refused("InvalidInput")),
				Results:    []string{"FATAL/InvalidInput"},
			}},
		},
		"CredentialUnusable": {
			reason: "A credential that cannot be used should be refused.",
			args:   args{configured(found(nats.Provisioned)), request(t, aClaim, withSecret(map[string]string{"creds": "no credentials"}))},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=UNKNOWN/InvalidInput", refused("InvalidInput")),
					Results:    []string{"FATAL/InvalidInput"},
				},
				messages: []string{"nats: Invalid value", "creds"},
			},
		},
		"CredentialsUnusable": {
			reason: "Two things wrong with the credentials should be told in one line.",
			args: args{configured(found(nats.Provisioned)), request(t, aClaim,
				withSecret(map[string]string{"nkey": "x", "tls.crt": "y"}))},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=UNKNOWN/InvalidInput", refused("InvalidInput")),
					Results:    []string{"FATAL/InvalidInput"},
				},
				messages: []string{"nkey", "tls.crt"},
			},
		},
		"CredentialUnusableDisabled": {
			reason: "A credential that nothing is done with should not matter.",
			args: args{configured(found(nats.Provisioned)), request(t, aClaim, works(),
				withInput(`{nats: {provisioning: Disabled}}`), withSecret(map[string]string{"creds": "no credentials"}))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("UNKNOWN/Disabled"), available),
				Resources:  allReady,
				TTL:        time.Minute,
			}},
		},
		"NameTaken": {
			reason: "What an earlier step composes must not be lost.",
			args: args{configured(found(nats.Provisioned)), request(t, aClaim, withDesired(&fnv1.State{Resources: map[string]*fnv1.Resource{
				"deployment": {Resource: fromYAML(t, `{apiVersion: v1, kind: ConfigMap}`)},
				"other":      {Resource: fromYAML(t, `{apiVersion: v1, kind: ConfigMap}`)},
			}}))},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=UNKNOWN/InvalidInput", refused("InvalidInput")),
					Resources:  map[string]fnv1.Ready{"deployment": fnv1.Ready_READY_UNSPECIFIED, "other": fnv1.Ready_READY_UNSPECIFIED},
					Results:    []string{"FATAL/InvalidInput"},
				},
				messages: []string{"desired.resources[deployment]", "an earlier step"},
			},
		},
		"NotConfigured": {
			reason: "Without NATS all should be rendered, for a laptop, but a cluster's component must not be ready.",
			args:   args{New(), request(t, aClaim)},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("FALSE/NotConfigured"), creating),
				Resources:  allUnready,
				Composite:  notReady,
				TTL:        time.Minute,
			}},
		},
		"NotConfiguredExisting": {
			reason: "It must not be ready either when all resources are.",
			args:   args{New(WithStreamProvisioner(found(nats.Provisioned))), request(t, aClaim, works())},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("FALSE/NotConfigured"), available),
				Resources:  allReady,
				Composite:  notReady,
				TTL:        time.Minute,
			}},
		},
		"NoProvisioner": {
			reason: "A function without a provisioner should skip it, as one without a URL does.",
			args:   args{New(WithDefaultNATS(nats.Settings{URL: "nats://nats.example"})), request(t, aClaim, works())},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("FALSE/NotConfigured"), available),
				Resources:  allReady,
				Composite:  notReady,
				TTL:        time.Minute,
			}},
		},
		"Disabled": {
			reason: "JetStream that somebody else provisions should gate nothing.",
			args:   args{configured(failed(nats.Unreachable)), request(t, aClaim, works(), withInput(`{nats: {provisioning: Disabled}}`))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("UNKNOWN/Disabled"), available),
				Resources:  allReady,
				TTL:        time.Minute,
			}},
		},
		"DisabledNew": {
			reason: "A new component should get all three, and converge as ever.",
			args:   args{New(), request(t, aClaim, withInput(`{nats: {provisioning: Disabled}}`))},
			want: want{answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", jetStream("UNKNOWN/Disabled"), creating),
				Resources:  allUnready,
				TTL:        3 * time.Second,
			}},
		},
		"PartlyProvisioned": {
			reason: "What was written before an error should be told beside it.",
			args:   args{configured(failed(nats.InsufficientResources, "Created the stream.")), request(t, aClaim)},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=TRUE/Valid", jetStream("FALSE/InsufficientResources"), waiting),
					Resources:  map[string]fnv1.Ready{"network-policy": notReady},
					Composite:  notReady,
					Results:    []string{"NORMAL/Provisioned", "WARNING/InsufficientResources"},
					TTL:        3 * time.Second,
				},
				messages: []string{"Created the stream.", "What happened with InsufficientResources."},
			},
		},
		"UnknownError": {
			reason: "An error of another kind should be Rejected.",
			args: args{configured(provisioner(func(nats.Request) (nats.Outcome, error) {
				return nats.Outcome{}, errors.New("boom")
			})), request(t, aClaim)},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=TRUE/Valid", jetStream("FALSE/Rejected"), waiting),
					Resources:  map[string]fnv1.Ready{"network-policy": notReady},
					Composite:  notReady,
					Results:    []string{"WARNING/Rejected"},
					TTL:        3 * time.Second,
				},
				messages: []string{"boom"},
			},
		},
		"WrappedError": {
			reason: "A wrapped error should be known by its reason.",
			args: args{configured(provisioner(func(nats.Request) (nats.Outcome, error) {
				return nats.Outcome{}, fmt.Errorf("ensuring: %w", &nats.Error{Reason: nats.Drifted, Message: "It is another."})
			})), request(t, aClaim)},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=TRUE/Valid", jetStream("FALSE/Drifted"), waiting),
					Resources:  map[string]fnv1.Ready{"network-policy": notReady},
					Composite:  notReady,
					Results:    []string{"WARNING/Drifted"},
					TTL:        time.Minute,
				},
				messages: []string{"It is another."},
			},
		},
		"Panic": {
			reason: "A panic should be a Fatal with every condition, never a crash.",
			args:   args{configured(provisioner(func(nats.Request) (nats.Outcome, error) { panic("boom") })), request(t, aClaim, works())},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=UNKNOWN/InternalError", jetStream("UNKNOWN/InternalError"), available),
					Results:    []string{"FATAL/InternalError"},
				},
				messages: []string{"please report it: boom"},
			},
		},
		"PanicNew": {
			reason: "A panic with an error in it should be the same.",
			args:   args{configured(provisioner(func(nats.Request) (nats.Outcome, error) { panic(errors.New("boom")) })), request(t, aClaim)},
			want: want{
				answer: answer{
					Conditions: conditions("SpecValid=UNKNOWN/InternalError", refused("InternalError")),
					Results:    []string{"FATAL/InternalError"},
				},
				messages: []string{"please report it: boom"},
			},
		},
	}

	// What JetStream refuses, for a component that is new, that has its
	// NetworkPolicy only, and that exists; whether it may pass by itself.
	for _, state := range []struct {
		reason  nats.Reason
		passing bool
	}{
		{nats.NotFound, true},
		{nats.Unreachable, true},
		{nats.Unauthorized, true},
		{nats.JetStreamUnavailable, true},
		{nats.InsufficientResources, true},
		{nats.Rejected, true},
		{nats.NameCollision, false},
		{nats.SubjectOverlap, false},
		{nats.Drifted, false},
	} {
		ttl := time.Minute
		if state.passing {
			ttl = 3 * time.Second
		}
		input := withInput(`{nats: {provisioning: Ensure}}`)
		if state.reason == nats.NotFound {
			input = withInput(`{nats: {provisioning: Observe}}`)
		}
		results := []string{"WARNING/" + string(state.reason)}
		messages := []string{"What happened with " + string(state.reason) + "."}
		js := jetStream("FALSE/" + string(state.reason))

		cases[string(state.reason)+"New"] = struct {
			reason string
			args   args
			want   want
		}{
			reason: "A new component must have no worker before its stream: only the NetworkPolicy.",
			args:   args{configured(failed(state.reason)), request(t, aClaim, input)},
			want: want{messages: messages, answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", js, waiting),
				Resources:  map[string]fnv1.Ready{"network-policy": notReady},
				Composite:  notReady,
				Results:    results,
				TTL:        ttl,
			}},
		}
		cases[string(state.reason)+"NetworkPolicyOnly"] = struct {
			reason string
			args   args
			want   want
		}{
			reason: "That the NetworkPolicy is there should not let a worker start.",
			args:   args{configured(failed(state.reason)), request(t, aNamespaced, input, works("network-policy"))},
			want: want{messages: messages, answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", js, []string{"NetworkPolicyReady=TRUE/Available"}, waiting[1:]),
				Resources:  map[string]fnv1.Ready{"network-policy": isReady},
				Composite:  notReady,
				Results:    results,
				TTL:        ttl,
			}},
		}
		cases[string(state.reason)+"Existing"] = struct {
			reason string
			args   args
			want   want
		}{
			reason: "What was once composed must never be withdrawn, since that would delete it.",
			args:   args{configured(failed(state.reason)), request(t, aClaim, input, works())},
			want: want{messages: messages, answer: answer{
				Conditions: conditions("SpecValid=TRUE/Valid", js, available),
				Resources:  allReady,
				Composite:  notReady,
				Results:    results,
				TTL:        ttl,
			}},
		}
		for _, survivor := range []string{"deployment", "scaled-object"} {
			ready := maps.Clone(allUnready)
			ready[survivor] = isReady
			one := slices.Clone(creating)
			i := slices.Index([]string{"network-policy", "deployment", "scaled-object"}, survivor)
			one[i] = available[i]
			cases[string(state.reason)+"Existing/"+survivor] = struct {
				reason string
				args   args
				want   want
			}{
				reason: "One that lost a resource should get it back, whatever JetStream does.",
				args:   args{configured(failed(state.reason)), request(t, aClaim, input, works(survivor))},
				want: want{messages: messages, answer: answer{
					Conditions: conditions("SpecValid=TRUE/Valid", js, one),
					Resources:  ready,
					Composite:  notReady,
					Results:    results,
					TTL:        ttl,
				}},
			}
		}
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rsp, err := tc.args.f.RunFunction(t.Context(), tc.args.req)
			wellFormed(t, rsp, err)
			if diff := cmp.Diff(tc.want.answer, answerOf(rsp), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nRunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			if rsp.GetMeta().GetTag() != "tag" {
				t.Errorf("\n%s\nRunFunction(...): want the request's tag, got %q", tc.reason, rsp.GetMeta().GetTag())
			}
			var messages strings.Builder
			for _, r := range rsp.GetResults() {
				messages.WriteString(r.GetMessage() + "\n")
				if strings.Contains(r.GetMessage(), "\n") {
					t.Errorf("\n%s\nRunFunction(...): want a message of one line, got %q", tc.reason, r.GetMessage())
				}
			}
			for _, m := range tc.want.messages {
				if !strings.Contains(messages.String(), m) {
					t.Errorf("\n%s\nRunFunction(...): want a result with %q, got:\n%s", tc.reason, m, messages.String())
				}
			}
		})
	}
}

func TestRunFunctionTellsTheSameInConditionAndResult(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason    string
		args      *fnv1.RunFunctionRequest
		f         *Function
		condition string
	}{
		"InvalidSpec": {"The claim should say what is wrong with it.", request(t, anInvalid), New(), "SpecValid"},
		"Outage":      {"The claim should say what is wrong with JetStream.", request(t, aClaim), configured(failed(nats.Unreachable)), "JetStreamReady"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rsp, err := tc.f.RunFunction(t.Context(), tc.args)
			wellFormed(t, rsp, err)
			if len(rsp.GetResults()) != 1 {
				t.Fatalf("\n%s\nwant one result, got %v", tc.reason, rsp.GetResults())
			}
			for _, c := range rsp.GetConditions() {
				if c.GetType() != tc.condition {
					continue
				}
				if diff := cmp.Diff(rsp.GetResults()[0].GetMessage(), c.GetMessage()); diff != "" {
					t.Errorf("\n%s\n-result, +condition:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestRunFunctionPassesThrough(t *testing.T) {
	t.Parallel()

	// What an earlier step desires.
	earlier := func(composite string, ready fnv1.Ready) *fnv1.State {
		s := &fnv1.State{
			Composite: &fnv1.Resource{Ready: ready, ConnectionDetails: map[string][]byte{"key": []byte("value")}},
			Resources: map[string]*fnv1.Resource{
				"other": {
					Resource:          fromYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {creationTimestamp: null}, data: {}, status: {replicas: 1}}`),
					Ready:             isReady,
					ConnectionDetails: map[string][]byte{"a": []byte("b")},
				},
				"unspecified": {Resource: fromYAML(t, `{apiVersion: v1, kind: Secret}`)},
			},
		}
		if composite != "" {
			s.Composite.Resource = fromYAML(t, composite)
		}
		return s
	}
	ours := `status: {jetStream: {stream: TMI_TMI_EXTRACTOR, consumer: TMI_EXTRACTOR_CONSUMER}}`

	cases := map[string]struct {
		reason string
		args   *fnv1.State
		f      *Function
		want   *fnv1.Resource // The desired composite.
	}{
		"NoComposite": {
			reason: "Without a desired composite of earlier steps only our status should be desired of it.",
			args:   nil,
			f:      configured(found(nats.Provisioned)),
			want:   &fnv1.Resource{Resource: fromYAML(t, "{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent, "+ours+"}")},
		},
		"EmptyComposite": {
			reason: "The same goes for one that says nothing.",
			args:   earlier("", fnv1.Ready_READY_UNSPECIFIED),
			f:      configured(found(nats.Provisioned)),
			want: &fnv1.Resource{
				Resource:          fromYAML(t, "{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent, "+ours+"}"),
				ConnectionDetails: map[string][]byte{"key": []byte("value")},
			},
		},
		"SpecAndStatus": {
			reason: "What earlier steps set of the composite should stay, and ours stand beside it.",
			args:   earlier(`{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent, metadata: {labels: {a: b}}, spec: {image: other}, status: {theirs: [1], jetStream: {stream: WRONG, more: 1}}}`, isReady),
			f:      configured(found(nats.Provisioned)),
			want: &fnv1.Resource{
				Resource: fromYAML(t, `{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent, metadata: {labels: {a: b}}, spec: {image: other},
					status: {theirs: [1], jetStream: {stream: TMI_TMI_EXTRACTOR, consumer: TMI_EXTRACTOR_CONSUMER}}}`),
				ConnectionDetails: map[string][]byte{"key": []byte("value")},
				Ready:             isReady,
			},
		},
		"NotReady": {
			reason: "An earlier step's word that the composite is not ready should stay.",
			args:   earlier(`{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent}`, notReady),
			f:      configured(found(nats.Provisioned)),
			want: &fnv1.Resource{
				Resource:          fromYAML(t, "{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent, "+ours+"}"),
				ConnectionDetails: map[string][]byte{"key": []byte("value")},
				Ready:             notReady,
			},
		},
		"UnreadyWins": {
			reason: "That a component is not ready should stand even if an earlier step says that it is.",
			args:   earlier(`{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent}`, isReady),
			f:      configured(failed(nats.Unreachable)),
			want: &fnv1.Resource{
				Resource:          fromYAML(t, "{apiVersion: tmi.dev/v1alpha1, kind: XTMIComponent, "+ours+"}"),
				ConnectionDetails: map[string][]byte{"key": []byte("value")},
				Ready:             notReady,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request(t, aClaim, works())
			req.Desired = tc.args
			before := proto.Clone(tc.args).(*fnv1.State) //nolint:forcetypeassert // A clone is of the same type.
			req.Context = fromYAML(t, `{other.example/key: {a: [1, null]}}`)
			wantContext := proto.Clone(req.GetContext())

			rsp, err := tc.f.RunFunction(t.Context(), req)
			wellFormed(t, rsp, err)
			if diff := cmp.Diff(tc.want, rsp.GetDesired().GetComposite(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nthe desired composite: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(wantContext, rsp.GetContext(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nthe context: -want, +got:\n%s", tc.reason, diff)
			}
			others := maps.Clone(rsp.GetDesired().GetResources())
			for _, r := range composedResources {
				if others[r.name] == nil {
					t.Errorf("\n%s\nwant %s beside the others", tc.reason, r.name)
				}
				delete(others, r.name)
			}
			if diff := cmp.Diff(before.GetResources(), others, protocmp.Transform(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nother steps' resources: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRunFunctionPassesThroughWhenRefused(t *testing.T) {
	t.Parallel()

	desired := &fnv1.State{
		Composite: &fnv1.Resource{Resource: fromYAML(t, `{status: {theirs: 1}}`), Ready: isReady},
		Resources: map[string]*fnv1.Resource{"other": {Resource: fromYAML(t, `{kind: ConfigMap}`)}},
	}
	req := request(t, anInvalid, withDesired(desired))
	rsp, err := New().RunFunction(t.Context(), req)
	wellFormed(t, rsp, err)
	if diff := cmp.Diff(desired, rsp.GetDesired(), protocmp.Transform()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRunFunctionIsDeterministic shows that the same request gets the same
// bytes, whatever order Go's maps are in: anything else would make Crossplane
// write, and be called, without end.
func TestRunFunctionIsDeterministic(t *testing.T) {
	t.Parallel()

	xr, input := richest(t)
	rich := func() *fnv1.RunFunctionRequest {
		req := request(t, aClaim, works(), withDesired(&fnv1.State{
			Composite: &fnv1.Resource{Resource: fromYAML(t, `{status: {z: 1, a: 2}}`)},
			Resources: map[string]*fnv1.Resource{"z": {Resource: fromYAML(t, `{kind: Z}`)}, "a": {Resource: fromYAML(t, `{kind: A}`)}},
		}))
		req.Observed.Composite.Resource, req.Input = proto.Clone(xr).(*structpb.Struct), input //nolint:forcetypeassert // A clone is of the same type.
		config := map[string]any{"TMI_JOB_ACK_WAIT": "90s"}
		for i := range 40 {
			config[fmt.Sprintf("VARIABLE_%d", i)] = "value"
		}
		s, err := structpb.NewStruct(config)
		if err != nil {
			t.Fatal(err)
		}
		req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue().Fields["config"] = structpb.NewStructValue(s)
		return req
	}
	broken := func() *fnv1.RunFunctionRequest {
		req := rich()
		spec := map[string]any{"image": 1, "egress": "allowlist", "inputMode": "x", "jobSubjects": []any{"a", "a", ">"}}
		config, selector, limits := map[string]any{}, map[string]any{}, map[string]any{}
		for i := range 40 {
			config[fmt.Sprintf("not legal %d", i)] = i
			selector[fmt.Sprintf("not legal %d", i)] = "not legal"
			limits[fmt.Sprintf("not legal %d", i)] = "-1"
		}
		spec["config"], spec["resources"] = config, map[string]any{"limits": limits, "requests": limits}
		spec["allowlist"] = map[string]any{"clusterPeers": []any{map[string]any{"podSelector": selector}}}
		s, err := structpb.NewStruct(map[string]any{"metadata": map[string]any{"name": "A", "namespace": "B"}, "spec": spec})
		if err != nil {
			t.Fatal(err)
		}
		req.Observed.Composite.Resource = s
		return req
	}

	cases := map[string]struct {
		reason string
		args   func() *fnv1.RunFunctionRequest
		want   fnv1.Severity
	}{
		"Rich":   {"A component with every field should be rendered the same each time.", rich, fnv1.Severity_SEVERITY_NORMAL},
		"Broken": {"Errors should be the same, in the same order, each time.", broken, fnv1.Severity_SEVERITY_FATAL},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := configured(found(nats.Provisioned, "Created the stream.", "Created the consumer."))
			var firstProto, firstJSON []byte
			for i := range 100 {
				// A request that has been on the wire has maps of its own.
				wire, err := proto.Marshal(tc.args())
				if err != nil {
					t.Fatal(err)
				}
				req := &fnv1.RunFunctionRequest{}
				if err := proto.Unmarshal(wire, req); err != nil {
					t.Fatal(err)
				}
				rsp, err := f.RunFunction(t.Context(), req)
				wellFormed(t, rsp, err)
				if len(rsp.GetResults()) == 0 || rsp.GetResults()[0].GetSeverity() != tc.want {
					t.Fatalf("\n%s\nwant %s, got %s", tc.reason, tc.want, rsp.GetResults())
				}
				gotProto, err := proto.MarshalOptions{Deterministic: true}.Marshal(rsp)
				if err != nil {
					t.Fatal(err)
				}
				gotJSON, err := protojson.Marshal(rsp)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					firstProto, firstJSON = gotProto, gotJSON
				}
				if diff := cmp.Diff(string(firstJSON), string(gotJSON)); diff != "" {
					t.Fatalf("\n%s\ncall %d: -first, +this:\n%s", tc.reason, i, diff)
				}
				if !slices.Equal(firstProto, gotProto) {
					t.Fatalf("\n%s\ncall %d: other bytes", tc.reason, i)
				}
			}
		})
	}
}

// TestRunFunctionIsStable shows that a call whose answer was applied gets the
// same answer again, so that nothing that we return makes a reconcile loop.
func TestRunFunctionIsStable(t *testing.T) {
	t.Parallel()

	xr, input := richest(t)
	req := request(t, aClaim, works())
	req.Observed.Composite.Resource, req.Input = xr, input
	f := configured(found(nats.Provisioned))

	first, err := f.RunFunction(t.Context(), proto.Clone(req).(*fnv1.RunFunctionRequest)) //nolint:forcetypeassert // A clone is of the same type.
	wellFormed(t, first, err)
	status, err := structpb.NewStruct(map[string]any{"conditions": []any{
		map[string]any{"type": "JetStreamReady", "status": "True", "reason": "Provisioned", "lastTransitionTime": "2026-01-01T00:00:00Z"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	req.Observed.Composite.Resource.Fields["status"] = structpb.NewStructValue(status)
	second, err := f.RunFunction(t.Context(), req)
	wellFormed(t, second, err)
	if diff := cmp.Diff(first, second, protocmp.Transform()); diff != "" {
		t.Errorf("-first, +second:\n%s", diff)
	}
}

// TestRunFunctionDoesNotShare shows that what one call returns cannot be
// changed by another: defaults are copied.
func TestRunFunctionDoesNotShare(t *testing.T) {
	t.Parallel()

	f := configured(found(nats.Provisioned))
	first, err := f.RunFunction(t.Context(), request(t, aClaim))
	wellFormed(t, first, err)
	want := proto.Clone(first)
	v1beta1Input, errs := ReadInput(nil, v1beta1.TTL{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	v1beta1Input.NATS.Peer.PodSelector["app"] = "changed"
	v1beta1Input.DNSPeers[0].PodSelector["k8s-app"] = "changed"
	second, err := f.RunFunction(t.Context(), request(t, aClaim))
	wellFormed(t, second, err)
	if diff := cmp.Diff(want, second, protocmp.Transform()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestRunFunctionConcurrently(t *testing.T) {
	t.Parallel()

	xr, input := richest(t)
	f := configured(found(nats.Provisioned), WithLogger(logging.NewNopLogger()))
	base := request(t, aClaim, works())
	base.Observed.Composite.Resource, base.Input = xr, input
	want, err := f.RunFunction(t.Context(), proto.Clone(base).(*fnv1.RunFunctionRequest)) //nolint:forcetypeassert // A clone is of the same type.
	wellFormed(t, want, err)
	for i := range 16 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for range 10 {
				got, err := f.RunFunction(t.Context(), proto.Clone(base).(*fnv1.RunFunctionRequest)) //nolint:forcetypeassert // A clone is of the same type.
				wellFormed(t, got, err)
				if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
					t.Fatalf("-want, +got:\n%s", diff)
				}
			}
		})
	}
}

const casesFolder = "../test/cases"

// readCase returns one of the components that everything is tested with.
func readCase(t testing.TB, name string) *structpb.Struct {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(casesFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return fromYAML(t, string(data))
}

// asClaim returns the cluster-scoped composite that Crossplane makes of a claim.
func asClaim(t testing.TB, claim *structpb.Struct) *structpb.Struct {
	t.Helper()
	xr := proto.Clone(claim).(*structpb.Struct) //nolint:forcetypeassert // A clone is of the same type.
	metadata := xr.GetFields()["metadata"].GetStructValue()
	xr.Fields["kind"] = structpb.NewStringValue("XTMIComponent")
	xr.GetFields()["spec"].GetStructValue().Fields["claimRef"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		"apiVersion": structpb.NewStringValue("tmi.dev/v1alpha1"),
		"kind":       structpb.NewStringValue("TMIComponent"),
		"name":       metadata.GetFields()["name"],
		"namespace":  metadata.GetFields()["namespace"],
	}})
	xr.Fields["metadata"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		"name": structpb.NewStringValue("generated-x7k2p"),
	}})
	return xr
}

// asCluster returns a cluster-scoped composite without a claim.
func asCluster(t testing.TB, claim *structpb.Struct) *structpb.Struct {
	t.Helper()
	xr := proto.Clone(claim).(*structpb.Struct) //nolint:forcetypeassert // A clone is of the same type.
	xr.Fields["kind"] = structpb.NewStringValue("XTMIComponent")
	delete(xr.GetFields()["metadata"].GetStructValue().Fields, "namespace")
	return xr
}

// TestCases shows that every component in test/cases is accepted or refused, in
// each of the ways that it can be applied.
func TestCases(t *testing.T) {
	t.Parallel()

	// What each of the invalid ones must be told, once. The file's own comment
	// names the fields.
	wantErrors := map[string][]string{
		"bad-subjects.yaml": {
			`spec.jobSubjects[1]: Invalid value: "jobs.extract.pdf": overlaps "jobs.>"`,
			`spec.jobSubjects[2]: Invalid value: "$JS.API.>": subjects that begin with $ are reserved`,
			`spec.jobSubjects[3]: Invalid value: "jobs..x y"`,
			`spec.jobSubjects[4]: Invalid value: "*.pdf": the first token must be literal`,
		},
		"empty-allowlist.yaml": {
			`spec.allowlist: Required value`,
			`spec.scaling.minReplicas: Invalid value: 3: must not be above maxReplicas, which is 2`,
		},
		"env-clash.yaml": {
			`spec.config: Invalid value: "TMI_NATS_TLS_CA_FILE": is set by the platform`,
			`spec.config: Invalid value: "bad=name"`,
			`spec.config[bad=name]: Invalid value: true: must be a string`, // To YAML 1.1, y is true.
			`spec.config[TMI_JOB_ACK_WAIT]: Invalid value: "soon": must be a duration above zero`,
			`spec.secretRefs[0].name: Duplicate value: "API_KEY"`,
		},
		"locator-without-egress.yaml": {
			`spec.egress: Invalid value: "none": spec.inputMode source-locator needs egress`,
		},
		"metadata-cidr.yaml": {
			`spec.allowlist.cidrs[0]: Invalid value: "169.254.0.0/16": must not cover 169.254.169.254`,
			`spec.allowlist.cidrs[1]: Invalid value: "0.0.0.0/0": must not be a default route; to reach the internet, set openInternet`,
			`spec.allowlist.cidrs[2]: Invalid value: "10.0.0.0/33": must be a range`,
			`spec.allowlist.cidrs[3]: Invalid value: "fd00:ec2::/32": must not cover fd00:ec2::254`,
		},
		"scratch-over-certs.yaml": {
			`name: Invalid value: "a-component-whose-name-is-really-far-too-long-for-its-own-good": must be at most 54 characters`,
			`spec.resources.requests[cpu]: Invalid value: "2": must not be above the limit, which is 1`,
			`spec.scratchVolume.mountPath: Invalid value: "/etc": must not be over or under /etc/tmi-nats-tls`,
			`spec.scratchVolume.sizeLimit: Invalid value: "0": must be above zero`,
		},
	}

	files, err := filepath.Glob(casesFolder + "/*/*.yaml")
	if err != nil || len(files) < 9 {
		t.Fatalf("want the cases of %s, got %v, %v", casesFolder, files, err)
	}
	for _, file := range files {
		folder, name := filepath.Base(filepath.Dir(file)), filepath.Base(file)
		claim := readCase(t, filepath.Join(folder, name))
		for kind, xr := range map[string]*structpb.Struct{"claim": asClaim(t, claim), "cluster": asCluster(t, claim), "namespaced": claim} {
			t.Run(folder+"/"+name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				req := request(t, aClaim, withInput(`{targetNamespace: team-a}`))
				req.Observed.Composite.Resource = xr
				rsp, err := configured(found(nats.Provisioned)).RunFunction(t.Context(), req)
				wellFormed(t, rsp, err)
				if folder == "valid" {
					if got := slices.Sorted(maps.Keys(rsp.GetDesired().GetResources())); !slices.Equal(got, []string{"deployment", "network-policy", "scaled-object"}) {
						t.Errorf("want the three resources, got %v, %v", got, rsp.GetResults())
					}
					return
				}
				wants, known := wantErrors[name]
				if !known {
					t.Fatalf("name the errors of %s in this test", name)
				}
				if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL || rsp.GetResults()[0].GetReason() != "InvalidSpec" {
					t.Fatalf("want one Fatal, got %v", rsp.GetResults())
				}
				message := rsp.GetResults()[0].GetMessage()
				for _, want := range wants {
					if strings.Count(message, want) != 1 {
						t.Errorf("want %q once, got:\n%s", want, strings.ReplaceAll(message, "; ", "\n"))
					}
				}
				if got := strings.Count(message, " value: "); got != len(wants) {
					t.Errorf("want %d errors and no more, got %d:\n%s", len(wants), got, message)
				}
			})
		}
	}
}

// nasty values that may stand where another is expected.
func nasty() map[string]*structpb.Value {
	huge := &structpb.ListValue{}
	for range 1000 {
		huge.Values = append(huge.Values, structpb.NewStringValue("a.b"))
	}
	many := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for i := range 1000 {
		many.Fields[fmt.Sprintf("key-%d", i)] = structpb.NewNumberValue(float64(i))
	}
	deep := structpb.NewStringValue("bottom")
	for range 500 {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	return map[string]*structpb.Value{
		"nil":         nil,
		"no kind":     {},
		"null":        structpb.NewNullValue(),
		"empty":       structpb.NewStringValue(""),
		"space":       structpb.NewStringValue(" \n\t\x00"),
		"text":        structpb.NewStringValue("text"),
		"long":        structpb.NewStringValue(strings.Repeat("ü", 20000)),
		"wildcard":    structpb.NewStringValue(">"),
		"default":     structpb.NewStringValue("::/0"),
		"exponent":    structpb.NewStringValue("1e-999999999"),
		"true":        structpb.NewBoolValue(true),
		"false":       structpb.NewBoolValue(false),
		"zero":        structpb.NewNumberValue(0),
		"negative":    structpb.NewNumberValue(-1),
		"fraction":    structpb.NewNumberValue(0.5),
		"big":         structpb.NewNumberValue(1e300),
		"tiny":        structpb.NewNumberValue(5e-324),
		"int32":       structpb.NewNumberValue(math.MaxInt32),
		"NaN":         structpb.NewNumberValue(math.NaN()),
		"Inf":         structpb.NewNumberValue(math.Inf(1)),
		"-Inf":        structpb.NewNumberValue(math.Inf(-1)),
		"object":      structpb.NewStructValue(&structpb.Struct{}),
		"objectNil":   structpb.NewStructValue(nil),
		"objectNull":  structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"name": structpb.NewNullValue(), "": nil}}),
		"list":        structpb.NewListValue(&structpb.ListValue{}),
		"listNil":     structpb.NewListValue(nil),
		"listNull":    structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewNullValue(), nil}}),
		"listObjects": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewStructValue(&structpb.Struct{}), structpb.NewStructValue(nil)}}),
		"listHuge":    structpb.NewListValue(huge),
		"objectHuge":  structpb.NewStructValue(many),
		"deep":        deep,
	}
}

// A place is one value within a struct.
type place struct {
	path string
	get  func() *structpb.Value
	set  func(*structpb.Value)
}

// places returns every value below s.
func places(path string, s *structpb.Struct) []place {
	var ps []place
	for _, name := range slices.Sorted(maps.Keys(s.GetFields())) {
		p := path + "." + name
		ps = append(ps, place{path: p, get: func() *structpb.Value { return s.GetFields()[name] }, set: func(v *structpb.Value) { s.Fields[name] = v }})
		ps = append(ps, below(p, s.GetFields()[name])...)
	}
	return ps
}

func below(path string, v *structpb.Value) []place {
	if s := v.GetStructValue(); s != nil {
		return places(path, s)
	}
	var ps []place
	l := v.GetListValue()
	for i, e := range l.GetValues() {
		p := fmt.Sprintf("%s[%d]", path, i)
		ps = append(ps, place{path: p, get: func() *structpb.Value { return l.GetValues()[i] }, set: func(v *structpb.Value) { l.Values[i] = v }})
		ps = append(ps, below(p, e)...)
	}
	return ps
}

// kindOf names the kind of a value, as far as one can be taken for another.
func kindOf(v *structpb.Value) string {
	switch v.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return "null"
	case *structpb.Value_StructValue:
		if v.GetStructValue() == nil {
			return "null"
		}
		return "object"
	case *structpb.Value_ListValue:
		return "list"
	default:
		return fmt.Sprintf("%T", v.GetKind())
	}
}

// TestRunFunctionBadValues puts every nasty value in the place of every value of
// a component with every field, of an Input with every field, and of what is
// observed: there must be a well-formed answer each time, and a wrong kind of
// value in spec or Input must be refused with its path.
func TestRunFunctionBadValues(t *testing.T) {
	t.Parallel()

	xr, input := richest(t)
	req := request(t, aClaim, works(), withStatus(`{}`))
	xr.Fields["status"] = structpb.NewStructValue(fromYAML(t, `{conditions: [{type: JetStreamReady, status: "True", reason: Adopted, observedGeneration: 1}]}`))
	req.Observed.Composite.Resource, req.Input = xr, input
	f := configured(found(nats.Provisioned))
	if rsp, err := f.RunFunction(t.Context(), proto.Clone(req).(*fnv1.RunFunctionRequest)); err != nil || len(rsp.GetResults()) > 0 { //nolint:forcetypeassert // A clone is of the same type.
		t.Fatalf("want a valid request to begin with, got %v", rsp.GetResults())
	}

	values := nasty()
	roots := map[string]func(*fnv1.RunFunctionRequest) *structpb.Struct{
		"composite": func(r *fnv1.RunFunctionRequest) *structpb.Struct { return r.GetObserved().GetComposite().GetResource() },
		"input":     func(r *fnv1.RunFunctionRequest) *structpb.Struct { return r.GetInput() },
	}
	for name := range working {
		roots[name] = func(r *fnv1.RunFunctionRequest) *structpb.Struct {
			return r.GetObserved().GetResources()[name].GetResource()
		}
	}
	for root, get := range roots {
		t.Run(root, func(t *testing.T) {
			t.Parallel()
			count := len(places("", get(req)))
			for i := range count {
				for name, bad := range values {
					r := proto.Clone(req).(*fnv1.RunFunctionRequest) //nolint:forcetypeassert // A clone is of the same type.
					p := places("", get(r))[i]
					p.path = strings.TrimPrefix(p.path, ".")
					was := kindOf(p.get())
					p.set(bad)

					start := time.Now()
					rsp, err := f.RunFunction(t.Context(), r)
					wellFormed(t, rsp, err)
					if took := time.Since(start); took > 30*time.Second {
						t.Errorf("%s = %s: took %s", p.path, name, took)
					}
					reason, message := "", ""
					if len(rsp.GetResults()) > 0 {
						reason, message = rsp.GetResults()[0].GetReason(), rsp.GetResults()[0].GetMessage()
					}
					if reason == "InternalError" {
						t.Fatalf("%s = %s: %s", p.path, name, message)
					}
					// A wrong kind must be refused, with its path.
					wrongKind := kindOf(bad) != "null" && kindOf(bad) != was
					isRead := root == "input" && !strings.HasPrefix(p.path, "apiVersion") && !strings.HasPrefix(p.path, "kind") ||
						root == "composite" && strings.HasPrefix(p.path, "spec")
					if strings.HasSuffix(p.path, "claimRef.kind") || strings.HasSuffix(p.path, "claimRef.apiVersion") || !wrongKind || !isRead {
						continue
					}
					// Quantities may be numbers.
					if strings.Contains(p.path, "sizeLimit") || strings.Contains(p.path, "resources.requests.") || strings.Contains(p.path, "resources.limits.") {
						if kindOf(bad) == kindOf(structpb.NewNumberValue(0)) {
							continue
						}
					}
					// A map's keys are written [key] in a path.
					field := p.path
					for _, m := range []string{"namespaceSelector", "podSelector", "config", "requests", "limits"} {
						if before, key, is := strings.Cut(p.path, "."+m+"."); is {
							field = before + "." + m + "[" + key + "]"
						}
					}
					if reason == "" || !strings.Contains(message, field+": Invalid value") {
						t.Errorf("%s = %s: want it refused with its path, got %q: %.300s", p.path, name, reason, message)
					}
				}
			}
		})
	}
}

// TestRunFunctionMissingParts leaves out every part of a request in turn.
func TestRunFunctionMissingParts(t *testing.T) {
	t.Parallel()

	xr, input := richest(t)
	whole := func() *fnv1.RunFunctionRequest {
		req := request(t, aClaim, works(), withSecret(map[string]string{"token": "x"}))
		req.Observed.Composite.Resource, req.Input = proto.Clone(xr).(*structpb.Struct), proto.Clone(input).(*structpb.Struct) //nolint:forcetypeassert // Clones are of the same type.
		return req
	}
	const fine = ""
	cases := map[string]struct {
		reason string
		args   func(*fnv1.RunFunctionRequest)
		want   string // The Fatal's reason, or none.
	}{
		"Meta":             {"Without a tag all should be as ever.", func(r *fnv1.RunFunctionRequest) { r.Meta = nil }, fine},
		"Input":            {"Every field of the Input is optional, and so is the Input.", func(r *fnv1.RunFunctionRequest) { r.Input = nil }, fine},
		"InputEmpty":       {"An empty Input is an Input.", func(r *fnv1.RunFunctionRequest) { r.Input = &structpb.Struct{} }, fine},
		"Context":          {"There may be no context.", func(r *fnv1.RunFunctionRequest) { r.Context = nil }, fine},
		"Desired":          {"The first step has nothing desired.", func(r *fnv1.RunFunctionRequest) { r.Desired = nil }, fine},
		"DesiredComposite": {"The desired composite may be empty.", func(r *fnv1.RunFunctionRequest) { r.Desired.Composite = &fnv1.Resource{} }, fine},
		"DesiredStatus": {"Its status may be of any kind.", func(r *fnv1.RunFunctionRequest) {
			r.Desired.Composite = &fnv1.Resource{Resource: fromYAML(t, `{status: 5}`)}
		}, fine},
		"DesiredNil": {"A resource of an earlier step may be nil.", func(r *fnv1.RunFunctionRequest) { r.Desired.Resources = map[string]*fnv1.Resource{"other": nil} }, fine},
		"DesiredOursNil": {"One with our name is taken, also if it is nil.", func(r *fnv1.RunFunctionRequest) {
			r.Desired.Resources = map[string]*fnv1.Resource{"network-policy": nil}
		}, "InvalidInput"},
		"Observed":          {"Without a composite there is no component.", func(r *fnv1.RunFunctionRequest) { r.Observed = nil }, "InvalidSpec"},
		"Composite":         {"Without a composite there is no component.", func(r *fnv1.RunFunctionRequest) { r.Observed.Composite = nil }, "InvalidSpec"},
		"CompositeResource": {"Without a composite there is no component.", func(r *fnv1.RunFunctionRequest) { r.Observed.Composite.Resource = nil }, "InvalidSpec"},
		"CompositeEmpty":    {"An empty composite is no component.", func(r *fnv1.RunFunctionRequest) { r.Observed.Composite.Resource = &structpb.Struct{} }, "InvalidSpec"},
		"Spec":              {"Without a spec there is no component.", func(r *fnv1.RunFunctionRequest) { delete(r.Observed.Composite.Resource.Fields, "spec") }, "InvalidSpec"},
		"Metadata":          {"A claim's composite needs no name of its own.", func(r *fnv1.RunFunctionRequest) { delete(r.Observed.Composite.Resource.Fields, "metadata") }, fine},
		"ObservedResources": {"Nothing may be there yet.", func(r *fnv1.RunFunctionRequest) { r.Observed.Resources = nil }, fine},
		"ObservedNil":       {"What is observed may be nil.", func(r *fnv1.RunFunctionRequest) { r.Observed.Resources["deployment"] = nil }, fine},
		"ObservedEmpty":     {"What is observed may be empty.", func(r *fnv1.RunFunctionRequest) { r.Observed.Resources["deployment"] = &fnv1.Resource{} }, fine},
		"ObservedOther":     {"What is observed of others is not ours.", func(r *fnv1.RunFunctionRequest) { r.Observed.Resources["other"] = nil }, fine},
		"Credentials":       {"There may be no credentials.", func(r *fnv1.RunFunctionRequest) { r.Credentials = nil }, fine},
		"CredentialsNil":    {"They may be nil.", func(r *fnv1.RunFunctionRequest) { r.Credentials["nats"] = nil }, fine},
		"CredentialsEmpty":  {"They may be empty.", func(r *fnv1.RunFunctionRequest) { r.Credentials["nats"] = &fnv1.Credentials{} }, fine},
		"CredentialsNoData": {"They may hold nothing.", func(r *fnv1.RunFunctionRequest) {
			r.Credentials["nats"] = &fnv1.Credentials{Source: &fnv1.Credentials_CredentialData{}}
		}, fine},
		"Everything": {"An empty request should be refused as one without a component.", func(r *fnv1.RunFunctionRequest) { proto.Reset(r) }, "InvalidSpec"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := whole()
			tc.args(req)
			rsp, err := configured(found(nats.Provisioned)).RunFunction(t.Context(), req)
			wellFormed(t, rsp, err)
			got := ""
			for _, r := range rsp.GetResults() {
				got = r.GetReason()
				if strings.Contains(r.GetMessage(), "<nil>") {
					t.Errorf("\n%s\nwant a message for people, got %q", tc.reason, r.GetMessage())
				}
			}
			if got != tc.want {
				t.Errorf("\n%s\nwant Fatal %q, got %v", tc.reason, tc.want, rsp.GetResults())
			}
		})
	}

	t.Run("NilRequest", func(t *testing.T) {
		t.Parallel()
		rsp, err := New().RunFunction(t.Context(), nil)
		wellFormed(t, rsp, err)
	})
}

func TestRunFunctionLongMessages(t *testing.T) {
	t.Parallel()

	xr := fromYAML(t, aNamespaced)
	subjects := make([]any, 200)
	for i := range subjects {
		subjects[i] = strings.Repeat("$", 300) + fmt.Sprint(i)
	}
	l, err := structpb.NewList(subjects)
	if err != nil {
		t.Fatal(err)
	}
	xr.GetFields()["spec"].GetStructValue().Fields["jobSubjects"] = structpb.NewListValue(l)
	req := request(t, aClaim)
	req.Observed.Composite.Resource = xr
	rsp, err := New().RunFunction(t.Context(), req)
	wellFormed(t, rsp, err)
	if len(rsp.GetResults()) != 1 {
		t.Fatalf("want one result, got %v", rsp.GetResults())
	}
	message := rsp.GetResults()[0].GetMessage()
	if !strings.HasSuffix(message, "; and more") {
		t.Errorf("want a message that says that there is more, got one that ends %q", message[max(0, len(message)-50):])
	}
}

func TestRunFunctionLogs(t *testing.T) {
	t.Parallel()

	// Secrets are in the request's credentials and in the Secret's data only;
	// whatever is logged or returned must not hold them.
	const secret = "s3cr3t-of-nats"
	logged := &recorder{}
	cases := map[string]struct {
		reason string
		args   *fnv1.RunFunctionRequest
		f      *Function
	}{
		"URL":         {"A URL with a password should be refused and not repeated.", request(t, aClaim, withInput(`{nats: {url: "nats://user:`+secret+`@nats:4222"}}`)), configured(found(nats.Provisioned), WithLogger(logged))},
		"Credentials": {"A credential that cannot be used should not be repeated.", request(t, aClaim, withSecret(map[string]string{"nkey": secret, "tls.key": secret})), configured(found(nats.Provisioned), WithLogger(logged))},
		"Panic": {"A panic should be logged without the request.", request(t, aClaim, withSecret(map[string]string{"token": secret})),
			configured(provisioner(func(nats.Request) (nats.Outcome, error) { panic("boom") }), WithLogger(logged))},
		"Fine": {"Nor should a call that works.", request(t, aClaim, withSecret(map[string]string{"token": secret})), configured(found(nats.Provisioned), WithLogger(logged))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp, err := tc.f.RunFunction(t.Context(), tc.args)
			wellFormed(t, rsp, err)
			text, err := protojson.Marshal(rsp)
			if err != nil {
				t.Fatal(err)
			}
			if name != "Fine" && len(rsp.GetResults()) == 0 {
				t.Errorf("\n%s\nwant it refused", tc.reason)
			}
			if strings.Contains(string(text), secret) || strings.Contains(logged.text(), secret) {
				t.Errorf("\n%s\nthe secret is in the response or in the log:\n%s\n%s", tc.reason, text, logged.text())
			}
		})
	}
	if !strings.Contains(logged.text(), "boom") || !strings.Contains(logged.text(), "stack") {
		t.Errorf("want the panic logged with its stack, got:\n%s", logged.text())
	}
}

// A recorder is a logger that keeps what it is told, for one goroutine.
type recorder struct{ lines []string }

func (r *recorder) Info(msg string, kv ...any) {
	r.lines = append(r.lines, fmt.Sprint("INFO ", msg, kv))
}
func (r *recorder) Debug(msg string, kv ...any) {
	r.lines = append(r.lines, fmt.Sprint("DEBUG ", msg, kv))
}
func (r *recorder) WithValues(...any) logging.Logger { return r }
func (r *recorder) text() string                     { return strings.Join(r.lines, "\n") }
