package fuzz

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/input/v1alpha1"
	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/bench/natsd"
)

// FuzzNames makes the stream and the consumer of components of every name that
// we accept on a real server.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"tmi-extractor", "a.b", "a-b", "0", "a", "tmi-", "A", "a_b", "a b", "a/b", "ünï", "", "a>", "a*", "ı", "ﬀ", "a\x00"} {
		f.Add(name)
	}
	js := natsd.Connect(f, natsd.Start(f))

	f.Fuzz(func(t *testing.T, name string) {
		c := &fn.Component{Name: name, Namespace: "team", Spec: v1alpha1.TMIComponentSpec{Image: "i", JobSubjects: []string{"jobs.x"}}}
		c.Spec.SetDefaults()
		if len(fn.ValidateComponent(c, nil)) > 0 {
			return
		}
		config := nats.StreamConfigFor(nats.Component{Name: name, Namespace: "team", JobSubjects: c.Spec.JobSubjects}, 0)
		config.Storage = jetstream.MemoryStorage // The name is what matters here.
		stream, err := js.CreateStream(t.Context(), config)
		if err != nil {
			t.Fatalf("cannot create stream %q of %q: %v", config.Name, name, err)
		}
		consumer, err := stream.CreateConsumer(t.Context(), nats.ConsumerConfigFor(nats.Component{Name: name, Namespace: "team"}))
		if err != nil {
			t.Fatalf("cannot create the consumer of %q: %v", name, err)
		}
		if got, want := consumer.CachedInfo().Name, nats.ConsumerName(name); got != want {
			t.Errorf("the consumer of %q: want %q, got %q", name, want, got)
		}
		if err := js.DeleteStream(t.Context(), nats.StreamName(name)); err != nil {
			t.Fatal(err)
		}
	})
}
