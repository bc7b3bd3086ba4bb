package natsserver

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// client is the name under which the function connects.
const client = "function-tmicomponent"

// Requests are the JetStream API requests that the function sent to a server,
// or to any server of a cluster. They are taken from the server's trace of what
// its clients send, so none escapes by its account, its permissions, or for
// want of an answer.
type Requests struct {
	mu       sync.Mutex
	subjects []string
}

// newRequests returns Requests that fail the test when it ends if one of them
// destroyed anything.
func newRequests(t testing.TB) *Requests {
	t.Helper()
	r := &Requests{}
	t.Cleanup(func() {
		if bad := r.Destructive(); len(bad) > 0 {
			t.Errorf("the function must never delete, purge or recreate anything, but it requested %s", strings.Join(bad, ", "))
		}
	})
	return r
}

// All returns the subjects of all requests so far, in order.
func (r *Requests) All() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.subjects)
}

// Since returns the subjects of the requests after the first n.
func (r *Requests) Since(n int) []string {
	return r.All()[n:]
}

// Count returns the number of requests so far.
func (r *Requests) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.subjects)
}

// Writes returns those requests after the first n that are no mere lookups.
func (r *Requests) Writes(n int) []string {
	return slices.DeleteFunc(r.Since(n), func(s string) bool {
		return strings.Contains(s, ".INFO.") || strings.HasSuffix(s, ".NAMES")
	})
}

// destructive requests. PURGE and DELETE are of streams, consumers and messages.
var destructive = regexp.MustCompile(`\.(DELETE|PURGE|RESTORE|REMOVE)(\.|$)`)

// Destructive returns the requests that remove something.
func (r *Requests) Destructive() []string {
	return slices.DeleteFunc(r.All(), func(s string) bool { return !destructive.MatchString(s) })
}

func (r *Requests) add(subject string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subjects = append(r.subjects, subject)
}

// published is a line of the trace in which a client publishes to the JetStream
// API, of the server's own domain or another.
var published = regexp.MustCompile(`<<- \[H?PUB (\$JS\.(?:[^ .]+\.)?API\.\S+) `)

// A tap is a server's logger that picks out the requests.
type tap struct {
	requests *Requests
}

// Tracef implements server.Logger.
func (t *tap) Tracef(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	if !strings.Contains(line, ":"+client+`"`) {
		return
	}
	if m := published.FindStringSubmatch(line); m != nil {
		t.requests.add(m[1])
	}
}

// The rest of the server's log is of no interest.

// Noticef implements server.Logger.
func (*tap) Noticef(string, ...any) {}

// Warnf implements server.Logger.
func (*tap) Warnf(string, ...any) {}

// Fatalf implements server.Logger.
func (*tap) Fatalf(string, ...any) {}

// Errorf implements server.Logger.
func (*tap) Errorf(string, ...any) {}

// Debugf implements server.Logger.
func (*tap) Debugf(string, ...any) {}
