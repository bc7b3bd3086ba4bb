package jetstream_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

// TestCluster: a stream with three replicas on three servers, through a change
// of leader, with one server down, with two down, and after they are back.
func TestCluster(t *testing.T) {
	t.Parallel()
	const messages = 100
	c := natsserver.StartCluster(t)
	p := newProvisioner(t, untilBack)
	r := request(c.URL, "clustered", replicas(3))

	out := must(t, p, r)
	if len(out.Changes) != 2 {
		t.Errorf("want two changes, got %v", out.Changes)
	}
	nc := c.Servers[0].Connect(natsURLs(c))
	if got := streamOf(t, nc, "clustered").Replicas; got != 3 {
		t.Errorf("want 3 replicas, got %d", got)
	}
	for i := range messages {
		if _, err := js(t, nc).Publish(t.Context(), "jobs.clustered", []byte(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	converged := func(when string) {
		t.Helper()
		if out := must(t, p, r); len(out.Changes) > 0 {
			t.Errorf("%s: want no change, got %v", when, out.Changes)
		}
	}
	converged("healthy")

	for range 3 {
		leader := c.StreamLeader("TMI_CLUSTERED")
		if err := leader.Running().JetStreamStepdownStream("$G", "TMI_CLUSTERED"); err != nil {
			t.Fatal(err)
		}
		converged("while the leader changes")
	}

	first := c.StreamLeader("TMI_CLUSTERED")
	first.Stop()
	converged("one server down")
	// What needs no third server works, too.
	more := request(c.URL, "clustered", replicas(3), subjects("jobs.clustered", "jobs.clustered.more"))
	must(t, p, more)
	r = more

	second := c.Servers[0]
	if second == first {
		second = c.Servers[1]
	}
	second.Stop()
	// It takes the last server a while to see that it is alone; until then it
	// may answer, or say nothing.
	eventually(t, "two servers down are reported", func() bool {
		_, err := p.EnsureStreamAndConsumer(t.Context(), request(c.URL, "clustered", replicas(3), subjects("jobs.clustered", "jobs.changed"), within(2*time.Second)))
		var e *nats.Error
		return errors.As(err, &e) && e.Reason == nats.JetStreamUnavailable
	})
	e := mustFail(t, p, request(c.URL, "fresh", replicas(3), within(5*time.Second)), nats.JetStreamUnavailable)
	if !strings.Contains(e.Message, "stream TMI_FRESH") {
		t.Errorf("message: %s", e.Message)
	}

	first.Start()
	second.Start()
	c.AwaitLeader()
	c.StreamLeader("TMI_CLUSTERED")
	// An update that was asked for without a quorum may have been carried out
	// by then or not; either way the component comes to rest as it is wanted.
	eventually(t, "the component is provisioned again", func() bool {
		_, err := p.EnsureStreamAndConsumer(t.Context(), r)
		return err == nil
	})
	converged("all servers back")
	s, err := js(t, nc).Stream(t.Context(), "TMI_CLUSTERED")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.CachedInfo().State.Msgs; got != messages {
		t.Errorf("want %d messages, got %d", messages, got)
	}
	if got := s.CachedInfo().Config.Replicas; got != 3 {
		t.Errorf("want 3 replicas, got %d", got)
	}
}

// TestReplicas: replicas are changed when that is wished, and only then.
func TestReplicas(t *testing.T) {
	t.Parallel()
	c := natsserver.StartCluster(t)
	p := newProvisioner(t)
	nc := c.Servers[0].Connect()

	must(t, p, request(c.URL, "scaled", replicas(1)))
	out := must(t, p, request(c.URL, "scaled", replicas(3)))
	if want := "Updated stream TMI_SCALED: changed its replica count from 1 to 3"; len(out.Changes) != 1 || out.Changes[0] != want {
		t.Errorf("want %q, got %v", want, out.Changes)
	}
	// An update of something else leaves them alone.
	must(t, p, request(c.URL, "scaled", replicas(0), subjects("jobs.scaled", "jobs.scaled.more")))
	if got := streamOf(t, nc, "scaled").Replicas; got != 3 {
		t.Errorf("want 3 replicas, got %d", got)
	}
	e := mustFail(t, p, request(c.URL, "wide", replicas(5)), nats.InsufficientResources)
	if !strings.Contains(e.Message, "nats.streamReplicas") {
		t.Errorf("message: %s", e.Message)
	}
}

// TestClusterConcurrent: two replicas of the function create many components on
// a cluster at once, each of them twice.
func TestClusterConcurrent(t *testing.T) {
	t.Parallel()
	c := natsserver.StartCluster(t)
	ps := []*nats.Provisioner{newProvisioner(t), newProvisioner(t)}
	const n = 20
	inParallel(2*n, func(i int) {
		out, err := ps[i%2].EnsureStreamAndConsumer(t.Context(), request(c.URL, fmt.Sprintf("many-%d", i/2), replicas(3)))
		if err != nil || out.State != nats.Provisioned {
			t.Errorf("component %d: %+v, %v (cause: %v)", i/2, out, err, errors.Unwrap(err))
		}
	})
	if got := len(streams(t, c.Servers[0].Connect())); got != n {
		t.Errorf("want %d streams, got %d", n, got)
	}
}
