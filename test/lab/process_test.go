package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(t *testing.T, script string, ready func(context.Context) error) *Process {
	t.Helper()
	p := newProcess(t.TempDir(), command{name: "shell", path: "/bin/sh", args: []string{"-c", script}, ready: ready})
	t.Cleanup(p.Stop)
	return p
}

func TestProcessStopsWithItsChildren(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	// The child ignores the polite signal, and its parent forgets it.
	p := shell(t, `(trap "" TERM; echo $$ >/dev/null; sh -c 'echo $PPID' >`+pidFile+`; sleep 600) & sleep 600`, func(context.Context) error {
		b, err := os.ReadFile(pidFile)
		if err == nil && len(b) == 0 {
			err = errors.New("not written yet")
		}
		return err
	})
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if p.Running() {
		t.Error("the process still runs")
	}
	if err := Eventually(t.Context(), func(context.Context) error {
		if syscall.Kill(child, 0) == nil && !isZombie(child) {
			return errors.New("its child still runs")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// isZombie says whether a process has ended and only waits to be noticed,
// which is up to who adopts orphans on this machine.
func isZombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}

func TestProcessThatEndsIsNotWaitedFor(t *testing.T) {
	p := shell(t, "echo no such luck; exit 3", func(context.Context) error { return errors.New("not ready") })
	begin := time.Now()
	err := p.Start(t.Context())
	if err == nil {
		t.Fatal("a process that ended was taken for ready")
	}
	if time.Since(begin) > startTimeout/2 {
		t.Errorf("it took %s to see that the process had ended", time.Since(begin))
	}
	if !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("the error does not show what the process said: %v", err)
	}
}

func TestProcessStartsAgain(t *testing.T) {
	p := shell(t, "sleep 600", nil)
	for range 2 {
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !p.Running() {
			t.Fatal("it does not run")
		}
		p.Stop()
	}
}

func TestPortsAreHandedOutOnce(t *testing.T) {
	p := newPorts()
	seen := map[int]bool{}
	for range 50 {
		port, err := p.free()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d was handed out twice", port)
		}
		seen[port] = true
	}
}
