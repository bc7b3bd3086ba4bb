package nats

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"
)

// DefaultIdleTimeout is how long a connection stays without a call.
const DefaultIdleTimeout = 5 * time.Minute

// A pool has one connection for each distinct Settings that were used lately.
// When a Secret is rotated its settings are others, and so is the connection;
// that of the old ones is closed for want of calls.
type pool struct {
	options connectionOptions
	idle    time.Duration

	mu      sync.Mutex
	closed  bool
	members map[fingerprint]*member
	// leaving are connections being closed.
	leaving sync.WaitGroup
}

// A member of the pool.
type member struct {
	*connection

	key fingerprint
	// calls that use the connection now.
	calls int
	// idle closes it when there were none for a while.
	idle *time.Timer
}

// errPoolClosed is returned for calls after Close.
var errPoolClosed = errors.New("the function is shutting down")

// acquire returns the connection for the settings, which may not be connected
// yet. It does not block. The caller releases it.
func (p *pool) acquire(s Settings) (*member, error) {
	key := s.fingerprint()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &downError{cause: errPoolClosed}
	}
	m := p.members[key]
	if m != nil && m.muted() {
		p.remove(m, errMuted())
		m = nil
	}
	if m == nil {
		if err := s.Validate(); err != nil {
			return nil, &settingsError{err: err}
		}
		m = &member{key: key}
		c, err := dial(s, p.options, func() { p.lost(m) })
		if err != nil {
			return nil, &settingsError{err: err}
		}
		m.connection = c
		p.members[key] = m
	}
	m.calls++
	if m.idle != nil {
		m.idle.Stop()
		m.idle = nil
	}
	return m, nil
}

// release gives a connection back.
func (p *pool) release(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.calls--
	if m.calls > 0 || p.members[m.key] != m {
		return
	}
	m.idle = time.AfterFunc(p.idle, func() { p.closeIdle(m) })
}

func (p *pool) closeIdle(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.calls == 0 && p.members[m.key] == m {
		p.remove(m, errIdle)
	}
}

// lost forgets a connection that was closed, so that the next call makes
// another.
func (p *pool) lost(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.members[m.key] == m {
		delete(p.members, m.key)
	}
}

// remove forgets a connection and closes it. The lock is held.
func (p *pool) remove(m *member, cause error) {
	delete(p.members, m.key)
	if m.idle != nil {
		m.idle.Stop()
	}
	p.leaving.Go(func() {
		m.close(cause)
		m.running.Wait()
	})
}

// close closes all connections and waits until nothing runs any more.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for _, m := range p.members {
		p.remove(m, errPoolClosed)
	}
	p.mu.Unlock()
	p.leaving.Wait()
}

// A settingsError is settings that cannot be used.
type settingsError struct {
	err error
}

func (e *settingsError) Error() string {
	return "the NATS settings cannot be used: " + e.err.Error()
}

func (e *settingsError) Unwrap() error {
	return e.err
}

// A fingerprint is the same for equal Settings only. It is a hash, so that no
// secret lies around in a key.
type fingerprint [sha256.Size]byte

func (s Settings) fingerprint() fingerprint {
	c := s.Credentials
	h := sha256.New()
	for _, part := range [...]string{
		s.URL, s.TLSServerName, s.JetStreamDomain, s.CAFile, s.CertFile, s.KeyFile, s.CredsFile,
		string(c.Creds), string(c.NKey), c.Token, c.Username, c.Password, string(c.CA), string(c.Cert), string(c.Key),
	} {
		// With its length, so that no two lists of parts are written alike.
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = h.Write([]byte(part))
	}
	return fingerprint(h.Sum(nil))
}
