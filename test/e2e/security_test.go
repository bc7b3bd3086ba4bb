//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workers start in a namespace that enforces the restricted Pod Security
// Standard, with all that a spec can add to a pod.
func testRestricted(t *testing.T) {
	t.Parallel()
	const namespace, name = "team-modest", "modest"
	createNamespace(t, namespace)
	// KEDA resolves the workers' environment, and does not scale without it.
	if err := cluster.Client.Create(context.Background(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		StringData: map[string]string{"token": "none"},
	}); err != nil {
		t.Fatal(err)
	}
	c := newComponentIn(t, namespace, name, func(spec map[string]any) {
		spec["scratchVolume"] = map[string]any{"mountPath": "/scratch", "sizeLimit": "16Mi"}
		spec["secretRefs"] = []any{map[string]any{"name": "TOKEN", "secretName": name, "secretKey": "token"}}
		spec["scaling"].(map[string]any)["minReplicas"] = int64(2)
	})

	careless := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "careless"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: "registry.example.com/worker:1"}}},
	}
	if err := cluster.Client.Create(context.Background(), careless); !apierrors.IsForbidden(err) {
		t.Errorf("the namespace takes a pod that is not restricted (%v): the test shows nothing", err)
	}

	eventually(t, later, func() error {
		pods, err := c.pods()
		if err != nil {
			return err
		}
		running := 0
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running != 2 {
			return fmt.Errorf("%d workers run, want 2", running)
		}
		return nil
	})
	c.waitReady()
}
