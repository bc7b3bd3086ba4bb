package fn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/input/v1beta1"
)

// TestObjects shows how each of the three is wrapped, in both APIs.
func TestObjects(t *testing.T) {
	t.Parallel()

	const celQuery = `has(object.status) && has(object.status.observedGeneration) && object.status.observedGeneration >= object.metadata.generation` +
		` && has(object.status.conditions) && object.status.conditions.exists(c, c.type == "Available" && c.status == "True")`
	const (
		networkPolicy = `
spec:
  readiness: {policy: SuccessfulCreate}
  watch: true
`
		deployment = `
spec:
  forProvider: {deletionPropagationPolicy: Foreground}
  readiness: {policy: DeriveFromCelQuery}
  references:
  - dependsOn: {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, name: tmi-extractor, namespace: team-a}
  watch: true
`
		scaledObject = `
spec:
  readiness: {policy: DeriveFromObject}
  watch: true
`
	)
	ref := defaultInput(func(in *v1beta1.Input) {
		in.ProviderConfigRef = v1beta1.ProviderConfigRef{Name: "workers", Kind: "ProviderConfig"}
	})
	c := component()

	wrap := map[string]struct {
		manifest *structpb.Struct
		object   func(*Component, *v1beta1.Input) *structpb.Struct
	}{
		networkPolicy: {protostruct.Encode(RenderNetworkPolicy(c, ref)), func(c *Component, in *v1beta1.Input) *structpb.Struct {
			return NetworkPolicyObject(c, in, RenderNetworkPolicy(c, in))
		}},
		deployment: {protostruct.Encode(RenderDeployment(c)), func(c *Component, in *v1beta1.Input) *structpb.Struct {
			return DeploymentObject(c, in, RenderDeployment(c))
		}},
		scaledObject: {protostruct.EncodeMap(RenderScaledObject(c, ref).Object), func(c *Component, in *v1beta1.Input) *structpb.Struct {
			return ScaledObjectObject(c, in, RenderScaledObject(c, in))
		}},
	}
	type args struct {
		which      string
		namespaced bool
		in         *v1beta1.Input
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"NetworkPolicy": {
			reason: "A NetworkPolicy is ready once it is there, and watched, so that a hand that widens it is undone.",
			args:   args{which: networkPolicy, in: defaultInput()},
			want:   `{apiVersion: kubernetes.crossplane.io/v1alpha2, providerConfigRef: {name: default}}`,
		},
		"Deployment": {
			reason: "A Deployment is ready when it is available, depends on its NetworkPolicy, and takes its pods with it.",
			args:   args{which: deployment, in: defaultInput()},
			want:   `{apiVersion: kubernetes.crossplane.io/v1alpha2, providerConfigRef: {name: default}}`,
		},
		"ScaledObject": {
			reason: "A ScaledObject is ready when KEDA says so.",
			args:   args{which: scaledObject, in: defaultInput()},
			want:   `{apiVersion: kubernetes.crossplane.io/v1alpha2, providerConfigRef: {name: default}}`,
		},
		"NamespacedNetworkPolicy": {
			reason: "A namespaced composite should use the namespaced API and a ClusterProviderConfig.",
			args:   args{which: networkPolicy, namespaced: true, in: defaultInput()},
			want:   `{apiVersion: kubernetes.m.crossplane.io/v1alpha1, providerConfigRef: {kind: ClusterProviderConfig, name: default}}`,
		},
		"NamespacedDeployment": {
			reason: "So should its Deployment.",
			args:   args{which: deployment, namespaced: true, in: defaultInput()},
			want:   `{apiVersion: kubernetes.m.crossplane.io/v1alpha1, providerConfigRef: {kind: ClusterProviderConfig, name: default}}`,
		},
		"NamespacedScaledObject": {
			reason: "So should its ScaledObject, with the Input's ProviderConfig if it names one.",
			args:   args{which: scaledObject, namespaced: true, in: ref},
			want:   `{apiVersion: kubernetes.m.crossplane.io/v1alpha1, providerConfigRef: {kind: ProviderConfig, name: workers}}`,
		},
		"ClusterProviderConfig": {
			reason: "The cluster-scoped API knows no kinds of ProviderConfig.",
			args:   args{which: deployment, in: ref},
			want:   `{apiVersion: kubernetes.crossplane.io/v1alpha2, providerConfigRef: {name: workers}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			differs := fromYAML(t, tc.want)
			want := fromYAML(t, tc.args.which)
			want.Fields["apiVersion"] = differs.GetFields()["apiVersion"]
			want.Fields["kind"] = structpb.NewStringValue("Object")
			spec := want.GetFields()["spec"].GetStructValue()
			spec.Fields["providerConfigRef"] = differs.GetFields()["providerConfigRef"]
			if spec.GetFields()["forProvider"] == nil {
				spec.Fields["forProvider"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{}})
			}
			spec.GetFields()["forProvider"].GetStructValue().Fields["manifest"] = structpb.NewStructValue(wrap[tc.args.which].manifest)
			if tc.args.which == deployment {
				spec.GetFields()["readiness"].GetStructValue().Fields["celQuery"] = structpb.NewStringValue(celQuery)
			}

			got := wrap[tc.args.which].object(component(func(c *Component) { c.Namespaced = tc.args.namespaced }), tc.args.in)
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			onlyWhatWeMean(t, name, structpb.NewStructValue(got))
		})
	}
}

// TestManifestsHaveTheirNamespace shows that what provider-kubernetes never
// defaults is always said.
func TestManifestsHaveTheirNamespace(t *testing.T) {
	t.Parallel()

	for name, s := range render(component(), defaultInput()) {
		if got := value(s, "spec", "forProvider", "manifest", "metadata", "namespace").GetStringValue(); got != "team-a" {
			t.Errorf("%s: want the component's namespace, got %q", name, got)
		}
		if strings.Contains(s.String(), "creationTimestamp") {
			t.Errorf("%s: has a creationTimestamp", name)
		}
	}
}
