//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// With NATS down, a new component gets its NetworkPolicy and no worker, and
// one that runs keeps all it has and still takes changes. Once NATS is back,
// on an empty disk, both get their streams.
func testNATSDown(t *testing.T) {
	running := newComponent(t, "running")
	running.waitReady()
	eventually(t, soon, running.isAsleep)
	r := record(t, running)

	cluster.NATS.Stop()

	newcomer := newComponent(t, "newcomer")
	eventually(t, soon, func() error { return newcomer.hasCondition("JetStreamReady", "False", "Unreachable") })
	eventually(t, soon, func() error { _, err := newcomer.networkPolicy(); return err })
	eventually(t, soon, func() error { return newcomer.hasCondition("DeploymentReady", "False", "WaitingForJetStream") })
	t.Logf("the team reads: %s", newcomer.message("JetStreamReady"))
	if err := isGone(newcomer.key(), &appsv1.Deployment{})(); err != nil {
		t.Errorf("before its stream exists: %v", err)
	}

	running.change(func(spec map[string]any) { spec["image"] = newImage })
	eventually(t, soon, func() error { return running.hasNewImage() })
	eventually(t, soon, func() error { return running.hasCondition("JetStreamReady", "False", "Unreachable") })

	if err := cluster.NATS.Erase(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.NATS.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	running.waitReady()
	newcomer.waitReady()
	t.Logf("both were Ready %s after NATS came back", time.Since(back).Round(pollInterval))
	for _, c := range []*component{running, newcomer} {
		if _, err := c.consumer(); err != nil {
			t.Error(err)
		}
		eventually(t, soon, c.isAsleep)
	}
	r.stop()
	r.wantNone("deletions while NATS was down", func(ch change) bool { return ch.event == watch.Deleted })
	r.wantReplicas(running, 0)

	// Workers wake as ever.
	newcomer.hurry()
	newcomer.publish(1)
	eventually(t, later, func() error { return newcomer.hasReplicas(1) })
	newcomer.work(1)
}
