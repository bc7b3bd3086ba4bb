package nats

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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

// Codes of the JetStream API, of nats-server's server/errors.json, for which
// nats.go has no name.
const (
	codeAccountResources   jetstream.ErrorCode = 10002
	codeIncompleteResults  jetstream.ErrorCode = 10004
	codeNoPeers            jetstream.ErrorCode = 10005
	codeNoLeader           jetstream.ErrorCode = 10008
	codeNotLeader          jetstream.ErrorCode = 10009
	codeResources          jetstream.ErrorCode = 10023
	codeMaxStreams         jetstream.ErrorCode = 10027
	codeMemory             jetstream.ErrorCode = 10028
	codeNoAccount          jetstream.ErrorCode = 10035
	codeStorage            jetstream.ErrorCode = 10047
	codeStreamCreate       jetstream.ErrorCode = 10049
	codeSubjectOverlap     jetstream.ErrorCode = 10065
	codeReplicas           jetstream.ErrorCode = 10074
	codeStreamStoreFailed  jetstream.ErrorCode = 10077
	codeConsumerStore      jetstream.ErrorCode = 10104
	codeMaxBytesRequired   jetstream.ErrorCode = 10113
	codeStreamOffline      jetstream.ErrorCode = 10118
	codeConsumerOffline    jetstream.ErrorCode = 10119
	codeNoLimits           jetstream.ErrorCode = 10120
	codeMaxStreamBytes     jetstream.ErrorCode = 10122
	codeTooManyRequests    jetstream.ErrorCode = 10167
	codeStreamOfflineWhy   jetstream.ErrorCode = 10194
	codeConsumerOfflineWhy jetstream.ErrorCode = 10195
	codeReconfigurationOn  jetstream.ErrorCode = 10226
	codeStreamMoveOn       jetstream.ErrorCode = 10124
	codeWQConsumerUnique   jetstream.ErrorCode = 10099
	codeWQConsumerFiltered jetstream.ErrorCode = 10100
)

// A refusal is what an API error means to a person.
type refusal struct {
	reason Reason
	// sentence, in which %s is the stream or the consumer.
	sentence string
}

// peerOffline is in the description of codeNoPeers if the cluster is large
// enough, but some of its servers are down.
const peerOffline = "peer offline"

const (
	noLeader = "JetStream cannot act on %s at the moment, since too few of its servers are up to agree; the function tries again by itself, and the platform team looks after the servers if it lasts."
	noStore  = "The NATS server fails to set up the storage of %s; the function tries again by itself, and the platform team looks after the server's disk if it lasts."
	noRoom   = "JetStream has no room for %s: a limit of the servers or the account on streams, consumers or storage is reached; ask the platform team to raise the limit, or to make room."
)

// refusals has the API errors that mean something particular. %s is the stream
// or the consumer.
var refusals = map[jetstream.ErrorCode]refusal{
	jetstream.JSErrCodeJetStreamNotEnabled:           {JetStreamUnavailable, "JetStream is not enabled on the NATS server, so it has no place for %s; ask the platform team to enable it, or to correct nats.url in the function's Input."},
	jetstream.JSErrCodeJetStreamNotEnabledForAccount: {JetStreamUnavailable, "JetStream is not enabled for the account that the function logs in to, so it has no place for %s; ask the platform team to enable it for the account, or to correct the credentials."},
	codeNoAccount:          {JetStreamUnavailable, "The account that the function logs in to is not known to JetStream, so it has no place for %s; ask the platform team to correct the account or the credentials."},
	codeIncompleteResults:  {JetStreamUnavailable, noLeader},
	codeNoLeader:           {JetStreamUnavailable, noLeader},
	codeNotLeader:          {JetStreamUnavailable, noLeader},
	codeStreamOffline:      {JetStreamUnavailable, noLeader},
	codeConsumerOffline:    {JetStreamUnavailable, noLeader},
	codeStreamOfflineWhy:   {JetStreamUnavailable, noLeader},
	codeConsumerOfflineWhy: {JetStreamUnavailable, noLeader},
	codeTooManyRequests:    {JetStreamUnavailable, "JetStream has too many requests to look at %s; the function tries again by itself."},
	codeReconfigurationOn:  {JetStreamUnavailable, "JetStream is moving %s between servers; the function tries again by itself."},
	codeStreamMoveOn:       {JetStreamUnavailable, "JetStream is moving %s between servers; the function tries again by itself."},

	codeStreamCreate:      {JetStreamUnavailable, noStore},
	codeStreamStoreFailed: {JetStreamUnavailable, noStore},
	codeConsumerStore:     {JetStreamUnavailable, noStore},

	codeReplicas:         {InsufficientResources, "NATS is a single server and cannot keep the wanted replicas of %s; ask the platform team to set nats.streamReplicas to 1 in the function's Input, or to run a cluster."},
	codeNoPeers:          {InsufficientResources, "NATS has too few servers, or too little room on them, for the wanted replicas of %s; ask the platform team to lower nats.streamReplicas in the function's Input, to make room, or to add servers."},
	codeAccountResources: {InsufficientResources, noRoom},
	codeResources:        {InsufficientResources, noRoom},
	codeMemory:           {InsufficientResources, noRoom},
	codeStorage:          {InsufficientResources, noRoom},
	codeMaxStreams:       {InsufficientResources, noRoom},
	codeNoLimits:         {InsufficientResources, noRoom},
	codeMaxStreamBytes:   {InsufficientResources, noRoom},
	codeMaxBytesRequired: {InsufficientResources, "The account wants every stream to have a size limit, which the function does not set, so it cannot create %s; ask the platform team to lift that rule, or to create it by hand with the limit."},

	jetstream.JSErrCodeMaximumConsumersLimit: {InsufficientResources, noRoom},

	codeWQConsumerUnique:   {Rejected, "Another consumer takes jobs from the same stream, which allows for one only, so JetStream refuses %s; ask the platform team to remove the other one."},
	codeWQConsumerFiltered: {Rejected, "Another consumer takes jobs from the same stream, which allows for one only, so JetStream refuses %s; ask the platform team to remove the other one."},
}

// transient reports whether what failed so is worth repeating at once: a cluster
// refuses requests so while it elects a leader.
func transient(err error) bool {
	switch code(err) {
	case codeNoLeader, codeNotLeader, codeIncompleteResults:
		return true
	}
	return false
}

// overtaken reports whether a write failed since what was looked at has changed
// in the meantime.
func overtaken(err error) bool {
	switch code(err) {
	case jetstream.JSErrCodeStreamNameInUse, jetstream.JSErrCodeConsumerExists, jetstream.JSErrCodeConsumerNameExists, jetstream.JSErrCodeConsumerAlreadyExists,
		jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeConsumerNotFound, jetstream.JSErrCodeConsumerDoesNotExist:
		return true
	}
	return false
}

// missing reports whether what was asked for does not exist, which is an answer
// of the server and no mere lack of one.
func missing(err error) bool {
	switch code(err) {
	case jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeConsumerNotFound:
		return true
	}
	return false
}

// code of an API error, or 0.
func code(err error) jetstream.ErrorCode {
	var e jetstream.JetStreamError
	if errors.As(err, &e) && e.APIError() != nil {
		return e.APIError().ErrorCode
	}
	return 0
}

// explain makes of an error of a request about a thing, "stream X", what a
// person can act on.
func explain(err error, thing string, s Settings) *Error {
	var (
		known    *Error
		settings *settingsError
		denied   *deniedError
		down     *downError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &settings):
		return &Error{Reason: Unreachable, Message: capitalised(settings.Error()) + "; ask the platform team to correct them.", Err: err}
	case errors.As(err, &denied):
		return &Error{Reason: Unauthorized, Message: explainDenied(denied, thing), Err: err}
	case errors.As(err, &down):
		reason, message := explainDown(down, s)
		return &Error{Reason: reason, Message: message, Err: err}
	case errors.Is(err, natsgo.ErrNoResponders):
		at := s.address()
		if s.JetStreamDomain != "" {
			at += " in the domain " + s.JetStreamDomain
		}
		return &Error{Reason: JetStreamUnavailable, Message: "No JetStream answers at " + at + "; ask the platform team to enable it, or to correct nats.url or nats.jetStreamDomain in the function's Input.", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Reason: JetStreamUnavailable, Message: "JetStream did not answer in time about " + thing + "; the function tries again by itself, and the platform team looks after the servers if it lasts.", Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Reason: Unreachable, Message: "The look at " + thing + " was cut short; the function tries again by itself.", Err: err}
	}
	if code(err) == codeNoPeers && strings.Contains(err.Error(), peerOffline) {
		return &Error{Reason: JetStreamUnavailable, Message: fmt.Sprintf(noLeader, thing), Err: err}
	}
	if r, ok := refusals[code(err)]; ok {
		return &Error{Reason: r.reason, Message: fmt.Sprintf(r.sentence, thing), Err: err}
	}
	var api jetstream.JetStreamError
	if errors.As(err, &api) && api.APIError() != nil {
		return &Error{Reason: Rejected, Message: fmt.Sprintf("JetStream refuses the request about %s: %s (error %d); correct the component, or ask the platform team.",
			thing, api.APIError().Description, api.APIError().ErrorCode), Err: err}
	}
	return &Error{Reason: JetStreamUnavailable, Message: "JetStream gave an answer about " + thing + " that the function does not understand; ask the platform team whether nats.url is that of a NATS server of version 2.10 or later.", Err: err}
}

func explainDenied(d *deniedError, thing string) string {
	what := "publish to"
	if d.subscribe {
		what = "subscribe to"
	}
	return fmt.Sprintf("NATS does not let the function %s %s, which it needs for %s; ask the platform team to allow that to the function's user.", what, d.subject, thing)
}

// explainDown tells apart what a person can correct. Ways in which a server can
// be away are not told apart: which of them it is can change by itself.
func explainDown(down *downError, s Settings) (Reason, string) {
	at := s.address()
	var (
		file      *fileError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		op        *net.OpError
	)
	err := down.cause
	switch {
	case errors.Is(err, errPoolClosed):
		return Unreachable, "The function is shutting down; it tries again by itself."
	case errors.As(err, &file):
		return Unreachable, "The function's " + file.Error() + "; ask the platform team to correct it."
	case errors.As(err, &host):
		return Unreachable, "The certificate of NATS at " + at + " is not for that name; ask the platform team to correct it, or to set nats.tlsServerName in the function's Input."
	case errors.As(err, &authority), errors.As(err, &invalid), errors.As(err, &verify):
		return Unreachable, "The certificate of NATS at " + at + " is not to be trusted by the CA that the function was given; ask the platform team to correct the certificate or the CA."
	// A "remote error" is an alert of the other end of TLS.
	case errors.As(err, &op) && op.Op == "remote error", errors.Is(err, natsgo.ErrTLS) && strings.Contains(err.Error(), "closed by remote"):
		return Unauthorized, "NATS at " + at + " does not accept the TLS connection or the client certificate of the function; ask the platform team to correct the certificate."
	case errors.As(err, &record), errors.Is(err, natsgo.ErrSecureConnWanted):
		return Unreachable, "NATS at " + at + " does not speak TLS, which the function's settings ask for; ask the platform team to correct nats.url or the CA."
	case errors.Is(err, natsgo.ErrMaxConnectionsExceeded), errors.Is(err, natsgo.ErrMaxAccountConnectionsExceeded):
		return InsufficientResources, "NATS at " + at + " has as many connections as it, or the account, may have; ask the platform team to raise the limit."
	case refusedLogin(err):
		return Unauthorized, "NATS at " + at + " refuses the login of the function; ask the platform team to correct or renew the credentials."
	}
	return Unreachable, "NATS cannot be reached at " + at + "; the function tries again by itself, and the platform team looks after NATS, nats.url and the network if it lasts."
}

// refusedLogin reports whether the server said no. It says so in a line of
// text, which nats.go does not always make an error of its own.
func refusedLogin(err error) bool {
	for _, known := range []error{natsgo.ErrAuthorization, natsgo.ErrAuthExpired, natsgo.ErrAuthRevoked, natsgo.ErrAccountAuthExpired, natsgo.ErrNkeysNotSupported} {
		if errors.Is(err, known) {
			return true
		}
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "authorization violation") || strings.Contains(text, "authentication")
}
