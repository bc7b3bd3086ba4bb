package jetstream_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

// TestIdle: a connection without calls is closed, also that of a Secret that
// was rotated, and the next call makes another.
func TestIdle(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, natsserver.Options{Config: "authorization { token: new }\n"})
	p := newProvisioner(t, nats.WithIdleTimeout(300*time.Millisecond))
	with := func(token string) nats.Request {
		return request(s.URL, "idle", func(r *nats.Request) { r.Settings.Credentials.Token = token })
	}
	failsAtOnce(t, p, with("old"), nats.Unauthorized)
	must(t, p, with("new"))
	eventually(t, "the connections are closed", func() bool { return s.Running().NumClients() == 0 })
	attempts := connections(t, s)
	time.Sleep(3 * time.Second)
	if got := connections(t, s); got != attempts {
		t.Errorf("a closed connection goes on: %d attempts, then %d", attempts, got)
	}
	must(t, p, with("new"))
}

// TestClose: what was closed stays closed.
func TestClose(t *testing.T) {
	t.Parallel()
	s := natsserver.Start(t, natsserver.Options{})
	p := newProvisioner(t)
	must(t, p, request(s.URL, "closed"))
	p.Close()
	failsAtOnce(t, p, request(s.URL, "closed"), nats.Unreachable)
	eventually(t, "the connection is closed", func() bool { return s.Running().NumClients() == 0 })
	p.Close()
}

// TestMetrics: what is counted, and how.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s, nc := single(t)
	registry := prometheus.NewRegistry()
	p := newProvisioner(t, nats.WithMetrics(registry))

	must(t, p, request(s.URL, "counted"))
	must(t, p, request(s.URL, "counted"))
	must(t, p, request(s.URL, "counted", subjects("jobs.counted.more")))
	old := request(s.URL, "old")
	makeStream(t, nc, old, theirs)
	makeConsumer(t, nc, old, theirConsumer)
	must(t, p, old)
	mustFail(t, p, request(s.URL, "counted", observe, subjects("jobs.else")), nats.Drifted)
	failsAtOnce(t, p, request("nats://127.0.0.1:1", "counted"), nats.Unreachable)

	want := `
# HELP function_tmicomponent_nats_connections Connections to NATS, by state: connecting (for the first time), connected, reconnecting.
# TYPE function_tmicomponent_nats_connections gauge
function_tmicomponent_nats_connections{state="connected"} 1
function_tmicomponent_nats_connections{state="connecting"} 0
function_tmicomponent_nats_connections{state="reconnecting"} 1
# HELP function_tmicomponent_nats_ensures_total Calls that looked after a component's stream and consumer, by result: Provisioned, Adopted, or the reason why not.
# TYPE function_tmicomponent_nats_ensures_total counter
function_tmicomponent_nats_ensures_total{result="Adopted"} 1
function_tmicomponent_nats_ensures_total{result="Drifted"} 1
function_tmicomponent_nats_ensures_total{result="Provisioned"} 3
function_tmicomponent_nats_ensures_total{result="Unreachable"} 1
# HELP function_tmicomponent_nats_writes_total Streams and consumers created and updated, by kind: stream_create, stream_update, consumer_create, consumer_update.
# TYPE function_tmicomponent_nats_writes_total counter
function_tmicomponent_nats_writes_total{kind="consumer_create"} 1
function_tmicomponent_nats_writes_total{kind="consumer_update"} 0
function_tmicomponent_nats_writes_total{kind="stream_create"} 1
function_tmicomponent_nats_writes_total{kind="stream_update"} 1
`
	names := []string{"function_tmicomponent_nats_connections", "function_tmicomponent_nats_ensures_total", "function_tmicomponent_nats_writes_total"}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(registry, "function_tmicomponent_nats_ensure_duration_seconds"); err != nil || n != 1 {
		t.Errorf("want one histogram, got %d, %v", n, err)
	}

	p.Close()
	for _, family := range gather(t, registry) {
		if family.GetName() != "function_tmicomponent_nats_connections" {
			continue
		}
		for _, m := range family.GetMetric() {
			if m.GetGauge().GetValue() != 0 {
				t.Errorf("after Close: %v", m)
			}
		}
	}
}
