package lab

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
)

// ClusterMonitoringEndpoint is where KEDA asks for the depth of a queue in a
// cluster, by default: the monitoring port of the Service "nats" in the
// namespace "tmi-platform".
const ClusterMonitoringEndpoint = "nats.tmi-platform.svc:8222"

// NATS is the lab's nats-server with JetStream.
type NATS struct {
	*Process
	// URL for clients.
	URL string
	// Monitoring is the host:port of its monitoring endpoint.
	Monitoring string

	dir string
}

// startNATS starts nats-server. A lab has one server, without TLS or
// passwords: those are the subject of the function's own tests.
func (l *Lab) startNATS(ctx context.Context) error {
	var clients, monitoring int
	if err := l.ports.freeAll(&clients, &monitoring); err != nil {
		return err
	}
	n := &NATS{
		URL:        "nats://" + loopback(clients),
		Monitoring: loopback(monitoring),
		dir:        l.path("jetstream"),
	}
	p, err := l.startProcess(ctx, command{
		name: "nats-server",
		args: []string{
			"--addr=127.0.0.1",
			portFlag("--port", clients),
			portFlag("--http_port", monitoring),
			"--jetstream",
			"--store_dir=" + n.dir,
		},
		ready: serves("http://" + n.Monitoring + "/healthz"),
	})
	n.Process = p
	l.NATS = n
	return err
}

// Erase stops the server, if it runs, and empties its disk: all streams and
// consumers are gone when it is started again.
func (n *NATS) Erase() error {
	n.Stop()
	return os.RemoveAll(n.dir)
}

// startClusterNames starts a proxy by which a part of the lab reaches a
// Service by its name in the cluster, where names of Services have no meaning
// on this machine. It serves KEDA only, whose requests for
// ClusterMonitoringEndpoint go to the lab's nats-server, so that components
// can have the endpoint that they have in production.
func (l *Lab) startClusterNames(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	services := map[string]string{ClusterMonitoringEndpoint: l.NATS.Monitoring}
	server := &http.Server{ReadHeaderTimeout: startTimeout, Handler: &httputil.ReverseProxy{
		// That a server which a test has stopped does not answer is no news.
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			// A Service that is not there fails as in a cluster: nothing
			// listens behind its name.
			r.Out.URL.Host = services[r.In.Host]
			r.Out.Host = r.In.Host
		},
	}}
	l.clusterNames = "http://" + listener.Addr().String()
	l.atStop(func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	return nil
}
