package nats

// A State is how a component's stream and consumer came to be right.
type State string

const (
	// Provisioned: the stream and the consumer are ours and as they should be.
	Provisioned State = "Provisioned"

	// Adopted: the stream, or the consumer, or both, were made by someone else.
	// They satisfy the component and are left exactly as they are.
	Adopted State = "Adopted"
)

// An Outcome is what EnsureStreamAndConsumer found and did.
type Outcome struct {
	// State of the two together. Empty if there was an error.
	State State

	// Stream and Consumer are their names.
	Stream, Consumer string

	// Changes has one sentence for each write that succeeded, in order. It is
	// empty in the steady state.
	Changes []string
}
