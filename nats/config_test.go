package nats

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
)

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason           string
		component        string
		stream, consumer string
	}{
		"Dash":      {reason: "As workers and KEDA derive them.", component: "tmi-extractor", stream: "TMI_TMI_EXTRACTOR", consumer: "TMI_EXTRACTOR_CONSUMER"},
		"Dot":       {reason: "A dot would split a subject.", component: "a.b", stream: "TMI_A_B", consumer: "A_B_CONSUMER"},
		"Space":     {reason: "A name with a space, which Kubernetes would not allow.", component: "a b", stream: "TMI_A_B", consumer: "A_B_CONSUMER"},
		"Plain":     {reason: "Nothing to replace.", component: "ocr", stream: "TMI_OCR", consumer: "OCR_CONSUMER"},
		"Digits":    {reason: "Digits stay.", component: "v2-ocr-3", stream: "TMI_V2_OCR_3", consumer: "V2_OCR_3_CONSUMER"},
		"Separated": {reason: "Each character is replaced by itself.", component: "a--b..c", stream: "TMI_A__B__C", consumer: "A__B__C_CONSUMER"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := StreamName(tc.component); got != tc.stream {
				t.Errorf("%s\nStreamName: want %s, got %s", tc.reason, tc.stream, got)
			}
			if got := ConsumerName(tc.component); got != tc.consumer {
				t.Errorf("%s\nConsumerName: want %s, got %s", tc.reason, tc.consumer, got)
			}
		})
	}
}

// TestConfigs states what the old controller's contract fixes, apart from the
// code that follows it.
func TestConfigs(t *testing.T) {
	c := Component{Namespace: "team", Name: "tmi-extractor", JobSubjects: []string{"jobs.a", "jobs.b"}}
	metadata := map[string]string{"tmi.dev/component": "team/tmi-extractor", "tmi.dev/managed-by": "function-tmicomponent"}

	wantStream := jetstream.StreamConfig{
		Name:      "TMI_TMI_EXTRACTOR",
		Subjects:  []string{"jobs.a", "jobs.b"},
		Retention: jetstream.WorkQueuePolicy,
		Storage:   jetstream.FileStorage,
		Replicas:  3,
		Metadata:  metadata,
	}
	if diff := cmp.Diff(wantStream, StreamConfigFor(c, 3)); diff != "" {
		t.Errorf("stream, -want +got:\n%s", diff)
	}

	wantConsumer := jetstream.ConsumerConfig{
		Name:       "TMI_EXTRACTOR_CONSUMER",
		Durable:    "TMI_EXTRACTOR_CONSUMER",
		AckPolicy:  jetstream.AckExplicitPolicy,
		AckWait:    90 * time.Second,
		MaxDeliver: 3,
		Metadata:   metadata,
	}
	if diff := cmp.Diff(wantConsumer, ConsumerConfigFor(c)); diff != "" {
		t.Errorf("consumer, -want +got:\n%s", diff)
	}
	c.AckWait, wantConsumer.AckWait = time.Hour, time.Hour
	if diff := cmp.Diff(wantConsumer, ConsumerConfigFor(c)); diff != "" {
		t.Errorf("consumer with an ack wait, -want +got:\n%s", diff)
	}
}
