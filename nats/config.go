package nats

import (
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// DefaultAckWait is how long the server waits for a worker to acknowledge
	// a job before it gives it to another, if the component does not say.
	// Fixed: workers extend it with in-progress messages at a pace that
	// assumes this default.
	DefaultAckWait = 90 * time.Second

	// MaxDeliver is how many times the server gives a job to a worker in all.
	// Fixed: workers count attempts against it to report a job as failed.
	MaxDeliver = 3

	// ManagedBy is the value of MetadataManagedBy on what this package makes.
	ManagedBy = "function-tmicomponent"
)

// Keys of the metadata that this package puts on streams and consumers.
const (
	// MetadataComponent holds the component that owns a stream or a consumer,
	// as <namespace>/<name>. Whatever names another owner is not touched.
	MetadataComponent = "tmi.dev/component"

	// MetadataManagedBy says what program looks after it.
	MetadataManagedBy = "tmi.dev/managed-by"
)

const (
	streamPrefix   = "TMI_"
	consumerSuffix = "_CONSUMER"
)

// sanitizer replaces what may be in a component's name and must not, or by
// convention does not, appear in the name of a stream.
var sanitizer = strings.NewReplacer(".", "_", "-", "_", " ", "_")

// A Component is what this package needs to know of a TMIComponent.
type Component struct {
	// Namespace and Name say which component it is. Both are needed: the names
	// of the stream and the consumer come from Name alone, so components of
	// one name in two namespaces collide, and the owner tells them apart.
	Namespace, Name string

	// JobSubjects of the stream: at least one, none overlapping another.
	JobSubjects []string

	// AckWait of the consumer. Zero means DefaultAckWait.
	AckWait time.Duration
}

// StreamName returns the name of a component's stream: TMI_TMI_EXTRACTOR for
// tmi-extractor. Fixed: workers and KEDA derive the same. Two component names
// can have one stream name; the stream's metadata tells whose it is.
func StreamName(component string) string {
	return streamPrefix + sanitized(component)
}

// ConsumerName returns the name of a component's durable consumer:
// TMI_EXTRACTOR_CONSUMER for tmi-extractor. Fixed: workers and KEDA derive the
// same.
func ConsumerName(component string) string {
	return sanitized(component) + consumerSuffix
}

func sanitized(component string) string {
	return strings.ToUpper(sanitizer.Replace(component))
}

// StreamConfigFor returns the config with which a component's stream is
// created: its job subjects, each job for one worker only and gone when done
// (WorkQueue), on disk. Zero replicas leaves their number to the server, which
// makes it 1.
func StreamConfigFor(c Component, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:      StreamName(c.Name),
		Subjects:  slices.Clone(c.JobSubjects),
		Retention: jetstream.WorkQueuePolicy,
		Storage:   jetstream.FileStorage,
		Replicas:  replicas,
		Metadata:  c.metadata(),
	}
}

// ConsumerConfigFor returns the config with which a component's consumer is
// created: durable, so that it counts pending jobs while there is no worker;
// pull; each job acknowledged; no filter.
func ConsumerConfigFor(c Component) jetstream.ConsumerConfig {
	ackWait := c.AckWait
	if ackWait == 0 {
		ackWait = DefaultAckWait
	}
	return jetstream.ConsumerConfig{
		Name:          ConsumerName(c.Name),
		Durable:       ConsumerName(c.Name),
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       ackWait,
		MaxDeliver:    MaxDeliver,
		Metadata:      c.metadata(),
	}
}

// owner is the component as the metadata names it.
func (c Component) owner() string {
	return c.Namespace + "/" + c.Name
}

func (c Component) metadata() map[string]string {
	return map[string]string{
		MetadataComponent: c.owner(),
		MetadataManagedBy: ManagedBy,
	}
}
