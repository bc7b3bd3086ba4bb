package jetstream_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"tmi.dev/function-tmicomponent/test/natsserver"
)

// A proxy stands between the function and a server, and fails as networks do.
type proxy struct {
	URL string

	t      *testing.T
	target string
	addr   string

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	// swallow from the request on that holds this.
	swallow []byte
	// swallowed is closed when that has happened.
	swallowed chan struct{}
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	addr := net.JoinHostPort("127.0.0.1", port(t))
	p := &proxy{URL: "nats://" + addr, t: t, target: target[len("nats://"):], addr: addr}
	p.open()
	t.Cleanup(p.cut)
	return p
}

func port(t *testing.T) string {
	t.Helper()
	return portString(natsserver.FreePort(t))
}

// open accepts connections.
func (p *proxy) open() {
	p.t.Helper()
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(p.t.Context(), "tcp", p.target)
			if err != nil {
				_ = client.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, client, server)
			p.mu.Unlock()
			go p.forward(server, client)
			go func() {
				_, _ = io.Copy(client, server)
				_ = client.Close()
			}()
		}
	}()
}

// forward what the client sends, until it is to be swallowed.
func (p *proxy) forward(server, client net.Conn) {
	defer func() { _ = server.Close() }()
	buf := make([]byte, 64*1024)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.swallow != nil && bytes.Contains(buf[:n], p.swallow) {
			p.swallow = nil
			close(p.swallowed)
			p.mu.Unlock()
			_, _ = io.Copy(io.Discard, client)
			return
		}
		p.mu.Unlock()
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// swallowFrom makes the connection on which what appears go nowhere from then
// on. It returns a channel that is closed when that has happened.
func (p *proxy) swallowFrom(what string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow, p.swallowed = []byte(what), make(chan struct{})
	return p.swallowed
}

// cut closes all connections and accepts no more.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}
