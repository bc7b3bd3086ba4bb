package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func TestSetDefaults(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   TMIComponentSpec
		want   TMIComponentSpec
	}{
		"Nothing": {
			reason: "Every field with a default should get it, the same that the XRDs have.",
			args:   TMIComponentSpec{},
			want: TMIComponentSpec{
				InputMode: "content-ref",
				Egress:    "none",
				Scaling:   Scaling{MinReplicas: ptr.To[int32](0), MaxReplicas: ptr.To[int32](10), QueueDepthTarget: ptr.To[int32](5)},
			},
		},
		"Everything": {
			reason: "What is given should stay, zero too, right or wrong.",
			args: TMIComponentSpec{
				InputMode: "source-locator",
				Egress:    "wrong",
				Scaling:   Scaling{MinReplicas: ptr.To[int32](3), MaxReplicas: ptr.To[int32](0), QueueDepthTarget: ptr.To[int32](-1)},
			},
			want: TMIComponentSpec{
				InputMode: "source-locator",
				Egress:    "wrong",
				Scaling:   Scaling{MinReplicas: ptr.To[int32](3), MaxReplicas: ptr.To[int32](0), QueueDepthTarget: ptr.To[int32](-1)},
			},
		},
		"Part": {
			reason: "Each field of scaling should have its own default.",
			args:   TMIComponentSpec{Scaling: Scaling{MaxReplicas: ptr.To[int32](2)}},
			want: TMIComponentSpec{
				InputMode: "content-ref",
				Egress:    "none",
				Scaling:   Scaling{MinReplicas: ptr.To[int32](0), MaxReplicas: ptr.To[int32](2), QueueDepthTarget: ptr.To[int32](5)},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.args
			got.SetDefaults()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSetDefaults(): -want, +got:\n%s", tc.reason, diff)
			}
			again := *got.DeepCopy()
			again.SetDefaults()
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("\n%s\nSetDefaults() twice: -once, +twice:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSetDefaultsDoesNotShare shows that what one component's default is set to
// does not reach another.
func TestSetDefaultsDoesNotShare(t *testing.T) {
	t.Parallel()

	var a, b TMIComponentSpec
	a.SetDefaults()
	*a.Scaling.MaxReplicas, *a.Scaling.MinReplicas = 99, 99
	b.SetDefaults()
	if *b.Scaling.MaxReplicas != 10 || *b.Scaling.MinReplicas != 0 {
		t.Errorf("want 0 to 10, got %d to %d", *b.Scaling.MinReplicas, *b.Scaling.MaxReplicas)
	}
}
