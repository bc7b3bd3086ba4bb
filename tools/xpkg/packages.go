package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

const (
	// packagedRegistry is the registry that package/configuration names.
	packagedRegistry = "xpkg.crossplane.io"
	// functionPath is the function's path in any registry. Crossplane makes
	// the Function's name from it, which the Compositions refer to.
	functionPath = "tmi-dev/" + functionName
)

// functionDependency is how package/configuration depends on the function: the
// lines that a build writes its registry and its versions into.
var functionDependency = regexp.MustCompile(`(?m)^( +)package: ` + regexp.QuoteMeta(packagedRegistry+"/"+functionPath) + `\n +version: .*$`)

// function builds the function's package for one architecture.
func (b *builder) function(ctx context.Context, arch string) error {
	program := filepath.Join(b.tmp, "function-"+arch)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program, ".")
	build.Dir = b.root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=")
	if err := run(ctx, build); err != nil {
		return err
	}
	image := filepath.Join(b.tmp, "runtime-"+arch+".tar")
	if err := writeRuntimeImage(image, program, arch); err != nil {
		return err
	}
	return b.xpkg(ctx, functionName+"-"+arch, filepath.Join(b.root, "package", "function"), "--embed-runtime-image-tarball="+image)
}

// configuration builds a Configuration's package. It holds no program, so one
// file is for every architecture.
func (b *builder) configuration(ctx context.Context, name string) error {
	staged := filepath.Join(b.tmp, name)
	if err := os.CopyFS(staged, os.DirFS(filepath.Join(b.root, "package", "configuration", name))); err != nil {
		return err
	}
	if err := dependOn(filepath.Join(staged, "crossplane.yaml"), b.registry, b.constraint); err != nil {
		return err
	}
	return b.xpkg(ctx, configurationName+name, staged)
}

// constraintFor returns which versions of the function the Configurations of
// that version take: no older one, and none with a new major version. Releases
// take only releases; a pre-release takes pre-releases, too.
func constraintFor(version string) (string, error) {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	if err != nil || v.Metadata() != "" {
		return "", fmt.Errorf("-version %s must be a semantic version such as v1.2.3 or v1.2.3-rc.1", version)
	}
	next := fmt.Sprintf("v%d.0.0", v.Major()+1)
	if v.Prerelease() != "" {
		// Without a pre-release of its own, the bound would take none.
		next += "-0"
	}
	return fmt.Sprintf(">=%s, <%s", version, next), nil
}

// dependOn makes a Configuration look for the function in registry, in a
// version that the constraint allows.
func dependOn(path, registry, constraint string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := len(functionDependency.FindAll(content, -1)); n != 1 {
		return fmt.Errorf("%s depends on %s/%s %d times, not once", path, packagedRegistry, functionPath, n)
	}
	changed := functionDependency.ReplaceAllString(string(content),
		fmt.Sprintf("${1}package: %s/%s\n${1}version: %q", registry, functionPath, constraint))
	return os.WriteFile(path, []byte(changed), 0o644)
}

// xpkg runs `crossplane xpkg build`.
func (b *builder) xpkg(ctx context.Context, name, dir string, flags ...string) error {
	file := filepath.Join(b.out, name+extension)
	args := append([]string{
		"xpkg", "build",
		"--package-root=" + dir,
		"--package-file=" + file,
		// Not the working directory's: there are none.
		"--examples-root=" + filepath.Join(b.tmp, "no-examples"),
	}, flags...)
	if err := run(ctx, exec.CommandContext(ctx, b.cli, args...)); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("%s (%.1f MB)\n", file, float64(info.Size())/1e6)
	return nil
}
