//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"
)

// Nothing is written while nothing changes: not to a component that sleeps,
// and not to one that works. (An operator that writes what it finds once wrote
// two million generations of a Deployment in six days.)
func testSteadyState(t *testing.T) {
	t.Parallel()
	const steady = 3 * time.Minute
	asleep := newComponent(t, "asleep")
	awake := newComponent(t, "awake")
	asleep.waitReady()
	awake.waitReady()
	awake.hurry()
	awake.publish(12)
	eventually(t, later, func() error { return awake.hasReplicas(3) })
	awake.calm()
	eventually(t, later, asleep.isAsleep)
	awake.waitReady()
	// Crossplane writes something down once more at the first call after the
	// last change, which may come a steady TTL later.
	quiet(t, 70*time.Second, asleep, awake)

	r := record(t, asleep, awake)
	time.Sleep(steady) // The one thing that is measured in time: that nothing happens in it.
	r.stop()
	r.wantNone("in steady state", func(ch change) bool {
		switch ch.kind {
		case "Object": // its status mirrors the live object, with its managed fields
			return ch.changedBeside("status")
		case "ScaledObject": // KEDA notes when it last saw a job
			return ch.changedBeside("status")
		default: // Crossplane notes once that it listens again, five minutes after a creation
			return !ch.isAboutListening()
		}
	})
	for _, c := range []*component{asleep, awake} {
		if err := c.isReady(); err != nil {
			t.Errorf("%s after the steady state: %v", c, err)
		}
	}
}

// quiet waits until nothing was written to some components for a while: that
// they are Ready may still have to be noted here and there.
func quiet(t *testing.T, calm time.Duration, components ...*component) {
	t.Helper()
	r := record(t, components...)
	defer r.stop()
	begin := time.Now()
	eventually(t, 2*later, func() error {
		changes := r.seen(func(ch change) bool {
			return ch.kind != "ScaledObject" && ch.kind != "Object" || ch.changedBeside("status")
		})
		since := begin
		if len(changes) > 0 {
			since = changes[len(changes)-1].at
		}
		if time.Since(since) < calm {
			return fmt.Errorf("something is still written:\n%s", show(changes[max(0, len(changes)-1):]))
		}
		return nil
	})
}
