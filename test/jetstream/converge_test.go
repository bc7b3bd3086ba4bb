package jetstream_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

// connections returns how many connections a server was asked for, ever.
func connections(t *testing.T, s *natsserver.Server) uint64 {
	t.Helper()
	v, err := s.Running().Varz(&server.VarzOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return v.TotalConnections
}

// inParallel calls f for each number below n, 16 at a time, as Crossplane
// does with its functions.
func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wg.Wait()
}

// TestManyComponents: 500 components share one connection, and once they are
// converged each takes two requests and no write.
func TestManyComponents(t *testing.T) {
	t.Parallel()
	const n = 500
	s := natsserver.Start(t, natsserver.Options{})
	p := newProvisioner(t)
	ensure := func(i int) {
		out, err := p.EnsureStreamAndConsumer(t.Context(), request(s.URL, fmt.Sprintf("component-%d", i)))
		if err != nil || out.State != nats.Provisioned {
			t.Errorf("component %d: %+v, %v", i, out, err)
		}
	}

	inParallel(n, ensure)
	if got := connections(t, s); got != 1 {
		t.Errorf("want one connection, got %d", got)
	}
	if got := len(s.Requests.Writes(0)); got != 2*n {
		t.Errorf("want %d writes, got %d", 2*n, got)
	}

	before := s.Requests.Count()
	inParallel(n, ensure)
	if got := s.Requests.Since(before); len(got) != 2*n {
		t.Errorf("converged: want %d requests, got %d", 2*n, len(got))
	}
	if got := s.Requests.Writes(before); len(got) > 0 {
		t.Errorf("converged: want no writes, got %v", got)
	}
	if got := connections(t, s); got != 1 {
		t.Errorf("converged: want one connection, got %d", got)
	}
	if got := len(streams(t, s.Connect())); got != n {
		t.Errorf("want %d streams, got %d", n, got)
	}
}

// TestConcurrentEnsures: many calls for one component at once, from two
// replicas of the function, all succeed.
func TestConcurrentEnsures(t *testing.T) {
	t.Parallel()
	s, nc := single(t)
	replicas := []*nats.Provisioner{newProvisioner(t), newProvisioner(t)}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			out, err := replicas[i%2].EnsureStreamAndConsumer(t.Context(), request(s.URL, "one"))
			if err != nil || out.State != nats.Provisioned {
				t.Errorf("call %d: %+v, %v", i, out, err)
			}
		})
	}
	wg.Wait()
	if got, want := streams(t, nc), []string{"TMI_ONE"}; !slices.Equal(got, want) {
		t.Errorf("want streams %v, got %v", want, got)
	}
	if state := look(t, nc, "one"); state.Consumer == "" {
		t.Error("there is no consumer")
	}
}

// TestRace: components whose names collide are created at once. One of them
// gets the stream, and the others are told whose it is.
func TestRace(t *testing.T) {
	t.Parallel()
	s, nc := single(t)
	p := newProvisioner(t)
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		owners []string
	)
	for i := range 32 {
		wg.Go(func() {
			r := request(s.URL, "contended")
			r.Component.Namespace = fmt.Sprintf("team-%d", i)
			_, err := p.EnsureStreamAndConsumer(t.Context(), r)
			var e *nats.Error
			switch {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				owners = append(owners, r.Component.Namespace+"/contended")
			case !errors.As(err, &e) || e.Reason != nats.NameCollision:
				t.Errorf("want NameCollision, got %v", err)
			}
		})
	}
	wg.Wait()
	if len(owners) != 1 {
		t.Fatalf("want one owner, got %v", owners)
	}
	if got := streamOf(t, nc, "contended").Metadata[nats.MetadataComponent]; got != owners[0] {
		t.Errorf("stream: want owner %s, got %s", owners[0], got)
	}
	if got := consumerOf(t, nc, "contended").Metadata[nats.MetadataComponent]; got != owners[0] {
		t.Errorf("consumer: want owner %s, got %s", owners[0], got)
	}
}

// TestLost: what a server lost is back at the next call.
func TestLost(t *testing.T) {
	t.Parallel()
	s, nc := single(t)
	p := newProvisioner(t)
	r := request(s.URL, "lost")
	must(t, p, r)

	if err := js(t, nc).DeleteConsumer(t.Context(), "TMI_LOST", "LOST_CONSUMER"); err != nil {
		t.Fatal(err)
	}
	if out := must(t, p, r); len(out.Changes) != 1 {
		t.Errorf("consumer lost: want one change, got %v", out.Changes)
	}
	if err := js(t, nc).DeleteStream(t.Context(), "TMI_LOST"); err != nil {
		t.Fatal(err)
	}
	if out := must(t, p, r); len(out.Changes) != 2 {
		t.Errorf("stream lost: want two changes, got %v", out.Changes)
	}
	s.Stop()
	s.Erase()
	s.Start()
	if out := must(t, p, r); len(out.Changes) != 2 {
		t.Errorf("disk lost: want two changes, got %v", out.Changes)
	}
	if out := must(t, p, r); len(out.Changes) != 0 {
		t.Errorf("at rest: want no change, got %v", out.Changes)
	}
}
