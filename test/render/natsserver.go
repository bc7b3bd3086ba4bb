package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A NATSServer is a nats-server with JetStream, running.
type NATSServer struct {
	*process

	URL string
}

// StartNATSServer starts the pinned nats-server, with its streams in dir. The
// server chooses its port, and tells it by a file.
func (r Repository) StartNATSServer(ctx context.Context, dir string) (*NATSServer, error) {
	program, err := r.tool(ctx, natsServer)
	if err != nil {
		return nil, err
	}
	s := &NATSServer{}
	cmd := command(ctx, program,
		"--addr=127.0.0.1", "--port=-1", "--ports_file_dir="+dir,
		"--jetstream", "--store_dir="+filepath.Join(dir, "jetstream"))
	p, err := start(ctx, cmd, func() (err error) {
		s.URL, err = urlFromPortsFile(dir)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.process = p
	return s, nil
}

func urlFromPortsFile(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.ports"))
	if err != nil {
		return "", err
	}
	if len(paths) != 1 {
		return "", errors.New("no ports file yet")
	}
	content, err := os.ReadFile(paths[0])
	if err != nil {
		return "", err
	}
	ports := struct {
		NATS []string `json:"nats"`
	}{}
	if err := json.Unmarshal(content, &ports); err != nil {
		return "", err
	}
	if len(ports.NATS) == 0 {
		return "", fmt.Errorf("no address in %s", paths[0])
	}
	return ports.NATS[0], nil
}
