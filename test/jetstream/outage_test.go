package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

func portString(port int) string { return strconv.Itoa(port) }

// atOnce is far longer than a call takes that returns at once, and far shorter
// than the timeout that it would take otherwise.
const atOnce = 10 * time.Second

// untilBack makes the first call after NATS is back succeed also where the
// machine is too busy to connect within the default patience. Calls while
// connections are refused do not take longer for it.
var untilBack = nats.WithPatience(patient)

// failsAtOnce ensures with a long timeout, and fails the test unless the call
// fails for the reason, and long before the timeout.
func failsAtOnce(t *testing.T, p *nats.Provisioner, r nats.Request, reason nats.Reason) failure {
	t.Helper()
	return failsWithin(t, atOnce, p, r, reason)
}

func failsWithin(t *testing.T, d time.Duration, p *nats.Provisioner, r nats.Request, reason nats.Reason) failure {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	_, err := p.EnsureStreamAndConsumer(ctx, r)
	var e *nats.Error
	if !errors.As(err, &e) || e.Reason != reason {
		t.Fatalf("want %s, got %v (cause: %v)", reason, err, errors.Unwrap(err))
	}
	if ctx.Err() != nil {
		t.Fatalf("%s did not come at once", reason)
	}
	return failure{e.Message, e.Err}
}

// TestBeforeNATS: the function starts before NATS does.
func TestBeforeNATS(t *testing.T) {
	t.Parallel()
	s := natsserver.New(t, natsserver.Options{})
	p := newProvisioner(t, untilBack)
	r := request(s.URL, "early")

	first := failsAtOnce(t, p, r, nats.Unreachable)
	for range 10 {
		if next := failsAtOnce(t, p, r, nats.Unreachable); next.Message != first.Message {
			t.Errorf("the message changes by itself: %q, then %q", first.Message, next.Message)
		}
	}
	s.Start()
	// The first call, without waiting for the connection.
	if out := must(t, p, r); out.State != nats.Provisioned {
		t.Errorf("want Provisioned, got %+v", out)
	}
}

// TestRestart: while NATS is down calls fail at once, and the first one after
// it is back succeeds.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, natsserver.Options{})
	p := newProvisioner(t, untilBack)
	r := request(s.URL, "restarted")
	must(t, p, r)
	for range 3 {
		s.Stop()
		for range 3 {
			failsAtOnce(t, p, r, nats.Unreachable)
		}
		s.Start()
		if out := must(t, p, r); len(out.Changes) > 0 {
			t.Errorf("after the restart: want no change, got %v", out.Changes)
		}
	}
}

// TestHanging: a server that accepts connections and says nothing takes no more
// than the timeout, and less once it is known.
func TestHanging(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	p := newProvisioner(t)
	r := request("nats://"+l.Addr().String(), "hanging")

	// The dial gives up by itself after two seconds, before the timeout. From
	// then on no call waits for a whole dial.
	failsAtOnce(t, p, r, nats.Unreachable)
	for range 5 {
		failsWithin(t, 1500*time.Millisecond, p, r, nats.Unreachable)
	}

	// A call does not wait for a dial longer than it may, by its timeout or by
	// its context.
	short := func(ctx context.Context, r nats.Request) {
		t.Helper()
		start := time.Now()
		if _, err := newProvisioner(t).EnsureStreamAndConsumer(ctx, r); err == nil {
			t.Error("want an error")
		}
		if time.Since(start) > 1500*time.Millisecond {
			t.Error("the call took as long as the dial")
		}
	}
	r.Timeout = 50 * time.Millisecond
	short(t.Context(), r)
	r.Timeout = patient
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	short(ctx, r)
}

// TestSilent: a server that stops answering takes no more than the timeout; a
// create that timed out is not carried out later, nor is one that was asked for
// while there was no connection.
func TestSilent(t *testing.T) {
	t.Parallel()
	s, nc := single(t)
	wire := newProxy(t, s.URL)
	p := newProvisioner(t, untilBack)
	must(t, p, request(wire.URL, "before"))

	swallowed := wire.swallowFrom("STREAM.CREATE.TMI_LATE")
	e := mustFail(t, p, request(wire.URL, "late", within(time.Second)), nats.JetStreamUnavailable)
	<-swallowed
	if e.Message != "JetStream did not answer in time about stream TMI_LATE; the function tries again by itself, and the platform team looks after the servers if it lasts." {
		t.Errorf("message: %s", e.Message)
	}

	wire.cut()
	for i := range 5 {
		failsAtOnce(t, p, request(wire.URL, fmt.Sprintf("later-%d", i)), nats.Unreachable)
	}
	wire.open()
	must(t, p, request(wire.URL, "after"))
	if got, want := streams(t, nc), []string{"TMI_AFTER", "TMI_BEFORE"}; !slices.Equal(got, want) {
		t.Errorf("want streams %v, got %v", want, got)
	}
}

// TestLostMidway: a call whose connection is lost while it waits ends, or goes
// on over the next connection, long before its timeout.
func TestLostMidway(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, natsserver.Options{})
	wire := newProxy(t, s.URL)
	p := newProvisioner(t)
	must(t, p, request(wire.URL, "first"))

	swallowed := wire.swallowFrom("STREAM.CREATE.TMI_MIDWAY")
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	go func() {
		r := request(wire.URL, "midway", within(5*time.Minute))
		_, err := p.EnsureStreamAndConsumer(ctx, r)
		done <- err
	}()
	<-swallowed
	wire.cut()
	err := <-done
	var e *nats.Error
	if !errors.As(err, &e) || e.Reason != nats.Unreachable || ctx.Err() != nil {
		t.Errorf("want Unreachable before the deadline, got %v", err)
	}
}

// TestRefusedLogin: a login that is refused again and again ends nothing; once
// the server takes it, the next call succeeds.
func TestRefusedLogin(t *testing.T) {
	t.Parallel()
	wants := func(token string) natsserver.Options {
		return natsserver.Options{Config: fmt.Sprintf("authorization { token: %q }\n", token)}
	}
	s := natsserver.Start(t, wants("other"))
	p := newProvisioner(t, untilBack)
	r := request(s.URL, "refused")
	r.Settings.Credentials.Token = "right"

	for range 8 {
		failsAtOnce(t, p, r, nats.Unauthorized)
	}
	s.Reconfigure(wants("right"))
	must(t, p, r)

	// And while it is connected.
	s.Reconfigure(wants("another"))
	eventually(t, "the login is refused", func() bool {
		_, err := p.EnsureStreamAndConsumer(t.Context(), r)
		var e *nats.Error
		return errors.As(err, &e) && e.Reason == nats.Unauthorized
	})
	for range 8 {
		failsAtOnce(t, p, r, nats.Unauthorized)
	}
	s.Reconfigure(wants("right"))
	must(t, p, r)
}

// churnTime is how long TestChurn goes on; TMI_TEST_CHURN changes it.
func churnTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("TMI_TEST_CHURN")
	if text == "" {
		return time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestChurn: NATS is killed and started again for a minute under 16 callers.
// No stream is lost, no connection is left behind, and every component is
// Provisioned again within two calls. TestMain looks for goroutines.
func TestChurn(t *testing.T) {
	t.Parallel()
	const callers, components = 16, 64
	s := natsserver.Start(t, natsserver.Options{})
	p := newProvisioner(t, nats.WithPatience(time.Second))
	each := func(i int) nats.Request { return request(s.URL, fmt.Sprintf("churn-%d", i), within(3*time.Second)) }
	for i := range components {
		must(t, p, each(i))
	}

	ctx, cancel := context.WithTimeout(t.Context(), churnTime(t))
	defer cancel()
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := caller; ctx.Err() == nil; i = (i + callers) % components {
				out, err := p.EnsureStreamAndConsumer(context.WithoutCancel(ctx), each(i))
				var e *nats.Error
				switch {
				case err == nil && len(out.Changes) > 0:
					t.Errorf("component %d was not there any more: %v", i, out.Changes)
				case errors.As(err, &e) && e.Reason != nats.Unreachable && e.Reason != nats.JetStreamUnavailable:
					t.Errorf("component %d: %s: %s", i, e.Reason, e.Message)
				}
			}
		})
	}
	restarts := 0
	for ctx.Err() == nil {
		time.Sleep(300 * time.Millisecond)
		s.Stop()
		time.Sleep(200 * time.Millisecond)
		s.Start()
		restarts++
	}
	wg.Wait()
	t.Logf("%d restarts", restarts)

	for i := range components {
		if _, err := p.EnsureStreamAndConsumer(t.Context(), each(i)); err != nil {
			out, err := p.EnsureStreamAndConsumer(t.Context(), each(i))
			if err != nil || out.State != nats.Provisioned {
				t.Errorf("component %d, two calls later: %+v, %v", i, out, err)
			}
		}
	}
	if got := s.Running().NumClients(); got != 1 {
		t.Errorf("want one connection, got %d", got)
	}
	if got := len(streams(t, s.Connect())); got != components {
		t.Errorf("want %d streams, got %d", components, got)
	}
	p.Close()
	eventually(t, "the function's connection is closed", func() bool { return s.Running().NumClients() == 1 })
}
