package nats

// A Reason says, in one word that does not change, why a component's stream
// and consumer are not as they should be.
type Reason string

const (
	// NotFound: the stream or the consumer does not exist, and only looking was
	// allowed.
	NotFound Reason = "NotFound"

	// Unreachable: there is no connection to NATS. It is tried again without
	// end.
	Unreachable Reason = "Unreachable"

	// Unauthorized: NATS refuses the login, or a request for want of a
	// permission.
	Unauthorized Reason = "Unauthorized"

	// JetStreamUnavailable: there is a connection, but JetStream is off, or has
	// no quorum, or does not answer.
	JetStreamUnavailable Reason = "JetStreamUnavailable"

	// NameCollision: the stream or the consumer belongs to another component.
	NameCollision Reason = "NameCollision"

	// SubjectOverlap: another stream stores some of the job subjects.
	SubjectOverlap Reason = "SubjectOverlap"

	// Drifted: the stream or the consumer is not as it should be, and we must
	// not, or cannot, change it.
	Drifted Reason = "Drifted"

	// InsufficientResources: a limit of the server, the cluster or the account
	// is reached.
	InsufficientResources Reason = "InsufficientResources"

	// Rejected: JetStream refuses the request for another cause, which the
	// message repeats.
	Rejected Reason = "Rejected"
)

// An Error is why a component's stream and consumer are not as they should be.
type Error struct {
	// Reason in one word.
	Reason Reason

	// Message is for the component's team: what is wrong and what to do next.
	// It holds no secret, and is the same for as long as the cause is: no
	// times, counts, ids or ports, since it goes into a condition, where a text
	// that changes by itself would make a reconcile loop.
	Message string

	// Err is the cause, for logs, if there is one. It may change from call to
	// call.
	Err error
}

// Error returns the message alone.
func (e *Error) Error() string {
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	return e.Err
}
