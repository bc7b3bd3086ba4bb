package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
func (t tools) resolve(c *command) (err error) {
	if c.path != "" {
		return nil
	}
	if c.tool == "" {
		c.tool = c.name
	}
	c.path, err = t.ask("--path", c.tool)
	return err
}

// moduleDir is the folder of the module that a program is built from, for the
// CRDs and the like that it comes with.
func (t tools) moduleDir(program string) (string, error) {
	return t.ask("--module", program)
}

// version of a program.
func (t tools) version(program string) (string, error) {
	return t.ask("--version", program)
}

func (t tools) ask(question, program string) (string, error) {
	cmd := exec.Command(filepath.Join(t.root, "tools", "build"), question, program)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("tools/build %s %s: %w: %s", question, program, err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}
