package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// deepcopies makes the DeepCopy methods of the packages in dirs.
func deepcopies(root string, dirs ...string) (files, error) {
	made := files{}
	for _, dir := range dirs {
		code, err := runGenerator(root, dir, deepcopy.Generator{})
		if err != nil {
			return nil, err
		}
		made[filepath.Join(dir, "zz_generated.deepcopy.go")] = code
	}
	return made, nil
}

// definition makes the CustomResourceDefinition of the one kind in dir.
func definition(root, dir string) ([]byte, error) {
	return runGenerator(root, dir, crd.Generator{})
}

// runGenerator runs one of controller-gen's generators for one package, and
// returns the one file that it makes.
func runGenerator(root, dir string, g genall.Generator) ([]byte, error) {
	// The generators load packages from the working directory, which must be
	// in the packages' own module.
	if err := os.Chdir(root); err != nil {
		return nil, err
	}
	runtime, err := genall.Generators{&g}.ForRoots("./" + dir)
	if err != nil {
		return nil, err
	}
	made := &captured{}
	runtime.OutputRules.Default = made
	// The generators print what is wrong themselves.
	if failed := runtime.Run(); failed {
		return nil, fmt.Errorf("cannot generate from %s", dir)
	}
	if made.files != 1 {
		return nil, fmt.Errorf("generated %d files from %s, not 1", made.files, dir)
	}
	return made.Bytes(), nil
}

// captured is an output that is kept in memory.
type captured struct {
	bytes.Buffer

	files int
}

// Open implements genall.OutputRule.
func (c *captured) Open(*loader.Package, string) (io.WriteCloser, error) {
	c.files++
	return c, nil
}

// Close implements io.Closer.
func (c *captured) Close() error { return nil }
