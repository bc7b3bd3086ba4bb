//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"tmi.dev/function-tmicomponent/test/lab"
)

// Restarting the function, the provider or Crossplane changes nothing, and all
// works again afterwards: a new component becomes Ready.
func testRestarts(t *testing.T) {
	const jobs, workers = 13, 3
	old := newComponent(t, "old")
	old.waitReady()
	old.hurry()
	old.publish(jobs)
	eventually(t, later, func() error { return old.hasReplicas(workers) })
	old.calm()
	old.waitReady()
	quiet(t, 10*time.Second, old)
	r := record(t, old)

	for _, part := range []struct {
		name    string
		process *lab.Process
	}{
		{"function", cluster.Function}, {"provider", cluster.Provider}, {"crossplane", cluster.Crossplane},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.process.Stop()
			if err := part.process.Start(context.Background()); err != nil {
				t.Fatal(err)
			}
			newComponent(t, "after-"+part.name).waitReady()
		})
	}

	r.stop()
	r.wantNone("after restarts", func(ch change) bool {
		switch ch.kind {
		case "Deployment", "NetworkPolicy", "Pod":
			return true
		default:
			// Who calls a function while it is away may say so in a status.
			return ch.changedBeside("status")
		}
	})
	if err := old.isReady(); err != nil {
		t.Errorf("after the restarts: %v", err)
	}
}
