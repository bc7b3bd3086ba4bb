package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The pinned programs of tools/ that rendering needs.
const (
	crossplaneCore     = "crossplane"
	crossplaneCLI      = "crossplane-cli"
	natsServer         = "nats-server"
	providerKubernetes = "provider-kubernetes"
)

// A Repository is a checkout of this repository.
type Repository struct {
	Root string
}

// FindRepository looks upwards from the working directory.
func FindRepository() (Repository, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Repository{}, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "tools", "build")); err == nil {
			return Repository{Root: dir}, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return Repository{}, errors.New("not in the repository: no tools/build here or above")
		}
		dir = parent
	}
}

// Path of a file of the repository.
func (r Repository) Path(elements ...string) string {
	return filepath.Join(append([]string{r.Root}, elements...)...)
}

// BuildTools builds the pinned programs that are not yet built, and tells of
// it on progress. The first time takes minutes.
func (r Repository) BuildTools(ctx context.Context, progress io.Writer) error {
	cmd := command(ctx, r.Path("tools", "build"), crossplaneCore, crossplaneCLI, natsServer)
	cmd.Stdout, cmd.Stderr = progress, progress
	return cmd.Run()
}

// BuildFunction builds the function's program.
func (r Repository) BuildFunction(ctx context.Context, out string) error {
	_, err := output(command(ctx, "go", "build", "-C", r.Root, "-o", out, "."))
	return err
}

// tool returns where a pinned program is.
func (r Repository) tool(ctx context.Context, program string) (string, error) {
	return output(command(ctx, r.Path("tools", "build"), "--path", program))
}

// toolModule returns the folder of the module that a pinned program is built
// from.
func (r Repository) toolModule(ctx context.Context, program string) (string, error) {
	return output(command(ctx, r.Path("tools", "build"), "--module", program))
}

// output runs a command and returns what it printed, less the last newline.
func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
