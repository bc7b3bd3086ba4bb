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
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
)

// architectures of Linux that the function runs on.
var architectures = []string{"amd64", "arm64"}

// configurations are the folders in package/configuration.
var configurations = []string{"claim", "namespaced"}

// Names of what is built.
const (
	functionName      = "function-tmicomponent"
	configurationName = "configuration-tmicomponent-"
	extension         = ".xpkg"
	versionFile       = "version" // holds the version, for who installs the packages
)

// A builder builds packages.
type builder struct {
	root     string // of the repository
	out      string // folder for the packages
	tmp      string // folder that is removed when all is done
	cli      string // the Crossplane CLI
	registry string // host that the Configurations look for the function on
	version  string // that the packages will be pushed as

	constraint string // which versions of the function the Configurations take
}

func main() {
	b := builder{}
	flag.StringVar(&b.root, "root", "../..", "the repository")
	flag.StringVar(&b.out, "out", "", "folder to write the packages to (required)")
	flag.StringVar(&b.cli, "crossplane", "", "the Crossplane CLI (required)")
	flag.StringVar(&b.registry, "registry", packagedRegistry, "registry that the Configurations find the function in")
	flag.StringVar(&b.version, "version", "", "version that the packages will be pushed as (required)")
	flag.Parse()
	if b.out == "" || b.cli == "" || b.version == "" {
		flag.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.build(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "xpkg:", err)
		os.Exit(1)
	}
}

func (b *builder) build(ctx context.Context) (err error) {
	if strings.ContainsRune(b.registry, '/') {
		return fmt.Errorf("-registry %s must be a host alone: the function's name in the Compositions follows from the path after it", b.registry)
	}
	if b.constraint, err = constraintFor(b.version); err != nil {
		return err
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
	if err := emptied(b.out); err != nil {
		return err
	}

	for _, arch := range architectures {
		if err := b.function(ctx, arch); err != nil {
			return err
		}
	}
	for _, configuration := range configurations {
		if err := b.configuration(ctx, configuration); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.out, versionFile), []byte(b.version+"\n"), 0o644); err != nil {
		return err
	}
	b.printPush(os.Stdout)
	return nil
}

// emptied makes a folder with nothing in it: nothing of an earlier build may be
// left to be pushed with this one. It refuses a folder that holds anything else.
func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, e := range entries {
		if e.Name() != versionFile && filepath.Ext(e.Name()) != extension || !e.Type().IsRegular() {
			return fmt.Errorf("-out %s holds %s, which is no package; nothing was removed", dir, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

// printPush prints the commands that push what was built. Both files of the
// function go into one push: a second one would replace the first.
func (b *builder) printPush(w io.Writer) {
	out, cli := b.fromRoot(b.out), b.fromRoot(b.cli)
	push := func(path string, files ...string) {
		for i, name := range files {
			files[i] = filepath.Join(out, name+extension)
		}
		fmt.Fprintf(w, "  %s xpkg push --package-files=%s \\\n    %s/%s:%s\n", cli, strings.Join(files, ","), b.registry, path, b.version)
	}
	var programs []string
	for _, arch := range architectures {
		programs = append(programs, functionName+"-"+arch)
	}
	fmt.Fprintln(w, "To push them:")
	push(functionPath, programs...)
	for _, name := range configurations {
		push(path.Join(path.Dir(functionPath), configurationName+name), configurationName+name)
	}
}

// fromRoot returns a path as a person types it in the repository.
func (b *builder) fromRoot(file string) string {
	if relative, err := filepath.Rel(b.root, file); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return file
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
