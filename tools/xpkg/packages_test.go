package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

// The Configurations must find the function where REGISTRY says and as VERSION
// says, and all else where it is.
func TestDependOn(t *testing.T) {
	for _, configuration := range configurations {
		path := filepath.Join(t.TempDir(), "crossplane.yaml")
		original, err := os.ReadFile(filepath.Join("..", "..", "package", "configuration", configuration, "crossplane.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, original, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := dependOn(path, "mirror.example.com:5000", ">=v1.2.3, <v2.0.0"); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"      package: mirror.example.com:5000/tmi-dev/function-tmicomponent\n      version: \">=v1.2.3, <v2.0.0\"\n",
			"      package: xpkg.crossplane.io/crossplane-contrib/provider-kubernetes\n      version: \">=v1.2.0\"\n",
		} {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s does not say %q:\n%s", configuration, want, content)
			}
		}
	}
}

// Held against the library that Crossplane reads constraints with, in the
// version that it has.
func TestConstraintTakesItsVersions(t *testing.T) {
	for version, c := range map[string]struct{ takes, refuses []string }{
		"v0.1.0":      {[]string{"v0.1.0", "v0.2.0"}, []string{"v0.1.0-rc.1", "v0.0.9", "v0.2.0-rc.1", "v1.0.0-rc.1", "v1.0.0"}},
		"v0.1.0-rc.1": {[]string{"v0.1.0-rc.1", "v0.1.0-rc.2", "v0.1.0"}, []string{"v0.1.0-beta.1", "v1.0.0-rc.1", "v1.0.0"}},
		"v1.2.3":      {[]string{"v1.2.3", "v1.10.0"}, []string{"v1.2.2", "v2.0.0"}},
	} {
		constraint, err := constraintFor(version)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := semver.NewConstraint(constraint)
		if err != nil {
			t.Fatalf("%s: %v", constraint, err)
		}
		for _, v := range c.takes {
			if !parsed.Check(semver.MustParse(v)) {
				t.Errorf("%s: %q does not take %s", version, constraint, v)
			}
		}
		for _, v := range c.refuses {
			if parsed.Check(semver.MustParse(v)) {
				t.Errorf("%s: %q takes %s", version, constraint, v)
			}
		}
	}
	for _, version := range []string{"latest", "v1.2", "v1.2.3+build", "1.2.3 "} {
		if constraint, err := constraintFor(version); err == nil {
			t.Errorf("%q is no version to push, but gave %q", version, constraint)
		}
	}
}

func TestEmptiedRemovesPackagesOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left := func() int {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if err := emptied(dir); err != nil {
		t.Fatal(err)
	}
	write("function.xpkg")
	write(versionFile)
	if err := emptied(dir); err != nil || left() != 0 {
		t.Errorf("packages were not removed: %v", err)
	}
	write("function.xpkg")
	write("thesis.tex")
	if err := emptied(dir); err == nil || left() != 2 {
		t.Errorf("a folder with something else was touched: %v", err)
	}
}

func TestPrintPush(t *testing.T) {
	printed := &strings.Builder{}
	b := builder{root: "/src", out: "/src/_output/xpkg", cli: "/src/.cache/bin/crossplane-cli", registry: "registry.example.com", version: "v1.2.3"}
	b.printPush(printed)
	for _, want := range []string{
		".cache/bin/crossplane-cli xpkg push --package-files=_output/xpkg/function-tmicomponent-amd64.xpkg,_output/xpkg/function-tmicomponent-arm64.xpkg",
		"registry.example.com/tmi-dev/function-tmicomponent:v1.2.3\n",
		"--package-files=_output/xpkg/configuration-tmicomponent-claim.xpkg",
		"registry.example.com/tmi-dev/configuration-tmicomponent-namespaced:v1.2.3\n",
	} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, printed)
		}
	}
}

// Crossplane names the Function after its repository's path, with a dash for
// each slash, and the Compositions must call it by that name.
func TestCompositionsCallFunctionByItsName(t *testing.T) {
	name := strings.ReplaceAll(functionPath, "/", "-")
	for _, configuration := range configurations {
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
