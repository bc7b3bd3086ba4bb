package fn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

// byField compares errors by type, field and detail.
var byField = cmp.Options{cmpopts.IgnoreFields(field.Error{}, "BadValue", "Origin"), cmpopts.IgnoreUnexported(field.Error{}), cmpopts.EquateEmpty()}

func TestReadComponent(t *testing.T) {
	t.Parallel()

	type args struct {
		xr              string
		targetNamespace string
	}
	type want struct {
		name, namespace           string
		nameField, namespaceField string
		namespaced                bool
		errs                      field.ErrorList
	}
	required := func(path, detail string) *field.Error {
		return &field.Error{Type: field.ErrorTypeRequired, Field: path, Detail: detail}
	}
	invalid := func(path, detail string) *field.Error {
		return &field.Error{Type: field.ErrorTypeInvalid, Field: path, Detail: detail}
	}
	const (
		noName      = "the component takes its name from here"
		noNamespace = "this composite is neither namespaced nor made by a claim: set targetNamespace in the function's Input, or apply a claim in the team's namespace"
	)
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Claim": {
			reason: "A composite of a claim should be the claim's component.",
			args:   args{xr: `{kind: XTMIComponent, metadata: {name: a-x7k2p}, spec: {claimRef: {name: a, namespace: team}}}`},
			want:   want{name: "a", namespace: "team", nameField: "spec.claimRef.name", namespaceField: "spec.claimRef.namespace"},
		},
		"ClaimIgnoresTarget": {
			reason: "The Input's target namespace should not move a claim's resources out of its team's namespace.",
			args:   args{xr: `{kind: XTMIComponent, metadata: {name: a-x7k2p}, spec: {claimRef: {name: a, namespace: team}}}`, targetNamespace: "platform"},
			want:   want{name: "a", namespace: "team", nameField: "spec.claimRef.name", namespaceField: "spec.claimRef.namespace"},
		},
		"ClaimWithoutNamespace": {
			reason: "Nor should it stand in for a claim's namespace.",
			args:   args{xr: `{kind: XTMIComponent, metadata: {name: a}, spec: {claimRef: {name: a}}}`, targetNamespace: "platform"},
			want: want{name: "a", nameField: "spec.claimRef.name", namespaceField: "spec.claimRef.namespace",
				errs: field.ErrorList{required("spec.claimRef.namespace", noNamespace)}},
		},
		"ClaimWithoutName": {
			reason: "Nor should the composite's generated name stand in for the claim's.",
			args:   args{xr: `{kind: XTMIComponent, metadata: {name: a-x7k2p}, spec: {claimRef: {namespace: team}}}`},
			want: want{namespace: "team", nameField: "spec.claimRef.name", namespaceField: "spec.claimRef.namespace",
				errs: field.ErrorList{required("spec.claimRef.name", noName)}},
		},
		"ClusterScoped": {
			reason: "A composite without a claim should be put into the Input's target namespace.",
			args:   args{xr: `{kind: XTMIComponent, metadata: {name: a}}`, targetNamespace: "platform"},
			want:   want{name: "a", namespace: "platform", nameField: "metadata.name", namespaceField: "targetNamespace"},
		},
		"NullClaim": {
			reason: "A null claimRef is none.",
			args:   args{xr: `{kind: XTMIComponent, metadata: {name: a, namespace: null}, spec: {claimRef: null}}`, targetNamespace: "platform"},
			want:   want{name: "a", namespace: "platform", nameField: "metadata.name", namespaceField: "targetNamespace"},
		},
		"ClusterScopedWithoutTarget": {
			reason: "Without a target namespace either, the error should say what to do.",
			args:   args{xr: `{kind: XTMIComponent, metadata: {name: a}}`},
			want: want{name: "a", nameField: "metadata.name", namespaceField: "targetNamespace",
				errs: field.ErrorList{required("targetNamespace", noNamespace)}},
		},
		"Namespaced": {
			reason: "A namespaced composite should be its own component, whatever the Input's target namespace.",
			args:   args{xr: `{kind: TMIComponent, metadata: {name: a, namespace: team}}`, targetNamespace: "platform"},
			want:   want{name: "a", namespace: "team", nameField: "metadata.name", namespaceField: "metadata.namespace", namespaced: true},
		},
		"NamespacedWithClaimRef": {
			reason: "A namespaced composite has no claim: a claimRef that a team writes must not lead into another team's namespace.",
			args:   args{xr: `{kind: TMIComponent, metadata: {name: a, namespace: team}, spec: {claimRef: {name: b, namespace: other}}}`},
			want:   want{name: "a", namespace: "team", nameField: "metadata.name", namespaceField: "metadata.namespace", namespaced: true},
		},
		"Empty": {
			reason: "An empty composite is nobody.",
			args:   args{xr: `{}`},
			want: want{nameField: "metadata.name", namespaceField: "targetNamespace",
				errs: field.ErrorList{required("metadata.name", noName), required("targetNamespace", noNamespace)}},
		},
		"WrongTypes": {
			reason: "All values of a wrong type should be reported at once.",
			args: args{xr: `{kind: TMIComponent, metadata: {name: a, namespace: team}, spec: {image: 1, jobSubjects: jobs, config: [x],
				allowlist: {openInternet: "yes", ports: ["443"], clusterPeers: [{ports: {}}]}, scaling: {minReplicas: 0.5, maxReplicas: 3000000000},
				secretRefs: [x, {name: []}], scratchVolume: {sizeLimit: much}, resources: {limits: {cpu: [], memory: 1Gib}}}}`},
			want: want{name: "a", namespace: "team", nameField: "metadata.name", namespaceField: "metadata.namespace", namespaced: true,
				errs: field.ErrorList{
					invalid("spec.image", "must be a string"),
					invalid("spec.jobSubjects", "must be a list"),
					invalid("spec.allowlist.clusterPeers[0].ports", "must be a list"),
					invalid("spec.allowlist.openInternet", "must be true or false"),
					invalid("spec.allowlist.ports[0]", "must be a whole number"),
					invalid("spec.config", "must be an object"),
					invalid("spec.secretRefs[0]", "must be an object"),
					invalid("spec.secretRefs[1].name", "must be a string"),
					invalid("spec.resources.limits[cpu]", "must be a quantity such as 500m or 128Mi"),
					invalid("spec.resources.limits[memory]", "must be a quantity such as 500m or 128Mi"),
					invalid("spec.scratchVolume.sizeLimit", "must be a quantity such as 500m or 128Mi"),
					invalid("spec.scaling.minReplicas", "must be a whole number of 32 bits"),
					invalid("spec.scaling.maxReplicas", "must be a whole number of 32 bits"),
				}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, errs := ReadComponent(fromYAML(t, tc.args.xr), tc.args.targetNamespace)
			got := want{name: c.Name, namespace: c.Namespace, nameField: c.NameField.String(), namespaceField: c.NamespaceField.String(), namespaced: c.Namespaced, errs: errs}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), byField); diff != "" {
				t.Errorf("\n%s\nReadComponent(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadComponentTooLarge(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		image  int
		want   string
	}{
		"Fits":     {"What fits should be read.", maxSpecSize - 100, "spec.jobSubjects: Required value: name at least one NATS subject whose messages are this component's jobs"},
		"TooLarge": {"What does not fit should not be looked at.", maxSpecSize, `spec: Invalid value: "327703 bytes": must have at most 327680 bytes in all; put large data into a Secret or into the image`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			xr := fromYAML(t, "{metadata: {name: a, namespace: team}, spec: {image: "+strings.Repeat("x", tc.image)+"}}")
			c, errs := ReadComponent(xr, "")
			if diff := cmp.Diff(tc.want, sentence(withRules(errs, ValidateComponent(c, nil)))); diff != "" {
				t.Errorf("\n%s\nReadComponent(...), ValidateComponent(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadComponentDefaults(t *testing.T) {
	t.Parallel()

	// crossplane composition render applies no schema, so that the function
	// must set what an API server would have.
	c, errs := ReadComponent(fromYAML(t, aClaim), "")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := v1alpha1.TMIComponentSpec{
		Image:       "extractor:1",
		JobSubjects: []string{"jobs.extract.pdf"},
		InputMode:   "content-ref",
		Egress:      "none",
		Scaling:     v1alpha1.Scaling{MinReplicas: ptr.To[int32](0), MaxReplicas: ptr.To[int32](10), QueueDepthTarget: ptr.To[int32](5)},
	}
	if diff := cmp.Diff(want, c.Spec); diff != "" {
		t.Errorf("ReadComponent(...): -want, +got:\n%s", diff)
	}
}

func TestReadComponentNothing(t *testing.T) {
	t.Parallel()

	if _, errs := ReadComponent(nil, ""); len(errs) != 2 {
		t.Errorf("want a name and a namespace to be missed, got %v", errs)
	}
}
