package fn

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1beta1"
)

func TestRenderScaledObject(t *testing.T) {
	t.Parallel()

	scaledObject := func(minReplicas, maxReplicas int64, trigger map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "keda.sh/v1alpha1",
			"kind":       "ScaledObject",
			"metadata": map[string]any{"name": "tmi-extractor", "namespace": "team-a", "labels": map[string]any{
				"tmi.dev/component":            "tmi-extractor",
				"app.kubernetes.io/name":       "tmi-extractor",
				"app.kubernetes.io/instance":   "tmi-extractor",
				"app.kubernetes.io/component":  "worker",
				"app.kubernetes.io/part-of":    "tmi-component-platform",
				"app.kubernetes.io/managed-by": "function-tmicomponent",
			}},
			"spec": map[string]any{
				"scaleTargetRef":  map[string]any{"name": "tmi-extractor"},
				"minReplicaCount": minReplicas,
				"maxReplicaCount": maxReplicas,
				"triggers":        []any{map[string]any{"type": "nats-jetstream", "metadata": trigger}},
			},
		}
	}
	type args struct {
		c  *Component
		in *v1beta1.Input
	}
	cases := map[string]struct {
		reason string
		args   args
		want   map[string]any
	}{
		"Defaults": {
			reason: "The least component should scale from zero by its consumer's depth. Everything in a trigger's metadata is a string.",
			args:   args{component(), defaultInput()},
			want: scaledObject(0, 10, map[string]any{
				"natsServerMonitoringEndpoint": "nats.tmi-platform.svc:8222",
				"account":                      "$G",
				"stream":                       "TMI_TMI_EXTRACTOR",
				"consumer":                     "TMI_EXTRACTOR_CONSUMER",
				"lagThreshold":                 "5",
			}),
		},
		"Everything": {
			reason: "The Input's account and endpoint should be used.",
			args: args{
				component(func(c *Component) {
					c.Spec.Scaling.MinReplicas, c.Spec.Scaling.MaxReplicas, c.Spec.Scaling.QueueDepthTarget = ptr.To[int32](2), ptr.To[int32](math.MaxInt32), ptr.To[int32](1000000)
				}),
				defaultInput(func(in *v1beta1.Input) {
					in.NATS.MonitoringEndpoint, in.NATS.Account, in.NATS.AccountID, in.NATS.MonitoringHTTPS = "monitoring:443", "WORKERS", "ABC", ptr.To(true)
				}),
			},
			want: scaledObject(2, math.MaxInt32, map[string]any{
				"natsServerMonitoringEndpoint": "monitoring:443",
				"account":                      "WORKERS",
				"accountID":                    "ABC",
				"useHttps":                     "true",
				"stream":                       "TMI_TMI_EXTRACTOR",
				"consumer":                     "TMI_EXTRACTOR_CONSUMER",
				"lagThreshold":                 "1000000",
			}),
		},
		"HTTPSOff": {
			reason: "HTTPS that is set to off is set.",
			args:   args{component(), defaultInput(func(in *v1beta1.Input) { in.NATS.MonitoringHTTPS = ptr.To(false) })},
			want: scaledObject(0, 10, map[string]any{
				"natsServerMonitoringEndpoint": "nats.tmi-platform.svc:8222",
				"account":                      "$G",
				"useHttps":                     "false",
				"stream":                       "TMI_TMI_EXTRACTOR",
				"consumer":                     "TMI_EXTRACTOR_CONSUMER",
				"lagThreshold":                 "5",
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, RenderScaledObject(tc.args.c, tc.args.in).Object); diff != "" {
				t.Errorf("\n%s\nRenderScaledObject(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
