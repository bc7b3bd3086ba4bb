package fn

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tmi.dev/function-tmicomponent/input/v1beta1"
	"tmi.dev/function-tmicomponent/nats"
)

// RenderScaledObject renders what tells KEDA to scale the Deployment by the
// depth of the component's consumer. It is unstructured because KEDA's types
// live in KEDA's whole module.
func RenderScaledObject(c *Component, in *v1beta1.Input) *unstructured.Unstructured {
	trigger := map[string]any{
		"natsServerMonitoringEndpoint": in.NATS.MonitoringEndpoint,
		"account":                      in.NATS.Account,
		"stream":                       nats.StreamName(c.Name),
		"consumer":                     nats.ConsumerName(c.Name),
		"lagThreshold":                 strconv.FormatInt(int64(*c.Spec.Scaling.QueueDepthTarget), 10),
	}
	if in.NATS.AccountID != "" {
		trigger["accountID"] = in.NATS.AccountID
	}
	if in.NATS.MonitoringHTTPS != nil {
		trigger["useHttps"] = strconv.FormatBool(*in.NATS.MonitoringHTTPS)
	}
	metadata := map[string]any{
		"name":      c.Name,
		"namespace": c.Namespace,
		"labels":    unstructuredLabels(c),
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "keda.sh/v1alpha1",
		"kind":       "ScaledObject",
		"metadata":   metadata,
		"spec": map[string]any{
			"scaleTargetRef":  map[string]any{"name": c.Name},
			"minReplicaCount": int64(*c.Spec.Scaling.MinReplicas),
			"maxReplicaCount": int64(*c.Spec.Scaling.MaxReplicas),
			"triggers": []any{
				map[string]any{"type": "nats-jetstream", "metadata": trigger},
			},
		},
	}}
}

func unstructuredLabels(c *Component) map[string]any {
	l := make(map[string]any)
	for k, v := range labels(c) {
		l[k] = v
	}
	return l
}
