package fn

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
	"tmi.dev/function-tmicomponent/input/v1beta1"
)

// TestRenderEmitsOnlyWhatWeMean walks everything that is rendered of components
// whose fields are given, absent, and zero.
func TestRenderEmitsOnlyWhatWeMean(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   *Component
	}{
		"Least":      {"A component that gives only what it must should be no more than that.", component()},
		"Namespaced": {"So should a namespaced one.", component(func(c *Component) { c.Namespaced = true })},
		"Empty": {"Lists, maps and objects that are given and empty should leave nothing behind.", component(func(c *Component) {
			c.Spec.Egress = "allowlist"
			c.Spec.Allowlist = &v1alpha1.Allowlist{OpenInternet: true, CIDRs: []string{}, Ports: []int32{}, ClusterPeers: []v1alpha1.ClusterPeer{}}
			c.Spec.Config, c.Spec.SecretRefs = map[string]string{}, []v1alpha1.SecretRef{}
			c.Spec.Resources.Limits, c.Spec.Resources.Requests = map[corev1.ResourceName]resource.Quantity{}, nil
		})},
		"Zeros": {"Zeros that are meant should be said, and those that are not should not.", component(func(c *Component) {
			c.Spec.Config = map[string]string{"EMPTY": ""}
			c.Spec.Scaling.MinReplicas = ptr.To[int32](0)
			c.Spec.Resources.Requests = map[corev1.ResourceName]resource.Quantity{"cpu": resource.MustParse("0")}
			c.Spec.Egress = "allowlist"
			c.Spec.Allowlist = &v1alpha1.Allowlist{ClusterPeers: []v1alpha1.ClusterPeer{{PodSelector: map[string]string{"a": ""}, NamespaceSelector: map[string]string{}}}}
		})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(tc.args, defaultInput())
			if diff := cmp.Diff([]string{"deployment", "network-policy", "scaled-object"}, slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("\n%s\nrender(...): -want names, +got:\n%s", tc.reason, diff)
			}
			for name, s := range got {
				onlyWhatWeMean(t, name, structpb.NewStructValue(s))
				if value(s, "metadata").GetKind() != nil {
					t.Errorf("\n%s\n%s: an Object must have no metadata: Crossplane names it", tc.reason, name)
				}
			}
		})
	}

	// Zero is said where it is meant.
	s := render(component(), &v1beta1.Input{NATS: defaultInput().NATS, ProviderConfigRef: defaultInput().ProviderConfigRef})["scaled-object"]
	if v := value(s, "spec", "forProvider", "manifest", "spec", "minReplicaCount"); v.GetKind() == nil || v.GetNumberValue() != 0 {
		t.Errorf("want minReplicaCount 0 said, got %v", v)
	}
}
