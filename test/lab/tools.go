package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// tools finds the pinned programs, which `tools/build` builds.
type tools struct {
	root string // of this repository
}

// findTools looks for the repository upwards of the working directory.
func findTools() (tools, error) {
	dir, err := os.Getwd()
	if err != nil {
		return tools{}, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "tools", "build")); err == nil {
			return tools{root: dir}, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return tools{}, errors.New("not in the repository: no tools/build here or above")
		}
		dir = parent
	}
}

// resolve fills in the path of a command that is a tool.
func (t tools) resolve(ctx context.Context, c *command) (err error) {
	if c.path != "" {
		return nil
	}
	if c.tool == "" {
		c.tool = c.name
	}
	c.path, err = t.ask(ctx, "--path", c.tool)
	return err
}

// moduleDir is the folder of the module that a program is built from, for the
// CRDs and the like that it comes with.
func (t tools) moduleDir(ctx context.Context, program string) (string, error) {
	return t.ask(ctx, "--module", program)
}

// version of a program.
func (t tools) version(ctx context.Context, program string) (string, error) {
	return t.ask(ctx, "--version", program)
}

func (t tools) ask(ctx context.Context, question, program string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(t.root, "tools", "build"), question, program)
	// It may be building, which takes minutes: end that too when nobody waits
	// for it any more.
	cmd.SysProcAttr = processGroup()
	cmd.Cancel = func() error { signalGroup(cmd, syscall.SIGKILL); return nil }
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("tools/build %s %s: %w: %s", question, program, err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}
