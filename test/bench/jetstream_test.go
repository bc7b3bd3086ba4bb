package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/bench/natsd"
)

// BenchmarkRunFunctionJetStream is BenchmarkRunFunction with the stream and the
// consumer looked at in every call.
func BenchmarkRunFunctionJetStream(b *testing.B) {
	f, req := withJetStream(b)
	benchmark(b, f, req)
}

// withJetStream returns a function that looks at JetStream, and the request for
// a component that is as it should be.
func withJetStream(b *testing.B) (*fn.Function, *fnv1.RunFunctionRequest) {
	b.Helper()
	provisioner := nats.NewProvisioner()
	b.Cleanup(provisioner.Close)
	f := fn.New(fn.WithStreamProvisioner(provisioner))
	req, err := Converged(b.Context(), f, composite(b), inputOf(b, map[string]any{"url": natsd.Start(b), "timeout": "30s"}))
	if err != nil {
		b.Fatal(err)
	}
	return f, req
}

// BenchmarkCannedTwoRequests is BenchmarkCannedResponse with what cannot be left
// out of that in every call.
func BenchmarkCannedTwoRequests(b *testing.B) {
	f := fn.New()
	req := converged(b, f)
	benchmark(b, &canned{rsp: answer(b, f, req), before: twoRequests(b)}, req)
}

// twoRequests returns a function by which nats.go asks about a stream and about
// its consumer, at the same time.
func twoRequests(b *testing.B) func(context.Context) error {
	b.Helper()
	js := natsd.Connect(b, natsd.Start(b))
	// The one that composite is of.
	component := nats.Component{
		Namespace: "tmi-platform", Name: "tmi-extractor",
		JobSubjects: []string{"jobs.extract.ooxml", "jobs.extract.pdf", "jobs.extract.html", "jobs.extract.plaintext"},
	}
	create(b.Context(), b, js, component)

	stream, consumer := nats.StreamName(component.Name), nats.ConsumerName(component.Name)
	return func(ctx context.Context) error {
		done := make(chan error, 1)
		go func() {
			_, err := js.Consumer(ctx, stream, consumer)
			done <- err
		}()
		_, err := js.Stream(ctx, stream)
		return errors.Join(err, <-done)
	}
}

// BenchmarkCreate makes streams and consumers of components that are new, 16 at
// a time, a batch of them by nats.go alone and then one by the function's
// provisioner, which looks before it writes. It reports what part of nats.go's
// pace the provisioner reaches, by the clock and by processor time.
func BenchmarkCreate(b *testing.B) {
	js, settings := natsd.Connect(b, natsd.Start(b)), nats.Settings{URL: natsd.Start(b)}
	provisioner := nats.NewProvisioner()
	b.Cleanup(provisioner.Close)
	makers := [...]func(n int) error{
		func(n int) error {
			create(context.Background(), b, js, numbered(n))
			return nil
		},
		func(n int) error {
			outcome, err := provisioner.EnsureStreamAndConsumer(context.Background(), nats.Request{Settings: settings, Component: numbered(n)})
			if err == nil && len(outcome.Changes) != 2 {
				return fmt.Errorf("want two things made, got %q", outcome.Changes)
			}
			return err
		},
	}
	var used, took [len(makers)]time.Duration
	round := 0
	for b.Loop() {
		for i, ensure := range makers {
			usedBefore, began := processorTime(b), time.Now()
			atOnce(b, 16, func(n int) error { return ensure(round*batch + n) })
			used[i] += processorTime(b) - usedBefore
			took[i] += time.Since(began)
		}
		round++
	}
	b.ReportMetric(float64(took[0])/float64(took[1]), "of-nats.go's-pace")
	b.ReportMetric(float64(used[0])/float64(used[1]), "of-nats.go's-pace-by-cpu")
	b.ReportMetric(float64(took[1])/float64(round*batch), "ns/component")
}

func numbered(n int) nats.Component {
	name := fmt.Sprintf("worker-%d", n)
	return nats.Component{Namespace: "team", Name: name, JobSubjects: []string{"jobs." + name}}
}

// create makes the stream and the consumer by nats.go alone.
func create(ctx context.Context, tb testing.TB, js jetstream.JetStream, c nats.Component) {
	tb.Helper()
	stream, err := js.CreateStream(ctx, nats.StreamConfigFor(c, 0))
	if err != nil {
		tb.Error(err)
		return
	}
	if _, err := stream.CreateConsumer(ctx, nats.ConsumerConfigFor(c)); err != nil {
		tb.Error(err)
	}
}
