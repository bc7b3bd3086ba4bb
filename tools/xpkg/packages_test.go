package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Configurations must find the function where REGISTRY says, and all else
// where it is.
func TestDependOnRegistry(t *testing.T) {
	for _, configuration := range []string{"claim", "namespaced"} {
		path := filepath.Join(t.TempDir(), "crossplane.yaml")
		original, err := os.ReadFile(filepath.Join("..", "..", "package", "configuration", configuration, "crossplane.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, original, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := dependOnRegistry(path, "mirror.example.com:5000"); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"package: mirror.example.com:5000/tmi-dev/function-tmicomponent\n",
			"package: xpkg.crossplane.io/crossplane-contrib/provider-kubernetes\n",
		} {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s does not say %q:\n%s", configuration, want, content)
			}
		}
	}
}

// Crossplane names the Function after its repository's path, with a dash for
// each slash, and the Compositions must call it by that name.
func TestCompositionsCallFunctionByItsName(t *testing.T) {
	name := strings.ReplaceAll(functionPath, "/", "-")
	for _, configuration := range []string{"claim", "namespaced"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "package", "configuration", configuration, "composition.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), "name: "+name+"\n") {
			t.Errorf("the Composition of %s does not name %s", configuration, name)
		}
	}
}

func TestSameProgramMakesSameImage(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	var images [2][]byte
	for i := range images {
		path := filepath.Join(dir, "image.tar")
		if err := writeRuntimeImage(path, program, "arm64"); err != nil {
			t.Fatal(err)
		}
		var err error
		if images[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(images[0], images[1]) {
		t.Error("two images of one program differ")
	}
}
