package lab

import "context"

// startControllerManager starts the controllers of Kubernetes: ReplicaSets,
// garbage collection, the horizontal pod autoscaler.
func (l *Lab) startControllerManager(ctx context.Context) error {
	var port int
	if err := l.ports.freeAll(&port); err != nil {
		return err
	}
	return l.start(ctx, command{
		name: "kube-controller-manager",
		args: []string{
			"--kubeconfig=" + l.kubeconfig(userControllerManager),
			"--authentication-skip-lookup",
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
			portFlag("--secure-port", port),
			"--service-account-private-key-file=" + l.path("service-account.key"),
			"--root-ca-file=" + l.path("apiserver", "ca.crt"),
			"--kube-api-qps=200",
			"--kube-api-burst=400",
			// The autoscaler decides each 15 s and remembers the highest
			// wish of the last 5 min by default: right for production, and
			// long for somebody who waits for a test.
			"--horizontal-pod-autoscaler-sync-period=2s",
			"--horizontal-pod-autoscaler-downscale-stabilization=10s",
		},
		ready: servesTLS(loopback(port), "/healthz"),
	})
}

// startScheduler starts kube-scheduler.
func (l *Lab) startScheduler(ctx context.Context) error {
	var port int
	if err := l.ports.freeAll(&port); err != nil {
		return err
	}
	return l.start(ctx, command{
		name: "kube-scheduler",
		args: []string{
			"--kubeconfig=" + l.kubeconfig(userScheduler),
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
			portFlag("--secure-port", port),
		},
		ready: servesTLS(loopback(port), "/healthz"),
	})
}
