package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxLooks at a stream and a consumer in one call: one more each time that
	// someone else was quicker to write.
	maxLooks = 4

	// maxTries of a look that gets no answer, as when a server has just died.
	// Each has its share of the time.
	maxTries = 3

	// firstPause and longestPause between attempts that get an error that may
	// pass at once, as while a cluster elects a leader. They go on for half of
	// the time that the call has, so that one without a quorum ends early.
	firstPause   = 50 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// A Provisioner makes sure that streams and consumers exist. It is safe for
// concurrent use.
type Provisioner struct {
	log     *slog.Logger
	metrics *metrics
	pool    *pool
}

// An Option of a Provisioner.
type Option func(*options)

type options struct {
	log         *slog.Logger
	registerer  prometheus.Registerer
	idleTimeout time.Duration
	patience    time.Duration
}

// WithLogger logs to l. The default is not to log.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) { o.log = l }
}

// WithMetrics registers the Provisioner's metrics. The default is to register
// them nowhere. It panics if they are registered already.
func WithMetrics(r prometheus.Registerer) Option {
	return func(o *options) { o.registerer = r }
}

// WithIdleTimeout closes a connection that had no call for d. The default is
// DefaultIdleTimeout.
func WithIdleTimeout(d time.Duration) Option {
	return func(o *options) { o.idleTimeout = d }
}

// DefaultPatience is how long a call waits for a connection that is known to be
// down, at most. Where connections are refused, calls return sooner.
const DefaultPatience = 250 * time.Millisecond

// WithPatience makes calls wait up to d for a connection that is known to be
// down. The default is DefaultPatience.
func WithPatience(d time.Duration) Option {
	return func(o *options) { o.patience = d }
}

// NewProvisioner returns a Provisioner, which connects when it is first called
// and must be closed.
func NewProvisioner(opts ...Option) *Provisioner {
	o := options{log: slog.New(slog.DiscardHandler), idleTimeout: DefaultIdleTimeout, patience: DefaultPatience}
	for _, opt := range opts {
		opt(&o)
	}
	m := newMetrics(o.registerer)
	return &Provisioner{
		log:     o.log,
		metrics: m,
		pool: &pool{
			options: connectionOptions{log: o.log, patience: o.patience, onPhase: m.moved},
			idle:    o.idleTimeout,
			members: make(map[fingerprint]*member),
		},
	}
}

// Close closes all connections. Calls that are under way end with an error, and
// so do later ones.
func (p *Provisioner) Close() {
	p.pool.close()
}

// EnsureStreamAndConsumer makes sure that the component's stream and consumer
// exist and are as they should be. Where they are, it makes two requests and
// writes nothing.
//
// It takes no longer than the request's timeout or ctx allow, connecting
// included. While NATS is known to be down it returns at once, and no later than
// DefaultPatience. It can be called at any time and any number of times at once.
//
// An error is always an *Error. The Outcome is good with an error, too: it has
// the changes that were made before it.
func (p *Provisioner) EnsureStreamAndConsumer(ctx context.Context, r Request) (Outcome, error) {
	start := time.Now()
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	e := &ensurance{request: r, api: apiOf(r.Settings), metrics: p.metrics, outcome: Outcome{
		Stream:   StreamName(r.Component.Name),
		Consumer: ConsumerName(r.Component.Name),
	}}
	err := p.ensure(ctx, e)
	for _, change := range e.outcome.Changes {
		p.log.Info(change, "component", r.Component.owner())
	}
	if err != nil {
		p.metrics.ensured(string(err.Reason), time.Since(start))
		p.log.Debug("The stream and the consumer are not as they should be", "component", r.Component.owner(), "reason", err.Reason, "message", err.Message, "error", err.Err)
		e.outcome.State = ""
		return e.outcome, err
	}
	p.metrics.ensured(string(e.outcome.State), time.Since(start))
	return e.outcome, nil
}

// ensure does it over the connection for the settings.
func (p *Provisioner) ensure(ctx context.Context, e *ensurance) *Error {
	if len(e.request.Component.JobSubjects) == 0 {
		// The server would take the stream's name for one.
		return &Error{Reason: Rejected, Message: "The component has no job subjects; name at least one in jobSubjects."}
	}
	m, err := p.pool.acquire(e.request.Settings)
	if err != nil {
		return e.explain(err, e.stream())
	}
	defer p.pool.release(m)
	if err := m.await(ctx); err != nil {
		return e.explain(err, e.stream())
	}
	e.connection = m.connection
	return e.run(ctx)
}

// An ensurance is one call for one component.
type ensurance struct {
	request    Request
	connection *connection
	api        api
	metrics    *metrics
	outcome    Outcome
	// retryUntil is how long errors that may pass are worth another attempt.
	retryUntil time.Time
}

// run looks and settles, and starts over if someone else wrote between our look
// and our write, if the connection was lost and is back, or if a cluster refused
// a write or did not answer it, as while it elects a leader.
func (e *ensurance) run(ctx context.Context) *Error {
	e.retryUntil = halfOf(ctx)
	pauses := pauses{until: e.retryUntil}
	for look := 1; ; {
		thing, err := e.lookAndSettle(ctx)
		var down *downError
		switch {
		case err == nil:
			return nil
		case transient(err) && pauses.take(ctx):
			continue
		case errors.As(err, &down):
			// Why there is no connection now says more than that it was lost.
			if now := e.connection.await(ctx); now != nil {
				return e.explain(now, thing)
			}
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			// A write without an answer. The next look shows what became of it.
		case !overtaken(err):
			return e.explain(err, thing)
		}
		if look++; look > maxLooks {
			return e.explain(err, thing)
		}
	}
}

// lookAndSettle looks at both, and settles the stream and then the consumer. It
// returns which of them an error is about.
func (e *ensurance) lookAndSettle(ctx context.Context) (thing string, err error) {
	stream, consumer, thing, err := e.look(ctx)
	if err != nil {
		return thing, err
	}
	ofStream, err := e.settleStream(ctx, stream)
	if err != nil {
		return e.stream(), err
	}
	ofConsumer, err := e.settleConsumer(ctx, consumer)
	if err != nil {
		return e.consumer(), err
	}
	e.outcome.State = Provisioned
	if ofStream == Adopted || ofConsumer == Adopted {
		e.outcome.State = Adopted
	}
	return "", nil
}

// look returns the configs of the stream and the consumer, nil where there is
// none. It asks for both at once.
func (e *ensurance) look(ctx context.Context) (*jetstream.StreamConfig, *jetstream.ConsumerConfig, string, error) {
	var (
		consumer    *jetstream.ConsumerConfig
		consumerErr error
		done        = make(chan struct{})
	)
	go func() {
		defer close(done)
		consumer, consumerErr = lookUp(ctx, e.connection, e.retryUntil, e.api.consumerInfo(e.outcome.Stream, e.outcome.Consumer), e.consumerConfig)
	}()
	stream, streamErr := lookUp(ctx, e.connection, e.retryUntil, e.api.streamInfo(e.outcome.Stream), e.streamConfig)
	<-done

	// One of them is reported, and always the same one.
	switch {
	case streamErr != nil:
		return nil, nil, e.stream(), streamErr
	case consumerErr != nil:
		return nil, nil, e.consumer(), consumerErr
	}
	return stream, consumer, "", nil
}

func (e *ensurance) streamConfig(ctx context.Context, js jetstream.JetStream) (*jetstream.StreamConfig, error) {
	s, err := js.Stream(ctx, e.outcome.Stream)
	if err != nil {
		return nil, err
	}
	return &s.CachedInfo().Config, nil
}

func (e *ensurance) consumerConfig(ctx context.Context, js jetstream.JetStream) (*jetstream.ConsumerConfig, error) {
	c, err := js.Consumer(ctx, e.outcome.Stream, e.outcome.Consumer)
	if errors.Is(err, jetstream.ErrNotPullConsumer) {
		// Not one that we would make; to see whose it is.
		push, err := js.PushConsumer(ctx, e.outcome.Stream, e.outcome.Consumer)
		if err != nil {
			return nil, err
		}
		return &push.CachedInfo().Config, nil
	}
	if err != nil {
		return nil, err
	}
	return &c.CachedInfo().Config, nil
}

// lookUp asks for a config, and again if there is no answer or an error that may
// pass at once, the latter until retryUntil. It returns nil if the server says
// that there is none.
func lookUp[C any](ctx context.Context, c *connection, retryUntil time.Time, subject string, request func(context.Context, jetstream.JetStream) (*C, error)) (*C, error) {
	pauses := pauses{until: retryUntil}
	for try := 1; ; {
		config, err := tryOnce(ctx, maxTries-try+1, c, subject, request)
		switch {
		case err == nil:
			return config, nil
		case missing(err):
			return nil, nil //nolint:nilnil // Absent is no error.
		case ctx.Err() != nil:
			return nil, err
		case errors.Is(err, context.DeadlineExceeded) && try < maxTries:
			try++
		case transient(err) && pauses.take(ctx):
		default:
			return nil, err
		}
	}
}

// pauses between attempts, each twice as long as the one before.
type pauses struct {
	until time.Time
	last  time.Duration
}

// take takes a pause, and reports whether there was still time for it.
func (p *pauses) take(ctx context.Context) bool {
	p.last = min(max(firstPause, 2*p.last), longestPause)
	if time.Now().Add(p.last).After(p.until) {
		return false
	}
	select {
	case <-time.After(p.last):
		return true
	case <-ctx.Done():
		return false
	}
}

// halfOf returns when half of the time that ctx has left is over.
func halfOf(ctx context.Context) time.Time {
	deadline, _ := ctx.Deadline()
	return deadline.Add(-time.Until(deadline) / 2)
}

// tryOnce asks once, and leaves as much time for each of the tries left. The
// context has a deadline, that of the call.
func tryOnce[C any](ctx context.Context, triesLeft int, c *connection, subject string, request func(context.Context, jetstream.JetStream) (*C, error)) (*C, error) {
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(triesLeft))
	defer cancel()
	return ask(ctx, c, subject, request)
}

// settleStream does what the verdict on the stream says.
func (e *ensurance) settleStream(ctx context.Context, found *jetstream.StreamConfig) (State, error) {
	v := judgeStream(found, e.request)
	if v.action == leave {
		return e.settled(v, nil)
	}
	writing, cancel := context.WithDeadline(ctx, halfOf(ctx))
	defer cancel()
	var err error
	switch v.action {
	case create:
		_, err = ask(writing, e.connection, e.api.streamCreate(e.outcome.Stream), func(ctx context.Context, js jetstream.JetStream) (jetstream.Stream, error) {
			return js.CreateStream(ctx, StreamConfigFor(e.request.Component, e.request.Replicas))
		})
		e.wrote(err, streamCreate, v.change)
	case update:
		if v, err = updateStream(writing, e.connection, e.api, e.request); v.action == update {
			e.wrote(err, streamUpdate, v.change)
		}
	}
	if code(err) == codeSubjectOverlap {
		return "", e.overlap(ctx, err)
	}
	return e.settled(v, err)
}

// settleConsumer does what the verdict on the consumer says.
func (e *ensurance) settleConsumer(ctx context.Context, found *jetstream.ConsumerConfig) (State, error) {
	v := judgeConsumer(found, e.request)
	if v.action == leave {
		return e.settled(v, nil)
	}
	writing, cancel := context.WithDeadline(ctx, halfOf(ctx))
	defer cancel()
	var err error
	switch v.action {
	case create:
		_, err = ask(writing, e.connection, e.api.consumerCreate(e.outcome.Stream, e.outcome.Consumer), func(ctx context.Context, js jetstream.JetStream) (jetstream.Consumer, error) {
			return js.CreateConsumer(ctx, e.outcome.Stream, ConsumerConfigFor(e.request.Component))
		})
		e.wrote(err, consumerCreate, v.change)
	case update:
		if v, err = updateConsumer(writing, e.connection, e.api, e.request); v.action == update {
			e.wrote(err, consumerUpdate, v.change)
		}
	}
	return e.settled(v, err)
}

// wrote notes a write that succeeded.
func (e *ensurance) wrote(err error, w write, change string) {
	if err == nil {
		e.metrics.wrote(w)
		e.outcome.Changes = append(e.outcome.Changes, change)
	}
}

// settled returns the state that a verdict and the write that followed from it
// led to.
func (e *ensurance) settled(v verdict, err error) (State, error) {
	switch {
	case err != nil:
		return "", err
	case v.err != nil:
		return "", v.err
	}
	return v.state, nil
}

// overlap names the stream that stores some of the job subjects already, if it
// may be looked for.
func (e *ensurance) overlap(ctx context.Context, cause error) *Error {
	subjects := e.request.Component.JobSubjects
	other, theirs, err := e.overlapping(ctx)
	if err != nil || other == "" {
		return &Error{Reason: SubjectOverlap, Err: errors.Join(cause, err), Message: fmt.Sprintf(
			"Another stream stores %s already, in part or in full; change the component's jobSubjects, or ask the platform team which stream that is.",
			listed(subjects))}
	}
	var mine []string
	for _, s := range subjects {
		if slices.ContainsFunc(theirs, func(t string) bool { return SubjectsOverlap(s, t) }) {
			mine = append(mine, s)
		}
	}
	return &Error{Reason: SubjectOverlap, Err: cause, Message: fmt.Sprintf(
		"The stream %s, with %s, overlaps the component's %s; change the component's jobSubjects, or ask the platform team to change that stream.",
		other, listed(theirs), listed(mine))}
}

// overlapping returns the first stream, by name, that overlaps the first of the
// subjects that any overlaps, and the subjects of that stream.
func (e *ensurance) overlapping(ctx context.Context) (string, []string, error) {
	for _, subject := range e.request.Component.JobSubjects {
		names, err := ask(ctx, e.connection, e.api.streamNames(), func(ctx context.Context, js jetstream.JetStream) ([]string, error) {
			lister := js.StreamNames(ctx, jetstream.WithStreamListSubject(subject))
			var names []string
			for name := range lister.Name() {
				names = append(names, name)
			}
			return names, lister.Err()
		})
		if err != nil {
			return "", nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			if name == e.outcome.Stream {
				continue
			}
			other, err := ask(ctx, e.connection, e.api.streamInfo(name), func(ctx context.Context, js jetstream.JetStream) ([]string, error) {
				s, err := js.Stream(ctx, name)
				if err != nil {
					return nil, err
				}
				return slices.Sorted(slices.Values(s.CachedInfo().Config.Subjects)), nil
			})
			return name, other, err
		}
	}
	return "", nil, nil
}

func (e *ensurance) stream() string {
	return "stream " + e.outcome.Stream
}

func (e *ensurance) consumer() string {
	return "consumer " + e.outcome.Consumer + " of stream " + e.outcome.Stream
}

func (e *ensurance) explain(err error, thing string) *Error {
	return explain(err, thing, e.request.Settings)
}
