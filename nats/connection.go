package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// dialTimeout of one attempt on one server, TLS and login included.
	dialTimeout = 2 * time.Second

	// pingInterval and maxPings notice within half a minute that the other end
	// is gone without a word.
	pingInterval = 10 * time.Second
	maxPings     = 2

	// retryAfter is how long a connection rests between attempts that nobody
	// waits for; up to half as much is added at random.
	retryAfter = time.Second

	// minRest between attempts that calls wait for.
	minRest = 50 * time.Millisecond

	// mutedFor is how long a connection that may not subscribe to its inbox is
	// kept before another takes its place, which may have been given the right.
	mutedFor = time.Second

	// inboxPrefix of the subjects on which replies arrive: nats.go's default.
	inboxPrefix = "_INBOX."
)

// Causes why a connection is down, besides what nats.go reports.
var (
	errConnecting   = errors.New("no connection yet")
	errRefused      = errors.New("no connection")
	errIdle         = errors.New("the connection was closed for want of calls")
	errDisconnected = errors.New("the connection was lost before the answer")
)

// A downError is a request that was not made, or not answered, for want of a
// connection.
type downError struct {
	cause error
}

func (e *downError) Error() string {
	return fmt.Sprintf("not connected to NATS: %v", e.cause)
}

func (e *downError) Unwrap() error {
	return e.cause
}

// A deniedError is a request for which the permission is missing.
type deniedError struct {
	// subscribe, not publish.
	subscribe bool
	subject   string
}

func (e *deniedError) Error() string {
	if e.subscribe {
		return "no permission to subscribe to " + e.subject
	}
	return "no permission to publish to " + e.subject
}

// A phase of a connection.
type phase string

const (
	connecting   phase = "connecting"
	connected    phase = "connected"
	reconnecting phase = "reconnecting"
	closed       phase = "closed"
)

// connectionOptions are the same for all connections of a Provisioner.
type connectionOptions struct {
	log *slog.Logger
	// patience of a call with a connection that is known to be down.
	patience time.Duration
	// onPhase is told of each change, the first of which is from "".
	onPhase func(from, to phase)
}

// A connection to NATS that is kept up. It follows nats.go's callbacks instead
// of asking it for its status, since nats.go holds its lock while it dials.
type connection struct {
	connectionOptions

	domain string
	// onClosed when it was closed, but not by close.
	onClosed func()

	// ctx ends when the connection is closed.
	ctx    context.Context
	cancel context.CancelFunc
	// kick ends a rest between two attempts.
	kick chan struct{}
	// running goroutines of the connection and its requests.
	running sync.WaitGroup

	mu    sync.Mutex
	phase phase
	// changed is closed, and replaced, when anything below changes.
	changed chan struct{}
	// cause of being down.
	cause error
	// attempts that failed since it is down, each on all servers.
	attempts int
	// resting between two attempts.
	resting bool
	nc      *natsgo.Conn
	js      jetstream.JetStream
	waiting map[*waiter]struct{}
	// mutedAt is when the subscription to the inbox was denied, if it was.
	mutedAt time.Time
}

// A waiter is a request that waits for its answer.
type waiter struct {
	subject string
	cancel  context.CancelCauseFunc
}

// dial returns a connection, and connects in the background until it is closed.
func dial(s Settings, o connectionOptions, onClosed func()) (*connection, error) {
	ctx, cancel := context.WithCancel(context.Background())
	o.log = o.log.With("nats", s.address())
	c := &connection{
		connectionOptions: o,

		domain:   s.JetStreamDomain,
		onClosed: onClosed,
		ctx:      ctx,
		cancel:   cancel,
		kick:     make(chan struct{}, 1),
		phase:    connecting,
		cause:    errConnecting,
		changed:  make(chan struct{}),
		waiting:  make(map[*waiter]struct{}),
	}
	options, err := c.options(s)
	if err != nil {
		cancel()
		return nil, err
	}
	c.onPhase("", connecting)
	c.running.Go(func() {
		nc, err := options.Connect()
		if err != nil {
			// With RetryOnFailedConnect these are settings that nats.go cannot use.
			c.log.Error("Cannot connect to NATS", "error", err)
			c.end(err)
			return
		}
		c.mu.Lock()
		c.nc = nc
		ended := c.phase == closed
		c.mu.Unlock()
		if ended {
			nc.Close()
		}
	})
	return c, nil
}

func (c *connection) options(s Settings) (natsgo.Options, error) {
	o := natsgo.GetDefaultOptions()
	for _, raw := range s.urls() {
		u, err := parseURL(raw)
		if err != nil {
			return o, err
		}
		o.Servers = append(o.Servers, u.String())
	}
	o.Name = ManagedBy
	o.Timeout = dialTimeout
	o.PingInterval = pingInterval
	o.MaxPingsOut = maxPings
	o.CustomDialer = dialer{ctx: c.ctx}
	o.SkipHostLookup = true // The dialer looks the host up, and can be stopped.

	// Keep at it whatever happens: NATS may come up after us, and a login may
	// be refused only until a Secret is rotated.
	o.RetryOnFailedConnect = true
	o.MaxReconnect = -1
	o.IgnoreAuthErrorAbort = true
	o.CustomReconnectDelayCB = c.rest
	// Send nothing later than it was asked for: a create whose call has
	// returned must not be carried out at the next reconnect.
	o.ReconnectBufSize = -1

	o.ConnectedCB = c.onConnected
	o.ReconnectedCB = c.onConnected
	o.DisconnectedErrCB = func(_ *natsgo.Conn, err error) { c.onDown(err) }
	o.ReconnectErrCB = func(_ *natsgo.Conn, err error) { c.onAttemptFailed(err) }
	o.AsyncErrorCB = func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { c.onError(err) }
	o.ClosedCB = func(nc *natsgo.Conn) {
		// By NATS, if not by close: nats.go gives up after some errors.
		c.end(cmp.Or(nc.LastError(), errRefused))
	}
	return o, errors.Join(login(&o, s), encrypt(&o, s))
}

// await returns when there is a connection, or why there is none. It waits for
// the first one as long as ctx allows. With one that is known to be down it
// sets off an attempt to connect and waits for that one only, and no longer
// than the patience: so the first call after NATS is back succeeds, and one
// while it is not returns as soon as a connection is refused.
func (c *connection) await(ctx context.Context) error {
	var (
		enough    <-chan time.Time
		first     bool
		failAfter = -1
	)
	for {
		c.mu.Lock()
		p, cause, changed := c.phase, c.cause, c.changed
		switch {
		case p == connected:
			c.mu.Unlock()
			return nil
		case p == closed, p == reconnecting && first, p == reconnecting && failAfter >= 0 && c.attempts >= failAfter:
			c.mu.Unlock()
			return &downError{cause: cause}
		case p == connecting:
			first = true
		case failAfter < 0:
			// An attempt under way may have begun before NATS was back.
			failAfter = c.attempts + 1
			if !c.resting {
				failAfter++
			}
			select {
			case c.kick <- struct{}{}:
			default:
			}
			timer := time.NewTimer(c.patience)
			defer timer.Stop()
			enough = timer.C
		}
		c.mu.Unlock()

		select {
		case <-changed:
		case <-enough:
			return &downError{cause: cause}
		case <-ctx.Done():
			return &downError{cause: cause}
		}
	}
}

// ask makes one request, which goes out on subject, and returns its answer. It
// ends when ctx does, and at once when the connection is lost or the permission
// for the subject turns out to be missing.
func ask[T any](ctx context.Context, c *connection, subject string, request func(context.Context, jetstream.JetStream) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	w := &waiter{subject: subject, cancel: cancel}
	js, err := c.enter(w)
	if err != nil {
		return none, err
	}
	defer c.leave(w)

	type answer struct {
		value T
		err   error
	}
	// In a goroutine, since nats.go does not look at ctx while it waits for its
	// lock, which it holds while it dials.
	answers := make(chan answer, 1)
	go func() {
		defer c.running.Done()
		// A panic here would end the process, since it is not the caller's
		// goroutine.
		defer func() {
			if p := recover(); p != nil {
				answers <- answer{err: fmt.Errorf("the request panicked: %v", p)}
			}
		}()
		value, err := request(ctx, js)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		if errors.Is(a.err, natsgo.ErrReconnectBufExceeded) || errors.Is(a.err, natsgo.ErrConnectionClosed) || errors.Is(a.err, natsgo.ErrDisconnected) {
			// nats.go knows before its callback has told us, who would think
			// that there is a connection. The callback cancels ctx.
			told := time.NewTimer(c.patience)
			defer told.Stop()
			select {
			case <-ctx.Done():
			case <-told.C:
			}
			return none, &downError{cause: a.err}
		}
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// enter registers a request, which is running from then on.
func (c *connection) enter(w *waiter) (jetstream.JetStream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != connected {
		return nil, &downError{cause: c.cause}
	}
	if !c.mutedAt.IsZero() {
		return nil, errMuted()
	}
	c.waiting[w] = struct{}{}
	c.running.Add(1)
	return c.js, nil
}

func (c *connection) leave(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, w)
}

// muted reports whether the connection gets no answers and another should take
// its place.
func (c *connection) muted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.mutedAt.IsZero() && time.Since(c.mutedAt) > mutedFor
}

func errMuted() error {
	return &deniedError{subscribe: true, subject: inboxPrefix + wildcardRest}
}

// close closes the connection for good, which the cause explains to calls that
// still use it.
func (c *connection) close(cause error) {
	c.end(cause)
	c.mu.Lock()
	nc := c.nc
	c.mu.Unlock()
	if nc != nil {
		nc.Close()
	}
}

// end marks the connection as closed, and tells its owner of it.
func (c *connection) end(cause error) {
	c.mu.Lock()
	ended := c.phase == closed
	if !ended {
		c.become(closed, cause)
	}
	c.mu.Unlock()
	if !ended {
		c.cancel()
		c.onClosed()
	}
}

// become changes the phase. What waits for an answer that cannot come any more
// is told so. The lock is held.
func (c *connection) become(p phase, cause error) {
	c.onPhase(c.phase, p)
	c.phase, c.cause = p, cause
	if p == connected {
		c.mutedAt = time.Time{}
	} else {
		for w := range c.waiting {
			w.cancel(&downError{cause: errDisconnected})
		}
	}
	c.tell()
}

// tell wakes all that await. The lock is held.
func (c *connection) tell() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *connection) onConnected(nc *natsgo.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == closed {
		return
	}
	if c.js == nil {
		js, err := newJetStream(nc, c.domain)
		if err != nil {
			c.log.Error("Cannot use JetStream", "error", err)
			return
		}
		c.js = js
	}
	c.nc = nc
	c.become(connected, nil)
	c.log.Info("Connected to NATS")
}

func newJetStream(nc *natsgo.Conn, domain string) (jetstream.JetStream, error) {
	if domain == "" {
		return jetstream.New(nc)
	}
	return jetstream.NewWithDomain(nc, domain)
}

// onDown is called when a connection is lost.
func (c *connection) onDown(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == closed {
		return
	}
	c.attempts = 0
	c.become(reconnecting, cmp.Or(err, errRefused))
	c.log.Info("Lost the connection to NATS", "error", err)
}

// onAttemptFailed is called when the first attempt to connect fails, and when
// later ones do before NATS says anything.
func (c *connection) onAttemptFailed(err error) {
	c.log.Debug("Cannot connect to NATS", "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != connecting {
		return
	}
	c.become(reconnecting, err)
	c.log.Info("Cannot connect to NATS; trying on", "error", err)
}

// rest is called between attempts to connect, with the number of times it was
// called since the connection was lost. It rests, until a call is waiting.
func (c *connection) rest(times int) time.Duration {
	c.mu.Lock()
	c.resting = true
	// The first rest comes before the first attempt.
	if times > 1 {
		c.attempts++
		if c.phase == reconnecting {
			c.cause = errRefused
			if c.nc != nil {
				// What went wrong after NATS was reached; otherwise nil.
				c.cause = cmp.Or(c.nc.LastError(), errRefused)
			}
		}
		c.tell()
	}
	c.mu.Unlock()

	c.sleep(minRest, nil)
	c.sleep(retryAfter-minRest+rand.N(retryAfter/2), c.kick)

	c.mu.Lock()
	c.resting = false
	c.mu.Unlock()
	return 0
}

// sleep for d, or until woken or closed.
func (c *connection) sleep(d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-c.ctx.Done():
	}
}

// permissionDenied is how a server says so. The subject is as we sent it.
var permissionDenied = regexp.MustCompile(`Permissions Violation for (Publish|Subscription) to "([^"]+)"`)

// onError is called with errors that belong to no request. A missing permission
// is one: the server does not answer a request that is not allowed, so nothing
// but this tells it apart from a slow one.
func (c *connection) onError(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := permissionDenied.FindStringSubmatch(err.Error())
	if m == nil {
		level := slog.LevelWarn
		if c.phase != connected {
			level = slog.LevelDebug // A login that is refused at each attempt.
		}
		c.log.Log(c.ctx, level, "NATS reports an error", "error", err)
		return
	}
	switch subject, subscribe := m[2], m[1] == "Subscription"; {
	case subscribe && strings.HasPrefix(subject, inboxPrefix):
		c.mutedAt = time.Now()
		for w := range c.waiting {
			w.cancel(errMuted())
		}
	case !subscribe:
		for w := range c.waiting {
			if w.subject == subject {
				w.cancel(&deniedError{subject: subject})
			}
		}
	}
}

// A dialer can be stopped, also during a TLS handshake.
type dialer struct {
	ctx context.Context //nolint:containedctx // nats.go's interface passes none.
}

// Dial implements nats.go's CustomDialer.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(d.ctx, network, address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	return &stoppable{Conn: conn, stop: stop}, nil
}

// A stoppable connection no longer waits to be stopped once it is closed.
type stoppable struct {
	net.Conn

	stop func() bool
}

func (s *stoppable) Close() error {
	s.stop()
	return s.Conn.Close()
}
