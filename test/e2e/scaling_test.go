//go:build e2e

package e2e

import (
	"testing"
	"time"
)

// Published jobs wake a component from zero to the number of workers that KEDA
// owes it, one for each five jobs, and done jobs let it sleep again.
func testScaling(t *testing.T) {
	t.Parallel()
	const jobs, workers = 23, 5 // 23 jobs, 5 for each worker
	c := newComponent(t, "sleeper")
	c.waitReady()
	c.hurry()

	published := time.Now()
	c.publish(jobs)
	eventually(t, later, func() error { return c.hasReplicas(workers) })
	t.Logf("%d jobs took it from 0 to %d workers in %s", jobs, workers, time.Since(published).Round(pollInterval))
	c.waitReady()

	done := time.Now()
	c.work(jobs)
	eventually(t, later, func() error { return c.hasReplicas(0) })
	t.Logf("with all jobs done it was back at zero in %s", time.Since(done).Round(pollInterval))
	c.waitReady()
}
