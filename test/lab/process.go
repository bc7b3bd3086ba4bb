package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// pollInterval is how often something that is about to become true is
	// looked at.
	pollInterval = 100 * time.Millisecond
	// startTimeout is how long a part may take to become ready. It is long
	// because the machine may be small and busy; ready parts are not waited
	// for.
	startTimeout = 90 * time.Second
	// stopTimeout is how long a process may take to end after SIGTERM.
	stopTimeout = 5 * time.Second
)

// A command says how to run a program and how to know that it serves.
type command struct {
	name string // of the part; also of its log
	tool string // of tools/, which is run; the name if empty
	path string // of another program, which is no tool
	args []string
	env  []string // added to the lab's own
	// ready returns nil once the program serves. It is called again and again
	// and may be nil.
	ready func(context.Context) error
}

// A Process is a running program. It can be stopped and started again.
type Process struct {
	command command
	logPath string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended
	err  error         // how it ended; to be read after done
}

// newProcess makes a process of a command. Its output is appended to a log of
// its name in dir.
func newProcess(dir string, c command) *Process {
	return &Process{command: c, logPath: filepath.Join(dir, c.name+".log")}
}

// Start runs the program, again if it was stopped, and waits until it is
// ready.
func (p *Process) Start(ctx context.Context) error {
	if err := p.launch(); err != nil {
		return fmt.Errorf("cannot start %s: %w", p.command.name, err)
	}
	if err := p.waitReady(ctx); err != nil {
		p.Stop()
		return fmt.Errorf("%s: %w; the end of its log (%s):\n%s", p.command.name, err, p.logPath, p.logTail())
	}
	return nil
}

func (p *Process) launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	log, err := os.OpenFile(p.logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own descriptor

	//nolint:noctx // It outlives the context that it is started with; Stop ends it.
	cmd := exec.Command(p.command.path, p.command.args...)
	cmd.Env = append(os.Environ(), p.command.env...)
	cmd.Dir = filepath.Dir(p.logPath)
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own: Ctrl-C in the terminal reaches the lab only, which
	// then stops its parts in order.
	cmd.SysProcAttr = processGroup()
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(done)
	}()
	return nil
}

func (p *Process) waitReady(ctx context.Context) error {
	if p.command.ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ctx, stopWaiting := context.WithCancelCause(ctx)
	defer stopWaiting(nil)
	done := p.done
	go func() {
		select {
		case <-done:
			stopWaiting(errors.New("it ended"))
		case <-ctx.Done():
		}
	}()
	return Eventually(ctx, p.command.ready)
}

// Stop ends the program and everything that it started: first politely, then
// not. It is safe to call at any time.
func (p *Process) Stop() {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	signalGroup(cmd, syscall.SIGTERM)
	select {
	case <-done:
	case <-time.After(stopTimeout):
	}
	signalGroup(cmd, syscall.SIGKILL)
	<-done
}

// Running says whether the program runs.
func (p *Process) Running() bool {
	p.mu.Lock()
	done := p.done
	p.mu.Unlock()
	if done == nil {
		return false
	}
	select {
	case <-done:
		return false
	default:
		return true
	}
}

// PID of the program.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// LogPath is the file that the program's output goes to.
func (p *Process) LogPath() string { return p.logPath }

// logTail is the end of the log, for an error message.
func (p *Process) logTail() string {
	const size = 3000
	f, err := os.Open(p.logPath)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > size {
		_, _ = f.Seek(-size, io.SeekEnd)
	}
	b, _ := io.ReadAll(f)
	return string(bytes.TrimSpace(b))
}

// run runs a program to its end. Its output goes to a log of its name in dir,
// and into the error if there is one.
func run(ctx context.Context, dir string, c command) error {
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.SysProcAttr = processGroup()
	cmd.Cancel = func() error { signalGroup(cmd, syscall.SIGKILL); return nil }
	out, err := cmd.CombinedOutput()
	logPath := filepath.Join(dir, c.name+".log")
	if f, openErr := os.OpenFile(logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); openErr == nil {
		_, _ = f.Write(out)
		_ = f.Close()
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", c.name, err, bytes.TrimSpace(out))
	}
	return nil
}

// Eventually calls a function until it returns nil. When the context ends
// first, the error says what the function said last.
func Eventually(ctx context.Context, f func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var last error
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		// What was only cut short says nothing.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up (%w): %w", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
