package nats

import "time"

// DefaultTimeout of a call of EnsureStreamAndConsumer, connecting included.
const DefaultTimeout = 3 * time.Second

// A Request asks for a component's stream and consumer.
type Request struct {
	// Settings of the NATS they belong on.
	Settings Settings

	// Component that they are for.
	Component Component

	// Replicas of the stream. Zero means not to care: the server's default, 1,
	// at creation, and whatever it has later.
	Replicas int

	// ObserveOnly looks and never writes.
	ObserveOnly bool

	// AdoptExisting makes a stream or a consumer that has no owner ours, if
	// what cannot be changed about it is right.
	AdoptExisting bool

	// AllowedSubjects are lists of patterns. A stream that has no owner is used,
	// or taken over, only if each list allows all of its subjects, so that a
	// component cannot get at jobs that are not for it by its name. With no
	// list all are allowed. That JobSubjects are allowed is the caller's to
	// check.
	AllowedSubjects [][]string

	// Timeout of the whole call. Zero means DefaultTimeout. The context's
	// deadline counts as well.
	Timeout time.Duration
}
