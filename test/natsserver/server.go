// Package natsserver runs real nats-servers in the test process: one, or a
// cluster, with JetStream on a temporary directory, in any configuration.
//
// Every server watches what the function asks of JetStream. A request that
// deletes or purges anything fails the test, whatever the test is about.
package natsserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// startTimeout of a server, generous since tests share few cores.
const startTimeout = 30 * time.Second

// Options of a server.
type Options struct {
	// Config in nats-server's own syntax, for what the other fields do not say:
	// authorization, accounts, TLS, an operator, limits.
	Config string

	// NoJetStream starts the server without JetStream.
	NoJetStream bool

	// Domain of JetStream.
	Domain string
}

// A Server is a nats-server that a test can stop and start again.
type Server struct {
	// URL of the server, without a user. It stays the same when the server is
	// started again.
	URL string

	// Requests that the function sent, since the server was first started.
	Requests *Requests

	t    testing.TB
	port int
	conf string
	dir  string

	mu      sync.Mutex
	running *server.Server
}

// Start starts a server that stops when the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := New(t, o)
	s.Start()
	return s
}

// New returns a server that is not started yet.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s := newServer(t, FreePort(t), newRequests(t))
	s.configure(s.config(o))
	return s
}

// config returns the options in the syntax of nats-server.
func (s *Server) config(o Options) string {
	text := fmt.Sprintf("listen: \"127.0.0.1:%d\"\n", s.port)
	if !o.NoJetStream {
		text += jetStream(s.dir, o.Domain)
	}
	return text + o.Config
}

func newServer(t testing.TB, port int, requests *Requests) *Server {
	t.Helper()
	s := &Server{
		URL:      fmt.Sprintf("nats://127.0.0.1:%d", port),
		Requests: requests,
		t:        t,
		port:     port,
		dir:      filepath.Join(t.TempDir(), "jetstream"),
	}
	s.conf = filepath.Join(t.TempDir(), "nats.conf")
	t.Cleanup(s.Stop)
	return s
}

func jetStream(dir, domain string) string {
	text := fmt.Sprintf("jetstream { store_dir: %q, max_memory_store: 256MB, max_file_store: 1GB", dir)
	if domain != "" {
		text += fmt.Sprintf(", domain: %q", domain)
	}
	return text + " }\n"
}

func (s *Server) configure(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.conf, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// Start starts the server, on the address and the directory that it had before.
func (s *Server) Start() {
	s.t.Helper()
	if err := s.start(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) start() error {
	opts, err := server.ProcessConfigFile(s.conf)
	if err != nil {
		return err
	}
	opts.NoSigs = true
	running, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	running.SetLogger(&tap{requests: s.Requests}, false, true)
	running.Start()
	if !running.ReadyForConnections(startTimeout) {
		running.Shutdown()
		return fmt.Errorf("the nats-server at %s does not start", s.URL)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = running
	return nil
}

// Stop stops the server, if it runs. What JetStream stored stays.
func (s *Server) Stop() {
	s.mu.Lock()
	running := s.running
	s.running = nil
	s.mu.Unlock()
	if running != nil {
		running.Shutdown()
		running.WaitForShutdown()
	}
}

// Erase removes what JetStream stored. The server must not run.
func (s *Server) Erase() {
	s.t.Helper()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Fatal(err)
	}
}

// Configure gives the server other options for when it is started again.
func (s *Server) Configure(o Options) {
	s.t.Helper()
	s.configure(s.config(o))
}

// Reconfigure gives the running server other options, without a restart.
func (s *Server) Reconfigure(o Options) {
	s.t.Helper()
	s.Configure(o)
	if err := s.Running().Reload(); err != nil {
		s.t.Fatal(err)
	}
}

// Running returns the server itself, or nil if it does not run.
func (s *Server) Running() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Connect returns a connection of the test's own, which is closed when the test
// ends. Its requests are not watched.
func (s *Server) Connect(opts ...nats.Option) *nats.Conn {
	s.t.Helper()
	nc, err := nats.Connect(s.URL, append([]nats.Option{nats.Name("test"), nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond)}, opts...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(nc.Close)
	return nc
}

// Ports are taken from below those that the kernel gives to outgoing
// connections, so that a server finds its own free when it is started again.
const (
	firstPort = 21000
	lastPort  = 31000
)

var ports = struct {
	sync.Mutex

	next int
}{next: firstPort + os.Getpid()*61%(lastPort-firstPort)}

// FreePort returns a port that is free, and that it has not returned before.
func FreePort(t testing.TB) int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	for range lastPort - firstPort {
		port := ports.next
		if ports.next++; ports.next > lastPort {
			ports.next = firstPort
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		_ = l.Close()
		return port
	}
	t.Fatal("no free port")
	return 0
}
