// Package natsd runs a nats-server in the test process, with JetStream on a
// temporary directory. Other than package natsserver it takes no trace of what
// its clients ask, which would be most of what a benchmark measures.
package natsd

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// startTimeout is generous, since tests share few cores.
const startTimeout = 30 * time.Second

// Start starts a server that stops when the test ends, and returns its URL.
func Start(tb testing.TB) string {
	tb.Helper()
	s, err := server.NewServer(&server.Options{
		Host:      "127.0.0.1",
		Port:      server.RANDOM_PORT,
		JetStream: true,
		StoreDir:  tb.TempDir(),
		NoLog:     true,
		NoSigs:    true,
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.Start()
	tb.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(startTimeout) {
		tb.Fatal("the nats-server does not start")
	}
	return s.ClientURL()
}

// Connect returns JetStream as a client sees it that is not the function.
func Connect(tb testing.TB, url string) jetstream.JetStream {
	tb.Helper()
	connection, err := nats.Connect(url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(connection.Close)
	js, err := jetstream.New(connection)
	if err != nil {
		tb.Fatal(err)
	}
	return js
}
