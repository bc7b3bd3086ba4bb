package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are taken from below those that the kernel gives to outgoing
// connections (from 32768 on Linux): of which the parts of a lab have many,
// and one could take a port between our choosing it and its owner's listening
// on it.
const (
	firstPort = 20000
	lastPort  = 32000
)

// ports hands out free loopback ports, none twice.
type ports struct {
	mu   sync.Mutex
	next int
}

func newPorts() *ports {
	return &ports{next: firstPort + rand.IntN(lastPort-firstPort)} //nolint:gosec // It guards nothing.
}

func (p *ports) free() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range lastPort - firstPort {
		port := p.next
		if p.next++; p.next > lastPort {
			p.next = firstPort
		}
		// On all addresses, since some parts cannot be told to listen on the
		// loopback address only.
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return 0, err
		}
		return port, nil
	}
	return 0, errors.New("no free port")
}

// freeAll hands out as many ports as it is given places for them.
func (p *ports) freeAll(places ...*int) error {
	for _, place := range places {
		port, err := p.free()
		if err != nil {
			return err
		}
		*place = port
	}
	return nil
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
