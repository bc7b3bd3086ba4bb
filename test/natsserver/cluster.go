package natsserver

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A Cluster is three servers that form one JetStream.
type Cluster struct {
	Servers [3]*Server

	// URL of all three.
	URL string

	// Requests that the function sent to any of them.
	Requests *Requests

	t testing.TB
}

// StartCluster starts a cluster that stops when the test ends.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{Requests: newRequests(t), t: t}
	var routes, urls []string
	var clientPorts, routePorts [3]int
	for i := range c.Servers {
		clientPorts[i], routePorts[i] = FreePort(t), FreePort(t)
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", routePorts[i]))
		c.Servers[i] = newServer(t, clientPorts[i], c.Requests)
		urls = append(urls, c.Servers[i].URL)
	}
	for i, s := range c.Servers {
		s.configure(fmt.Sprintf("server_name: s%d\nlisten: \"127.0.0.1:%d\"\n%scluster { name: test, listen: \"127.0.0.1:%d\", routes: [%s] }\n",
			i+1, clientPorts[i], jetStream(s.dir, ""), routePorts[i], strings.Join(routes, ", ")))
	}
	c.URL = strings.Join(urls, ",")
	for _, s := range c.Servers {
		s.Start()
	}
	c.AwaitLeader()
	return c
}

// AwaitLeader waits until the servers have a JetStream leader that knows them
// all.
func (c *Cluster) AwaitLeader() {
	c.t.Helper()
	c.await("the cluster has no JetStream leader", func() bool {
		running := 0
		for _, s := range c.Servers {
			if s.Running() != nil {
				running++
			}
		}
		for _, s := range c.Servers {
			if r := s.Running(); r != nil && r.JetStreamIsLeader() && len(r.JetStreamClusterPeers()) >= running {
				return true
			}
		}
		return false
	})
}

// StreamLeader returns the server that leads a stream of the global account.
func (c *Cluster) StreamLeader(stream string) *Server {
	c.t.Helper()
	var leader *Server
	c.await("stream "+stream+" has no leader", func() bool {
		for _, s := range c.Servers {
			if r := s.Running(); r != nil && r.JetStreamIsStreamLeader("$G", stream) {
				leader = s
				return true
			}
		}
		return false
	})
	return leader
}

func (c *Cluster) await(failure string, done func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(startTimeout); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal(failure)
		}
	}
}
