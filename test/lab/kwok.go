package lab

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podStages say how the lab's pods live: ready at once, and a moment in
// stopping, as pods are, so that a test can see what stands while they stop.
//
//go:embed kwok-pod-stages.yaml
var podStages []byte

// startKwok starts kwok, the kubelet of a node that does not exist: pods are
// scheduled, admitted, marked ready and deleted like any, and run nothing.
func (l *Lab) startKwok(ctx context.Context) error {
	var port int
	if err := l.ports.freeAll(&port); err != nil {
		return err
	}
	if err := os.WriteFile(l.path("kwok-pod-stages.yaml"), podStages, 0o600); err != nil {
		return err
	}
	module, err := l.tools.moduleDir(ctx, "kwok")
	if err != nil {
		return err
	}
	stages := func(path ...string) string {
		return "--config=" + filepath.Join(append([]string{module, "kustomize", "stage"}, path...)...)
	}
	if err := l.start(ctx, command{
		name: "kwok",
		args: []string{
			"--kubeconfig=" + l.kubeconfig(userKwok),
			"--manage-all-nodes=true",
			"--server-address=" + loopback(port),
			stages("node", "fast", "node-initialize.yaml"),
			stages("node", "heartbeat", "node-heartbeat.yaml"),
			"--config=" + l.path("kwok-pod-stages.yaml"),
		},
		ready: serves("http://" + loopback(port) + "/healthz"),
	}); err != nil {
		return err
	}
	return l.Client.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   "lab-node",
		Labels: map[string]string{"kubernetes.io/hostname": "lab-node"},
	}})
}
