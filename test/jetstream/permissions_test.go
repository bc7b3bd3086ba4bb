package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

// leastPermissions are what the README says that the function needs.
var leastPermissions = []string{
	"$JS.API.STREAM.INFO.*",
	"$JS.API.STREAM.CREATE.*",
	"$JS.API.STREAM.UPDATE.*",
	"$JS.API.CONSUMER.INFO.*.*",
	"$JS.API.CONSUMER.CREATE.*.*",
}

const inbox = "_INBOX.>"

// allowing lets the user "function" publish and subscribe to the subjects, and
// "admin" everything.
func allowing(publish []string, subscribe string) natsserver.Options {
	return natsserver.Options{Config: fmt.Sprintf(`
authorization { users: [
  { user: admin, password: admin }
  { user: function, password: secret, permissions: {
      publish: { allow: ["%s"] }
      subscribe: { allow: ["%s"] }
  } }
] }
`, strings.Join(publish, `", "`), subscribe)}
}

var admin = natsgo.UserInfo("admin", "admin")

func asFunction(r *nats.Request) {
	r.Settings.Credentials.Username, r.Settings.Credentials.Password = "function", "secret"
}

// TestLeastPermissions goes through every kind of write with exactly the
// permissions that are documented.
func TestLeastPermissions(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, allowing(leastPermissions, inbox))
	nc := s.Connect(admin)
	p := newProvisioner(t)

	must(t, p, request(s.URL, "least", asFunction))
	out := must(t, p, request(s.URL, "least", asFunction, subjects("jobs.least", "jobs.more"), func(r *nats.Request) {
		r.Component.AckWait = time.Minute
	}))
	if len(out.Changes) != 2 {
		t.Errorf("want two updates, got %v", out.Changes)
	}

	old := request(s.URL, "old", asFunction, adopt)
	makeStream(t, nc, old, theirs)
	makeConsumer(t, nc, old, theirConsumer)
	if out := must(t, p, old); len(out.Changes) != 2 {
		t.Errorf("want to take over both, got %v", out.Changes)
	}

	// The other stream cannot be looked for, so only our subjects are named.
	e := mustFail(t, p, request(s.URL, "overlap", asFunction, subjects("jobs.least")), nats.SubjectOverlap)
	if want := "Another stream stores subject jobs.least already"; !strings.HasPrefix(e.Message, want) {
		t.Errorf("want %q, got %q", want, e.Message)
	}
}

// TestDenied takes each permission away. The call ends at once and names what
// to allow.
func TestDenied(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		missing string
		inbox   string
		given   func(t *testing.T, nc *natsgo.Conn, r nats.Request)
		want    string
	}{
		"StreamInfo":     {reason: "Looking at the stream.", missing: "$JS.API.STREAM.INFO.*", want: "publish to $JS.API.STREAM.INFO.TMI_DENIED"},
		"ConsumerInfo":   {reason: "Looking at the consumer.", missing: "$JS.API.CONSUMER.INFO.*.*", want: "publish to $JS.API.CONSUMER.INFO.TMI_DENIED.DENIED_CONSUMER"},
		"StreamCreate":   {reason: "Creating the stream.", missing: "$JS.API.STREAM.CREATE.*", want: "publish to $JS.API.STREAM.CREATE.TMI_DENIED"},
		"ConsumerCreate": {reason: "Creating the consumer.", missing: "$JS.API.CONSUMER.CREATE.*.*", want: "publish to $JS.API.CONSUMER.CREATE.TMI_DENIED.DENIED_CONSUMER"},
		"StreamUpdate": {
			reason:  "Updating the stream.",
			missing: "$JS.API.STREAM.UPDATE.*",
			given: func(t *testing.T, nc *natsgo.Conn, r nats.Request) {
				t.Helper()
				makeStream(t, nc, r, func(c *jetstream.StreamConfig) { c.Subjects = []string{"jobs.other"} })
			},
			want: "publish to $JS.API.STREAM.UPDATE.TMI_DENIED",
		},
		"Inbox": {reason: "Hearing the answers.", inbox: "_OTHER.>", want: "subscribe to _INBOX.>"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			allowed := slices.DeleteFunc(slices.Clone(leastPermissions), func(s string) bool { return s == tc.missing })
			subscribe := inbox
			if tc.inbox != "" {
				subscribe = tc.inbox
			}
			s := natsserver.Start(t, allowing(allowed, subscribe))
			p := newProvisioner(t)
			r := request(s.URL, "denied", asFunction)
			if tc.given != nil {
				tc.given(t, s.Connect(admin), r)
			}
			for range 3 {
				e := failsAtOnce(t, p, r, nats.Unauthorized)
				if !strings.Contains(e.Message, tc.want+",") {
					t.Errorf("%s: want %q in %q", tc.reason, tc.want, e.Message)
				}
			}

			s.Reconfigure(allowing(leastPermissions, inbox))
			eventually(t, "the permission helps", func() bool {
				_, err := p.EnsureStreamAndConsumer(t.Context(), r)
				return err == nil
			})
		})
	}
}

// TestDeniedNextToAllowed: calls share a connection, and a denied one does not
// end another, nor does it take another's subject for its own.
func TestDeniedNextToAllowed(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, allowing([]string{
		"$JS.API.STREAM.INFO.*", "$JS.API.CONSUMER.INFO.*.*",
		"$JS.API.STREAM.CREATE.TMI_ALLOWED", "$JS.API.CONSUMER.CREATE.TMI_ALLOWED.*",
	}, inbox))
	p := newProvisioner(t)
	must(t, p, request(s.URL, "allowed", asFunction))

	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 20 {
				if i%2 == 0 {
					if _, err := p.EnsureStreamAndConsumer(ctx, request(s.URL, "allowed", asFunction)); err != nil {
						t.Errorf("allowed: %v", err)
					}
					continue
				}
				name := fmt.Sprintf("denied-%d", i)
				_, err := p.EnsureStreamAndConsumer(ctx, request(s.URL, name, asFunction))
				var e *nats.Error
				if !errors.As(err, &e) || e.Reason != nats.Unauthorized || !strings.Contains(e.Message, "$JS.API.STREAM.CREATE."+nats.StreamName(name)+",") {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		t.Error("denied calls waited for their timeout")
	}
}

// TestAccounts: a component cannot reach a stream of another account, whatever
// its name.
func TestAccounts(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, natsserver.Options{Config: `
accounts {
  PLATFORM { jetstream: enabled, users: [ { user: function, password: secret } ] }
  OTHER { jetstream: enabled, users: [ { user: other, password: other } ] }
  OFF { users: [ { user: none, password: none } ] }
  SMALL { jetstream { max_streams: 1, max_consumers: 1 }, users: [ { user: small, password: small } ] }
}`})
	other := s.Connect(natsgo.UserInfo("other", "other"))
	r := request(s.URL, "tenant", asFunction)
	makeStream(t, other, r, func(c *jetstream.StreamConfig) { c.Metadata, c.MaxAge = nil, time.Hour })
	before := config(t, other, "$JS.API.STREAM.INFO.TMI_TENANT")

	p := newProvisioner(t)
	out := must(t, p, r)
	if len(out.Changes) != 2 {
		t.Errorf("want a stream of our account's own, got %v", out.Changes)
	}
	if after := config(t, other, "$JS.API.STREAM.INFO.TMI_TENANT"); after != before {
		t.Errorf("the stream of the other account changed:\n%s\n%s", before, after)
	}

	as := func(user string) func(*nats.Request) {
		return func(r *nats.Request) { r.Settings.Credentials.Username, r.Settings.Credentials.Password = user, user }
	}
	e := mustFail(t, p, request(s.URL, "off", as("none")), nats.JetStreamUnavailable)
	if !strings.Contains(e.Message, "not enabled for the account") && !strings.Contains(e.Message, "No JetStream answers") {
		t.Errorf("message: %s", e.Message)
	}
	must(t, p, request(s.URL, "small", as("small")))
	e = mustFail(t, p, request(s.URL, "big", as("small")), nats.InsufficientResources)
	if !strings.Contains(e.Message, "no room for stream TMI_BIG") {
		t.Errorf("message: %s", e.Message)
	}
}
