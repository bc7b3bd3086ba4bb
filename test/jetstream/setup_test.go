package jetstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

// patient is a timeout for calls whose speed is not what a test is about.
const patient = 30 * time.Second

// TestMain fails the tests if a goroutine of the function, or of nats.go, is
// left when all Provisioners and connections are closed. A nats-server that was
// stopped while it recovered its streams can leave some of its own, which is not
// our business; most are gone after a while.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		var left error
		for deadline := time.Now().Add(patient); time.Now().Before(deadline); {
			if left = goleak.Find(); left == nil {
				break
			}
		}
		// A stack has nats.go as nats%2ego.
		if left != nil && (strings.Contains(left.Error(), "tmi.dev/function-tmicomponent/nats.") || strings.Contains(left.Error(), "github.com/nats-io/nats%2ego.")) {
			fmt.Fprintln(os.Stderr, "goroutines are left:", left)
			code = 1
		}
	}
	os.Exit(code)
}

// newProvisioner returns a Provisioner that is closed when the test ends.
func newProvisioner(t *testing.T, opts ...nats.Option) *nats.Provisioner {
	t.Helper()
	p := nats.NewProvisioner(opts...)
	t.Cleanup(p.Close)
	return p
}

// request asks for a component of the namespace "team" with one job subject.
func request(url, name string, changes ...func(*nats.Request)) nats.Request {
	r := nats.Request{
		Settings:  nats.Settings{URL: url},
		Component: nats.Component{Namespace: "team", Name: name, JobSubjects: []string{"jobs." + name}},
		Timeout:   patient,
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

// adopt, observe and replicas change a request.
func adopt(r *nats.Request)   { r.AdoptExisting = true }
func observe(r *nats.Request) { r.ObserveOnly = true }

func within(d time.Duration) func(*nats.Request) {
	return func(r *nats.Request) { r.Timeout = d }
}

func replicas(n int) func(*nats.Request) {
	return func(r *nats.Request) { r.Replicas = n }
}

func subjects(s ...string) func(*nats.Request) {
	return func(r *nats.Request) { r.Component.JobSubjects = s }
}

// must ensures, and fails the test unless that works.
func must(t *testing.T, p *nats.Provisioner, r nats.Request) nats.Outcome {
	t.Helper()
	out, err := p.EnsureStreamAndConsumer(t.Context(), r)
	if err != nil {
		t.Fatalf("EnsureStreamAndConsumer: %v (cause: %v)", err, errors.Unwrap(err))
	}
	return out
}

// A failure is what a call failed with.
type failure struct {
	Message string
	Cause   error
}

// mustFail ensures, and fails the test unless that fails for the reason.
func mustFail(t *testing.T, p *nats.Provisioner, r nats.Request, reason nats.Reason) failure {
	t.Helper()
	out, err := p.EnsureStreamAndConsumer(t.Context(), r)
	var e *nats.Error
	if !errors.As(err, &e) {
		t.Fatalf("EnsureStreamAndConsumer: want %s, got %+v and %v", reason, out, err)
	}
	if e.Reason != reason {
		t.Fatalf("EnsureStreamAndConsumer: want %s, got %s: %s (cause: %v)", reason, e.Reason, e.Message, e.Err)
	}
	return failure{e.Message, e.Err}
}

// js returns a JetStream client of the test's own.
func js(t *testing.T, nc *natsgo.Conn) jetstream.JetStream {
	t.Helper()
	j, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patient))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// found is what is on a server of a component: the configs, byte for byte as
// the server tells them, or nothing.
type found struct {
	Stream, Consumer string
}

func look(t *testing.T, nc *natsgo.Conn, name string) found {
	t.Helper()
	return found{
		Stream:   config(t, nc, "$JS.API.STREAM.INFO."+nats.StreamName(name)),
		Consumer: config(t, nc, "$JS.API.CONSUMER.INFO."+nats.StreamName(name)+"."+nats.ConsumerName(name)),
	}
}

func config(t *testing.T, nc *natsgo.Conn, subject string) string {
	t.Helper()
	msg, err := nc.Request(subject, nil, patient)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		t.Fatal(err)
	}
	return string(answer.Config)
}

// streamOf and consumerOf return the configs of what exists.
func streamOf(t *testing.T, nc *natsgo.Conn, name string) jetstream.StreamConfig {
	t.Helper()
	s, err := js(t, nc).Stream(t.Context(), nats.StreamName(name))
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().Config
}

func consumerOf(t *testing.T, nc *natsgo.Conn, name string) jetstream.ConsumerConfig {
	t.Helper()
	c, err := js(t, nc).Consumer(t.Context(), nats.StreamName(name), nats.ConsumerName(name))
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo().Config
}

// makeStream makes a component's stream with our config, changed.
func makeStream(t *testing.T, nc *natsgo.Conn, r nats.Request, change func(*jetstream.StreamConfig)) {
	t.Helper()
	c := nats.StreamConfigFor(r.Component, r.Replicas)
	if change != nil {
		change(&c)
	}
	if _, err := js(t, nc).CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// makeConsumer makes a component's consumer with our config, changed.
func makeConsumer(t *testing.T, nc *natsgo.Conn, r nats.Request, change func(*jetstream.ConsumerConfig)) {
	t.Helper()
	c := nats.ConsumerConfigFor(r.Component)
	if change != nil {
		change(&c)
	}
	j, stream := js(t, nc), nats.StreamName(r.Component.Name)
	var err error
	if c.DeliverSubject != "" {
		_, err = j.CreatePushConsumer(t.Context(), stream, c)
	} else {
		_, err = j.CreateConsumer(t.Context(), stream, c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ours reports whether metadata says that the component is the owner.
func ours(metadata map[string]string, r nats.Request) bool {
	return metadata[nats.MetadataComponent] == r.Component.Namespace+"/"+r.Component.Name && metadata[nats.MetadataManagedBy] == nats.ManagedBy
}

// eventually waits for a condition that comes about by itself.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patient); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time: " + what)
		}
	}
}

// streams returns the names of all streams.
func streams(t *testing.T, nc *natsgo.Conn) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	lister := js(t, nc).StreamNames(ctx)
	var names []string
	for name := range lister.Name() {
		names = append(names, name)
	}
	if err := lister.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// single starts one plain server, and returns it with a connection.
func single(t *testing.T) (*natsserver.Server, *natsgo.Conn) {
	t.Helper()
	s := natsserver.Start(t, natsserver.Options{})
	return s, s.Connect()
}

func gather(t *testing.T, g prometheus.Gatherer) []*dto.MetricFamily {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// natsURLs makes a connection know all servers of a cluster.
func natsURLs(c *natsserver.Cluster) natsgo.Option {
	return func(o *natsgo.Options) error {
		o.Servers = strings.Split(c.URL, ",")
		return nil
	}
}
