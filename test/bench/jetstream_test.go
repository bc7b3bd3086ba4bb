package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/bench/natsd"
)

// BenchmarkRunFunctionJetStream is BenchmarkRunFunction with the stream and the
// consumer looked at in every call.
func BenchmarkRunFunctionJetStream(b *testing.B) {
	provisioner := nats.NewProvisioner()
	b.Cleanup(provisioner.Close)
	f := fn.New(fn.WithStreamProvisioner(provisioner))
	req, err := Converged(b.Context(), f, composite(b), inputOf(b, map[string]any{"url": natsd.Start(b), "timeout": "30s"}))
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, f, req)
}

// BenchmarkTwoRequests is what cannot be left out of that: nats.go asks about
// the stream and about the consumer, at the same time.
func BenchmarkTwoRequests(b *testing.B) {
	js := natsd.Connect(b, natsd.Start(b))
	component := nats.Component{Namespace: "team", Name: "extractor", JobSubjects: []string{"jobs.extract"}}
	create(b.Context(), b, js, component)

	stream, consumer := nats.StreamName(component.Name), nats.ConsumerName(component.Name)
	for _, concurrency := range []int{1, 16} {
		b.Run(fmt.Sprintf("c=%d", concurrency), func(b *testing.B) {
			measure(b, concurrency, func(int) error {
				done := make(chan error, 1)
				go func() {
					_, err := js.Consumer(context.Background(), stream, consumer)
					done <- err
				}()
				_, err := js.Stream(context.Background(), stream)
				return errors.Join(err, <-done)
			})
		})
	}
}

// BenchmarkCreate makes streams and consumers of components that are new, 16 at
// a time: by the function's provisioner, which looks before it writes, and by
// nats.go alone. -benchtime says how many.
func BenchmarkCreate(b *testing.B) {
	b.Run("by=nats.go", func(b *testing.B) {
		js := natsd.Connect(b, natsd.Start(b))
		measure(b, 16, func(n int) error {
			create(context.Background(), b, js, numbered(n))
			return nil
		})
	})
	b.Run("by=provisioner", func(b *testing.B) {
		settings := nats.Settings{URL: natsd.Start(b)}
		provisioner := nats.NewProvisioner()
		b.Cleanup(provisioner.Close)
		measure(b, 16, func(n int) error {
			outcome, err := provisioner.EnsureStreamAndConsumer(context.Background(), nats.Request{Settings: settings, Component: numbered(n)})
			if err == nil && len(outcome.Changes) != 2 {
				return fmt.Errorf("want two things made, got %q", outcome.Changes)
			}
			return err
		})
	})
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
