//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A component becomes Ready with every condition True, has its stream and
// consumer, and no worker, since there is no job.
func testBecomesReady(t *testing.T) {
	c := newComponent(t, "first")
	c.waitReady()

	eventually(t, soon, c.isAsleep)
	stream, err := c.stream()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := stream.Config.Subjects, []string{"jobs.first.>"}; !slices.Equal(got, want) {
		t.Errorf("the stream's subjects are %v, want %v", got, want)
	}
	if stream.Config.Retention != jetstream.WorkQueuePolicy || stream.Config.Storage != jetstream.FileStorage {
		t.Errorf("the stream has %s retention and %s storage, want a work queue in files",
			stream.Config.Retention, stream.Config.Storage)
	}
	consumer, err := c.consumer()
	if err != nil {
		t.Fatal(err)
	}
	if got := consumer.Config; got.AckWait != 30*time.Second || got.MaxDeliver != 3 || got.AckPolicy != jetstream.AckExplicitPolicy {
		t.Errorf("the consumer waits %s for an ack, delivers %d times, has ack policy %s; want 30s, 3, explicit",
			got.AckWait, got.MaxDeliver, got.AckPolicy)
	}
	for _, object := range []func() error{
		func() error { _, err := c.networkPolicy(); return err },
		func() error { _, err := c.scaledObject(); return err },
	} {
		if err := object(); err != nil {
			t.Error(err)
		}
	}
}

// On a quiet cluster, a component is Ready within ten seconds of being
// applied: the median of five.
func testReadySoon(t *testing.T) {
	const limit = 10 * time.Second
	var times []time.Duration
	for i := range 5 {
		begin := time.Now()
		c := newComponent(t, fmt.Sprintf("quick-%d", i))
		c.waitReady()
		times = append(times, time.Since(begin).Round(pollInterval))
	}
	slices.Sort(times)
	t.Logf("from applied to Ready: %v", times)
	if median := times[len(times)/2]; median > limit {
		t.Errorf("the median is %s, want at most %s", median, limit)
	}
}
