// Command generate makes everything in this repository that follows from the
// Go types in input/: the deepcopy code beside them, the CRD of the function's
// Input, and both CompositeResourceDefinitions.
//
// `go generate ./...` runs it. With -check it writes nothing, and fails if a
// file differs from what it would write.
//
// It is a module of its own, so that neither the function nor its users ever
// depend on the generators.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// files holds generated files by their path in the repository.
type files map[string][]byte

func main() {
	root := flag.String("root", "../..", "the repository")
	check := flag.Bool("check", false, "write nothing; fail if a generated file is stale")
	flag.Parse()

	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	generated, err := generate(root)
	if err != nil {
		return err
	}
	if check {
		return compare(root, generated)
	}
	return write(root, generated)
}

// generate makes all files in memory.
func generate(root string) (files, error) {
	generated, err := deepcopies(root, "input/v1alpha1", "input/v1beta1")
	if err != nil {
		return nil, err
	}

	input, err := definition(root, "input/v1beta1")
	if err != nil {
		return nil, err
	}
	generated["package/function/input/tmi.fn.crossplane.io_inputs.yaml"] = withHeader("input/v1beta1", input)

	component, err := definition(root, "input/v1alpha1")
	if err != nil {
		return nil, err
	}
	claim, err := claimXRD(component)
	if err != nil {
		return nil, err
	}
	generated["package/configuration/claim/definition.yaml"] = withHeader("input/v1alpha1", claim)

	namespaced, err := namespacedXRD(component)
	if err != nil {
		return nil, err
	}
	generated["package/configuration/namespaced/definition.yaml"] = withHeader("input/v1alpha1", namespaced)

	return generated, nil
}

func withHeader(source string, yaml []byte) []byte {
	header := fmt.Sprintf("# Generated from the Go types in %s by `go generate ./...`. Do not edit.\n", source)
	return append([]byte(header), yaml...)
}

func write(root string, generated files) error {
	for name, content := range generated {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func compare(root string, generated files) error {
	var stale []string
	for name, want := range generated {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if !bytes.Equal(got, want) {
			stale = append(stale, name)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	slices.Sort(stale)
	return fmt.Errorf("stale, run `make generate` and commit what it changes: %v", stale)
}
