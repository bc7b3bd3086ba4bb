package lab

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// startRegistry starts an empty package registry. Being on a loopback
// address, it is spoken to without TLS.
func (l *Lab) startRegistry(ctx context.Context) error {
	var port int
	if err := l.ports.freeAll(&port); err != nil {
		return err
	}
	l.registry = loopback(port)
	return l.start(ctx, command{
		name:  "registry",
		tool:  "crane",
		args:  []string{"registry", "serve", "--address=" + l.registry},
		ready: serves("http://" + l.registry + "/v2/"),
	})
}

// A Package is a Crossplane package that the lab can install.
type Package struct {
	Kind    string // Function, Provider or Configuration
	Source  string // its repository, as its users write it
	Version string
	Files   []string // one for each platform
}

// Reference of the package, as its users write it.
func (p Package) Reference() string { return p.Source + ":" + p.Version }

// inRegistry is the path under which the lab's registry holds what users
// know as source: the same without the host.
func inRegistry(source string) string {
	_, repository, _ := strings.Cut(source, "/")
	return repository
}

// push publishes packages to the lab's registry.
func (l *Lab) push(ctx context.Context, packages ...Package) error {
	for _, p := range packages {
		if err := l.run(ctx, command{
			name: "push-" + path.Base(p.Source),
			tool: "crossplane-cli",
			args: []string{
				"xpkg", "push",
				"--package-files=" + strings.Join(p.Files, ","),
				l.registry + "/" + inRegistry(p.Source) + ":" + p.Version,
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

// packages finds what is to be installed: the two packages of this
// repository, as `make xpkg` left them, and the provider that they depend on.
func (l *Lab) packages(ctx context.Context, c Configuration) (function, configuration, provider Package, err error) {
	var meta struct {
		Metadata struct{ Name string }
		Spec     struct {
			DependsOn []struct{ Kind, Package string }
		}
	}
	b, err := os.ReadFile(filepath.Join(l.tools.root, "package", "configuration", string(c), "crossplane.yaml"))
	if err != nil {
		return function, configuration, provider, err
	}
	if err := yaml.Unmarshal(b, &meta); err != nil {
		return function, configuration, provider, err
	}
	for _, d := range meta.Spec.DependsOn {
		switch d.Kind {
		case "Function":
			function = Package{Kind: d.Kind, Source: d.Package}
		case "Provider":
			provider = Package{Kind: d.Kind, Source: d.Package}
		}
	}
	if function.Source == "" || provider.Source == "" {
		return function, configuration, provider, fmt.Errorf("%s depends on no Function or on no Provider", meta.Metadata.Name)
	}
	configuration = Package{Kind: "Configuration", Source: path.Dir(function.Source) + "/" + meta.Metadata.Name}

	for _, p := range []*Package{&function, &configuration} {
		if p.Version, p.Files, err = builtPackage(l.tools.root, path.Base(p.Source)); err != nil {
			return function, configuration, provider, err
		}
	}
	err = l.buildProviderPackage(ctx, &provider)
	return function, configuration, provider, err
}
