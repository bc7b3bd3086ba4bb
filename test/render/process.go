package render

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	pollInterval = 20 * time.Millisecond
	startTimeout = 30 * time.Second
	stopTimeout  = 5 * time.Second
)

// command makes a command that ends, with all that it started, when ctx does.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	// A group of its own, so that a Ctrl-C reaches us alone and we stop things
	// in order.
	cmd.SysProcAttr = childAttributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	return cmd
}

// A process serves until it is stopped.
type process struct {
	cmd  *exec.Cmd
	log  logBuffer
	done chan struct{} // closed when the process has ended
}

// start starts a program and waits until ready returns no error.
func start(ctx context.Context, cmd *exec.Cmd, ready func() error) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // why it ended is in its log
	}()

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return p, nil
		}
		select {
		case <-p.done:
			return nil, fmt.Errorf("%s ended instead of serving:\n%s", cmd.Path, p.log.String())
		case <-ctx.Done():
			p.Stop()
			return nil, fmt.Errorf("%s does not serve: %w (%w):\n%s", cmd.Path, err, context.Cause(ctx), p.log.String())
		case <-time.After(pollInterval):
		}
	}
}

// Stop ends the process and returns when it has ended.
func (p *process) Stop() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	}
}

// listens returns an error as long as nothing listens at address.
func listens(ctx context.Context, address string) func() error {
	return func() error {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// freeAddress returns a loopback address that nothing listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// A logBuffer keeps what a process says, and can be read meanwhile.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// retryTakenPort starts something that is told its port, again if another
// process took the port in between.
func retryTakenPort[T any](attempt func() (T, error)) (started T, err error) {
	for range 3 {
		if started, err = attempt(); err == nil {
			return started, nil
		}
		if !strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
			break
		}
	}
	return started, err
}
