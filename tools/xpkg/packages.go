package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// packagedRegistry is the registry that package/configuration names.
	packagedRegistry = "xpkg.crossplane.io"
	// functionPath is the function's path in any registry. Crossplane makes
	// the Function's name from it, which the Compositions refer to.
	functionPath = "tmi-dev/function-tmicomponent"
)

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
	return b.xpkg(ctx, "function-tmicomponent-"+arch, filepath.Join(b.root, "package", "function"), "--embed-runtime-image-tarball="+image)
}

// configuration builds a Configuration's package. It holds no program, so one
// file is for every architecture.
func (b *builder) configuration(ctx context.Context, name string) error {
	staged := filepath.Join(b.tmp, name)
	if err := os.CopyFS(staged, os.DirFS(filepath.Join(b.root, "package", "configuration", name))); err != nil {
		return err
	}
	if err := dependOnRegistry(filepath.Join(staged, "crossplane.yaml"), b.registry); err != nil {
		return err
	}
	return b.xpkg(ctx, "configuration-tmicomponent-"+name, staged)
}

// dependOnRegistry makes a Configuration look for the function in registry.
func dependOnRegistry(path, registry string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	dependency := packagedRegistry + "/" + functionPath
	if n := strings.Count(string(content), dependency); n != 1 {
		return fmt.Errorf("%s names %s %d times, not once", path, dependency, n)
	}
	changed := strings.Replace(string(content), dependency, registry+"/"+functionPath, 1)
	return os.WriteFile(path, []byte(changed), 0o644)
}

// xpkg runs `crossplane xpkg build`.
func (b *builder) xpkg(ctx context.Context, name, dir string, flags ...string) error {
	file := filepath.Join(b.out, name+".xpkg")
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
