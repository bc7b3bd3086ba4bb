package nats

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func testConnection() *connection {
	ctx, cancel := context.WithCancel(context.Background())
	return &connection{
		connectionOptions: connectionOptions{log: slog.New(slog.DiscardHandler), patience: time.Hour, onPhase: func(phase, phase) {}},

		onClosed: func() {},
		ctx:      ctx,
		cancel:   cancel,
		kick:     make(chan struct{}, 1),
		phase:    connecting,
		cause:    errConnecting,
		changed:  make(chan struct{}),
		waiting:  make(map[*waiter]struct{}),
	}
}

// TestOptions: what keeps a connection trying, and nothing from being sent
// later than it was asked for.
func TestOptions(t *testing.T) {
	o, err := testConnection().options(Settings{URL: "nats://a:4222, b"})
	if err != nil {
		t.Fatal(err)
	}
	if !o.RetryOnFailedConnect || !o.AllowReconnect || o.MaxReconnect != -1 {
		t.Error("the function must start before NATS does, and try without end")
	}
	if !o.IgnoreAuthErrorAbort {
		t.Error("a second refused login must not close the connection for good")
	}
	if o.ReconnectBufSize != -1 {
		t.Error("a create must not be sent at a reconnect after its call has returned")
	}
	if diff := cmp.Diff([]string{"nats://a:4222", "nats://b"}, o.Servers); diff != "" {
		t.Errorf("servers, -want +got:\n%s", diff)
	}
}

// TestAwait follows one call through what a connection goes through.
func TestAwait(t *testing.T) {
	cases := map[string]struct {
		reason string
		// meanwhile happens while the call waits.
		given, meanwhile func(*connection)
		want             error
	}{
		"Connected": {
			reason: "No wait.",
			given:  func(c *connection) { c.phase = connected },
		},
		"First": {
			reason:    "The first connection comes about.",
			meanwhile: func(c *connection) { c.become(connected, nil) },
		},
		"FirstFails": {
			reason:    "The first attempt fails, and that is enough.",
			meanwhile: func(c *connection) { c.become(reconnecting, errRefused) },
			want:      errRefused,
		},
		"Back": {
			reason:    "The connection is back.",
			given:     func(c *connection) { c.phase, c.resting = reconnecting, true },
			meanwhile: func(c *connection) { c.become(connected, nil) },
		},
		"StillDown": {
			reason: "One attempt after the call is enough.",
			given:  func(c *connection) { c.phase, c.resting = reconnecting, true },
			meanwhile: func(c *connection) {
				c.attempts, c.cause = 1, errRefused
				c.tell()
			},
			want: errRefused,
		},
		"Closed": {
			reason:    "It is closed.",
			given:     func(c *connection) { c.phase = reconnecting },
			meanwhile: func(c *connection) { c.become(closed, errPoolClosed) },
			want:      errPoolClosed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := testConnection()
				if tc.given != nil {
					tc.given(c)
				}
				got := awaiting(t, c)
				if tc.meanwhile != nil {
					c.mu.Lock()
					tc.meanwhile(c)
					c.mu.Unlock()
				}
				if err := <-got; !errors.Is(err, tc.want) {
					t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, err)
				}
			})
		})
	}
}

// TestAwaitAttemptUnderWay: an attempt that began before the call may have begun
// before NATS was back, so it takes another to know.
func TestAwaitAttemptUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConnection()
		c.phase = reconnecting
		got := awaiting(t, c)
		fail := func(attempts int) {
			c.mu.Lock()
			c.attempts, c.cause = attempts, errRefused
			c.tell()
			c.mu.Unlock()
			synctest.Wait()
		}
		fail(1)
		select {
		case err := <-got:
			t.Fatalf("want the call to wait for one more attempt, got %v", err)
		default:
		}
		fail(2)
		if err := <-got; !errors.Is(err, errRefused) {
			t.Errorf("want %v, got %v", errRefused, err)
		}
	})
}

// TestAwaitSetsOffAnAttempt: a call that finds the connection down does not
// wait for the next attempt to come by itself.
func TestAwaitSetsOffAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConnection()
		c.phase, c.resting = reconnecting, true
		got := awaiting(t, c)
		select {
		case <-c.kick:
		default:
			t.Error("want the rest between two attempts to end")
		}
		// Nothing happens, and patience ends.
		start := time.Now()
		if err := <-got; !errors.Is(err, errConnecting) {
			t.Errorf("want the last known cause, got %v", err)
		}
		if took := time.Since(start); took != c.patience {
			t.Errorf("want to wait for %v, got %v", c.patience, took)
		}
	})
}

// awaiting returns the result of await, which is waiting by then.
func awaiting(t *testing.T, c *connection) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.await(t.Context()) }()
	synctest.Wait()
	return done
}

// TestAskWhileLost: nats.go knows that the connection is lost before its callback
// tells us. A request that fails for it must not return before, since the call
// would think that there is a connection, and try again in vain.
func TestAskWhileLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConnection()
		c.phase = connected
		failed := make(chan error, 1)
		go func() {
			_, err := ask(t.Context(), c, "subject", func(context.Context, jetstream.JetStream) (struct{}, error) {
				return struct{}{}, natsgo.ErrReconnectBufExceeded
			})
			failed <- err
		}()
		synctest.Wait()
		select {
		case err := <-failed:
			t.Fatalf("ask returned before the loss was told: %v", err)
		default:
		}
		c.onDown(errRefused)
		var down *downError
		if err := <-failed; !errors.As(err, &down) {
			t.Errorf("want an error of a connection that is down, got %v", err)
		}
	})
}
