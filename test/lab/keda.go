package lab

import (
	"context"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const kedaNamespace = "keda"

// startKEDA starts both halves of KEDA: the operator, which takes workers from
// zero to one and back and has an autoscaler do the rest, and the metrics
// adapter, from which the autoscaler learns the depth of the queue.
func (l *Lab) startKEDA(ctx context.Context) error {
	module, err := l.tools.moduleDir(ctx, "keda-operator")
	if err != nil {
		return err
	}
	if err := l.applyCRDs(ctx, filepath.Join(module, "config", "crd", "bases")); err != nil {
		return err
	}
	if err := l.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kedaNamespace}}); err != nil {
		return err
	}
	// The two halves speak mutual TLS with each other.
	ca, err := newCertificateAuthority("keda")
	if err != nil {
		return err
	}
	certificates := l.path("keda", "tls")
	if err := ca.issueTo(certificates, "keda"); err != nil {
		return err
	}
	var health, operatorMetrics, adapterMetrics, internal, adapter int
	if err := l.ports.freeAll(&health, &operatorMetrics, &adapterMetrics, &internal, &adapter); err != nil {
		return err
	}
	if err := l.start(ctx, command{
		name: "keda-operator",
		args: []string{
			"--cert-dir=" + certificates,
			"--enable-webhook-patching=false",
			"--enable-apiservice-patching=false",
			"--metrics-service-bind-address=" + loopback(internal),
			"--health-probe-bind-address=" + loopback(health),
			"--metrics-bind-address=" + loopback(operatorMetrics),
			"--kube-api-qps=100",
			"--kube-api-burst=200",
			"--zap-log-level=info",
		},
		env: []string{
			"KUBECONFIG=" + l.kubeconfig(userKEDA),
			"WATCH_NAMESPACE=", // all
			"POD_NAMESPACE=" + kedaNamespace,
			"KEDA_CLUSTER_OBJECT_NAMESPACE=" + kedaNamespace,
			"HTTP_PROXY=" + l.clusterNames,
		},
		ready: serves("http://" + loopback(health) + "/readyz"),
	}); err != nil {
		return err
	}
	if err := l.start(ctx, command{
		name: "keda-adapter",
		args: []string{
			"--metrics-service-address=localhost:" + port(internal),
			"--cert-dir=" + certificates,
			"--tls-cert-file=" + certificates + "/tls.crt",
			"--tls-private-key-file=" + certificates + "/tls.key",
			portFlag("--secure-port", adapter),
			portFlag("--port", adapterMetrics),
			"--lister-kubeconfig=" + l.kubeconfig(userKEDA),
			"--authentication-kubeconfig=" + l.kubeconfig(userKEDA),
			"--authorization-kubeconfig=" + l.kubeconfig(userKEDA),
		},
		env: []string{
			"KUBECONFIG=" + l.kubeconfig(userKEDA),
			"WATCH_NAMESPACE=",
			"POD_NAMESPACE=" + kedaNamespace,
		},
		ready: servesTLS(loopback(adapter), "/healthz"),
	}); err != nil {
		return err
	}
	return l.registerMetricsAPI(ctx, adapter)
}

// registerMetricsAPI tells the API server that KEDA's adapter serves the
// external metrics. It knows extension API servers by their Service; this one
// leads out of the cluster.
func (l *Lab) registerMetricsAPI(ctx context.Context, adapter int) error {
	const service = "keda-metrics-apiserver"
	for _, object := range []map[string]any{{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   map[string]any{"name": service, "namespace": kedaNamespace},
		"spec": map[string]any{
			"type":         "ExternalName",
			"externalName": "localhost",
			"ports":        []any{map[string]any{"name": "https", "port": adapter, "protocol": "TCP"}},
		},
	}, {
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": "v1beta1.external.metrics.k8s.io"},
		"spec": map[string]any{
			"group":                 "external.metrics.k8s.io",
			"version":               "v1beta1",
			"groupPriorityMinimum":  100,
			"versionPriority":       100,
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"name": service, "namespace": kedaNamespace, "port": adapter},
		},
	}} {
		if err := l.Apply(ctx, object); err != nil {
			return err
		}
	}
	return l.waitForCondition(ctx, "apiregistration.k8s.io/v1", "APIService", "v1beta1.external.metrics.k8s.io", "Available")
}
