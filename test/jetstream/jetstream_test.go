package jetstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

// TestSwitchedOff: a server without JetStream says nothing, and is told apart
// from a slow one at once.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, natsserver.Options{NoJetStream: true})
	p := newProvisioner(t)
	for range 3 {
		e := failsAtOnce(t, p, request(s.URL, "off"), nats.JetStreamUnavailable)
		if want := "No JetStream answers at " + s.URL; !strings.HasPrefix(e.Message, want) {
			t.Errorf("want %q, got %q", want, e.Message)
		}
	}
}

// TestDomain: with a domain the function speaks to the JetStream of that domain
// only, and its prefix is in what it asks to be allowed.
func TestDomain(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, natsserver.Options{Domain: "hub"})
	p := newProvisioner(t)
	in := func(domain string) func(*nats.Request) {
		return func(r *nats.Request) { r.Settings.JetStreamDomain = domain }
	}
	must(t, p, request(s.URL, "domain", in("hub")))
	must(t, p, request(s.URL, "domain", in("hub"), subjects("jobs.domain", "jobs.domain.more")))
	for _, subject := range s.Requests.All() {
		if !strings.HasPrefix(subject, "$JS.hub.API.") {
			t.Errorf("a request outside the domain: %s", subject)
		}
	}
	e := failsAtOnce(t, p, request(s.URL, "domain", in("elsewhere")), nats.JetStreamUnavailable)
	if !strings.Contains(e.Message, "in the domain elsewhere") || !strings.Contains(e.Message, "nats.jetStreamDomain") {
		t.Errorf("message: %s", e.Message)
	}
}

// TestLeafDomain: over a leaf node's connection, the domain says which of the
// two JetStreams is meant.
func TestLeafDomain(t *testing.T) {
	t.Parallel()
	leafPort := natsserver.FreePort(t)
	accounts := `
accounts {
  TMI { jetstream: enabled, users: [ { user: function, password: secret } ] }
  SYS { users: [ { user: sys, password: sys } ] }
}
system_account: SYS
`
	hub := natsserver.Start(t, natsserver.Options{Domain: "hub", Config: accounts + fmt.Sprintf("leafnodes { listen: \"127.0.0.1:%d\" }\n", leafPort)})
	leaf := natsserver.Start(t, natsserver.Options{Domain: "leaf", Config: accounts + fmt.Sprintf(
		"leafnodes { remotes: [ { url: \"nats://function:secret@127.0.0.1:%d\", account: TMI } ] }\n", leafPort)})
	p := newProvisioner(t)
	r := request(leaf.URL, "through", asFunction, func(r *nats.Request) { r.Settings.JetStreamDomain = "hub" })
	eventually(t, "the leaf node is connected", func() bool {
		_, err := p.EnsureStreamAndConsumer(t.Context(), r)
		return err == nil
	})
	direct := request(hub.URL, "through", asFunction)
	if out := must(t, p, direct); len(out.Changes) > 0 {
		t.Errorf("want the stream to be in the hub, got %v", out.Changes)
	}
}

// TestBusyWorkQueue: a work queue takes one unfiltered consumer only, and whose
// it is not ours to decide.
func TestBusyWorkQueue(t *testing.T) {
	t.Parallel()
	s, nc := single(t)
	r := request(s.URL, "busy")
	makeStream(t, nc, r, nil)
	makeConsumer(t, nc, r, func(c *jetstream.ConsumerConfig) { c.Name, c.Durable = "SOMEONE", "SOMEONE" })
	e := mustFail(t, newProvisioner(t), r, nats.Rejected)
	if !strings.Contains(e.Message, "Another consumer takes jobs from the same stream") {
		t.Errorf("message: %s", e.Message)
	}
}
