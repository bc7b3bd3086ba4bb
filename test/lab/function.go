package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// runFunction runs this repository's function for its installed package.
func (l *Lab) runFunction(ctx context.Context, p Package) error {
	var serving, metrics int
	if err := l.ports.freeAll(&serving, &metrics); err != nil {
		return err
	}
	certificates := l.path("function", "tls")
	l.FunctionMetrics = "http://" + loopback(metrics) + "/metrics"
	return l.runPackage(ctx, p, packageRuntime{
		certificates: certificates,
		endpoint:     "dns:///localhost:" + port(serving),
		run: func(ctx context.Context) error {
			var err error
			l.Function, err = l.startProcess(ctx, command{
				name: "function",
				path: l.functionBinary(),
				args: []string{
					"--debug",
					"--address=" + loopback(serving),
					"--metrics-address=" + loopback(metrics),
					"--tls-server-certs-dir=" + certificates,
				},
				env:   []string{"TMI_NATS_URL=" + l.NATS.URL},
				ready: listens(loopback(serving)),
			})
			return err
		},
	})
}

func (l *Lab) functionBinary() string { return l.path("function", "function") }

// buildFunction builds the function from the working tree.
func (l *Lab) buildFunction(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(l.functionBinary()), 0o700); err != nil {
		return err
	}
	return l.run(ctx, command{
		name: "build-function",
		path: "go",
		args: []string{"-C", l.tools.root, "build", "-o", l.functionBinary(), "."},
	})
}

// builtPackage finds the files of a package that `make xpkg` left, and their
// version.
func builtPackage(root, name string) (version string, files []string, err error) {
	dir := filepath.Join(root, "_output", "xpkg")
	files, err = filepath.Glob(filepath.Join(dir, name+"*.xpkg"))
	if err != nil {
		return "", nil, err
	}
	if len(files) == 0 {
		return "", nil, fmt.Errorf("there is no package %s in %s: run `make xpkg`", name, dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, "version"))
	return strings.TrimSpace(string(b)), files, err
}
