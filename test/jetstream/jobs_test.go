package jetstream_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/nats"
)

// TestJobsSurviveUpdates: 10,000 jobs that are published before, during and
// after updates of subjects and ack wait are all delivered.
func TestJobsSurviveUpdates(t *testing.T) {
	t.Parallel()
	const jobs = 10_000
	s, nc := single(t)
	p := newProvisioner(t)
	with := func(i int) nats.Request {
		// One subject stays, one comes and goes, the ack wait changes.
		return request(s.URL, "busy", subjects("jobs.busy", fmt.Sprintf("jobs.busy.%d", i)), func(r *nats.Request) {
			r.Component.AckWait = time.Minute + time.Duration(i)*time.Second
		})
	}
	must(t, p, with(0))

	publisher, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(256), jetstream.WithPublishAsyncTimeout(patient),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, _ *natsgo.Msg, err error) { t.Errorf("a job was not taken: %v", err) }))
	if err != nil {
		t.Fatal(err)
	}
	published := 0
	publish := func(n int) {
		for range n {
			if _, err := publisher.PublishAsync("jobs.busy", fmt.Append(nil, published), jetstream.WithStallWait(patient)); err != nil {
				t.Error(err)
				return
			}
			published++
		}
	}

	publish(jobs / 4)
	var during sync.WaitGroup
	during.Go(func() { publish(jobs / 2) })
	for i := range 20 {
		if out := must(t, p, with(i+1)); len(out.Changes) != 2 {
			t.Errorf("update %d: want two changes, got %v", i, out.Changes)
		}
	}
	during.Wait()
	publish(jobs / 4)
	<-publisher.PublishAsyncComplete()

	c, err := js(t, nc).Consumer(t.Context(), "TMI_BUSY", "BUSY_CONSUMER")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js(t, nc).Stream(t.Context(), "TMI_BUSY")
	if err != nil {
		t.Fatal(err)
	}
	if got := stream.CachedInfo().State.Msgs; got != jobs {
		t.Errorf("want %d jobs stored, got %d", jobs, got)
	}
	// The server counts them a little later than it stores them.
	eventually(t, "all jobs are pending", func() bool {
		info, err := c.Info(t.Context())
		return err == nil && info.NumPending == jobs
	})
	seen := make(map[string]bool, jobs)
	for len(seen) < jobs {
		batch, err := c.Fetch(500, jetstream.FetchMaxWait(patient))
		if err != nil {
			t.Fatal(err)
		}
		before := len(seen)
		for msg := range batch.Messages() {
			seen[string(msg.Data())] = true
			if err := msg.Ack(); err != nil {
				t.Fatal(err)
			}
		}
		if batch.Error() != nil || len(seen) == before {
			t.Fatalf("only %d of %d jobs were delivered: %v", len(seen), jobs, batch.Error())
		}
	}
}
