// Command xpkg builds this repository's three Crossplane packages, for every
// platform, without Docker: the function's program goes into an OCI image made
// here, which `crossplane xpkg build` makes a package of.
//
// The same sources give the same packages, byte for byte, wherever and
// whenever they are built.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// architectures of Linux that the function runs on.
var architectures = []string{"amd64", "arm64"}

// A builder builds packages.
type builder struct {
	root     string // of the repository
	out      string // folder for the packages
	tmp      string // folder that is removed when all is done
	cli      string // the Crossplane CLI
	registry string // host that the Configurations look for the function on
}

func main() {
	b := builder{}
	flag.StringVar(&b.root, "root", "../..", "the repository")
	flag.StringVar(&b.out, "out", "", "folder to write the packages to (required)")
	flag.StringVar(&b.cli, "crossplane", "", "the Crossplane CLI (required)")
	flag.StringVar(&b.registry, "registry", packagedRegistry, "registry that the Configurations find the function in")
	version := flag.String("version", "", "version that the packages will be pushed as (required)")
	flag.Parse()
	if b.out == "" || b.cli == "" || *version == "" {
		flag.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.build(ctx, *version); err != nil {
		fmt.Fprintln(os.Stderr, "xpkg:", err)
		os.Exit(1)
	}
}

func (b *builder) build(ctx context.Context, version string) (err error) {
	if strings.ContainsRune(b.registry, '/') {
		return fmt.Errorf("-registry %s must be a host alone: the function's name in the Compositions follows from the path after it", b.registry)
	}
	for _, path := range []*string{&b.root, &b.out, &b.cli} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if b.tmp, err = os.MkdirTemp("", "xpkg-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.tmp)
	// Nothing of an earlier build may be left to be pushed with this one.
	if err := os.RemoveAll(b.out); err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}

	for _, arch := range architectures {
		if err := b.function(ctx, arch); err != nil {
			return err
		}
	}
	for _, configuration := range []string{"claim", "namespaced"} {
		if err := b.configuration(ctx, configuration); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(b.out, "version"), []byte(version+"\n"), 0o644)
}

// run runs a program, and shows what it said only if it failed.
func run(ctx context.Context, cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}
