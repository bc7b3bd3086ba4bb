package lab

import (
	"context"
	"fmt"
)

// startEtcd starts the store of the API server.
func (l *Lab) startEtcd(ctx context.Context) error {
	var client, peer int
	if err := l.ports.freeAll(&client, &peer); err != nil {
		return err
	}
	l.etcdURL = "http://" + loopback(client)
	peerURL := "http://" + loopback(peer)
	return l.start(ctx, command{
		name: "etcd",
		args: []string{
			"--name=lab",
			"--data-dir=" + l.path("etcd"),
			"--listen-client-urls=" + l.etcdURL,
			"--advertise-client-urls=" + l.etcdURL,
			"--listen-peer-urls=" + peerURL,
			"--initial-advertise-peer-urls=" + peerURL,
			fmt.Sprintf("--initial-cluster=lab=%s", peerURL),
			// The lab's data needs not survive a power cut.
			"--unsafe-no-fsync",
			"--log-level=warn",
		},
		ready: serves(l.etcdURL + "/health"),
	})
}
