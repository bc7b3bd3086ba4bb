package render

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// What all tests share: the repository, Crossplane and one running function,
// which has no NATS but what a Composition's input names.
var (
	repository Repository
	crossplane Crossplane
	function   *Function
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if repository, err = FindRepository(); err != nil {
		return 0, err
	}
	if err := repository.BuildTools(ctx, os.Stderr); err != nil {
		return 0, err
	}
	if crossplane, err = NewCrossplane(ctx, repository); err != nil {
		return 0, err
	}
	tmp, err := os.MkdirTemp("", "render-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	program := filepath.Join(tmp, "function")
	if err := repository.BuildFunction(ctx, program); err != nil {
		return 0, err
	}
	if function, err = StartFunction(ctx, program, ""); err != nil {
		return 0, err
	}
	defer function.Stop()
	return m.Run(), nil
}

// A form is one of the ways in which a component's YAML becomes a composite
// resource.
type form struct {
	name          string
	configuration string
	input         map[string]any // of the Composition's step
	// composite writes the composite to path.
	composite func(t *testing.T, component, path string)
}

var forms = []form{
	{
		name:          "claim",
		configuration: "claim",
		composite: func(t *testing.T, component, path string) {
			if err := crossplane.WriteCompositeOf(t.Context(), component, readManifest(t, component).Name, path); err != nil {
				t.Fatal(err)
			}
		},
	},
	{
		name:          "cluster",
		configuration: "claim",
		input:         map[string]any{"targetNamespace": "workers"},
		composite: func(t *testing.T, component, path string) {
			xr := readYAML(t, component)
			xr["kind"] = CompositeKind
			delete(xr["metadata"].(map[string]any), "namespace")
			writeYAML(t, path, xr)
		},
	},
	{
		name:          "namespaced",
		configuration: "namespaced",
		composite: func(t *testing.T, component, path string) {
			writeYAML(t, path, readYAML(t, component))
		},
	},
}

func (f form) definition() string { return definition(f.configuration) }

func definition(configuration string) string {
	return repository.Path("package", "configuration", configuration, "definition.yaml")
}

// render renders a component in one form. extra is added to the input of the
// Composition's step.
func (f form) render(t *testing.T, component string, extra map[string]any) (string, error) {
	t.Helper()
	dir := t.TempDir()
	composite := filepath.Join(dir, "xr.yaml")
	f.composite(t, component, composite)

	composition := readYAML(t, repository.Path("package", "configuration", f.configuration, "composition.yaml"))
	step := composition["spec"].(map[string]any)["pipeline"].([]any)[0].(map[string]any)
	input := step["input"].(map[string]any)
	maps.Copy(input, f.input)
	maps.Copy(input, extra)
	changed := filepath.Join(dir, "composition.yaml")
	writeYAML(t, changed, composition)

	return crossplane.Render(t.Context(), composite, Pipeline{
		Definition:  f.definition(),
		Composition: changed,
		Functions:   repository.Path("example", "functions.yaml"),
		Target:      function.Target,
	})
}

// eachCase runs a test for every component in a folder of ../cases, in every
// form.
func eachCase(t *testing.T, folder string, test func(t *testing.T, path string, f form)) {
	paths, err := filepath.Glob(filepath.Join("..", "cases", folder, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		for _, f := range forms {
			t.Run(caseName(path)+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				test(t, path, f)
			})
		}
	}
}

func caseName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".yaml") }

func TestValidWithoutNATS(t *testing.T) {
	eachCase(t, "valid", func(t *testing.T, path string, f form) {
		out, err := f.render(t, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		compareWithGolden(t, out, "valid", caseName(path), f.name+".yaml")
		validate(t, f, out)
	})
}

func TestValidWithNATS(t *testing.T) {
	eachCase(t, "valid", func(t *testing.T, path string, f form) {
		server, err := repository.StartNATSServer(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()

		out, err := f.render(t, path, map[string]any{"nats": map[string]any{"url": server.URL}})
		if err != nil {
			t.Fatal(err)
		}
		compareWithGolden(t, out, "valid", caseName(path), f.name+"-nats.yaml")

		jetStream := &strings.Builder{}
		if err := DescribeJetStream(t.Context(), jetStream, server.URL); err != nil {
			t.Fatal(err)
		}
		compareWithGolden(t, jetStream.String(), "valid", caseName(path), f.name+"-nats.jetstream")
	})
}

// validate holds what was rendered against the definitions of all its kinds.
func validate(t *testing.T, f form, rendered string) {
	t.Helper()
	provider, err := repository.toolModule(t.Context(), providerKubernetes)
	if err != nil {
		t.Fatal(err)
	}
	definitions := []string{
		f.definition(),
		filepath.Join(provider, "package", "crds", "kubernetes.crossplane.io_objects.yaml"),
		filepath.Join(provider, "package", "crds", "kubernetes.m.crossplane.io_objects.yaml"),
	}

	// Results have no definition.
	documents := slices.DeleteFunc(strings.Split(rendered, documentStart), isResult)
	path := filepath.Join(t.TempDir(), "rendered.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(documents, documentStart)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := crossplane.Validate(t.Context(), definitions, path, t.TempDir()); err != nil {
		t.Error(err)
	}
}

// faults are the fields that the message for each invalid component must name:
// those in the first line of its file.
var faults = map[string][]string{
	"bad-subjects":           {"spec.jobSubjects[1]", "spec.jobSubjects[2]", "spec.jobSubjects[3]", "spec.jobSubjects[4]"},
	"empty-allowlist":        {"spec.allowlist", "spec.scaling.minReplicas"},
	"env-clash":              {"spec.secretRefs[0].name", `spec.config: Invalid value: "TMI_NATS_TLS_CA_FILE"`, `spec.config: Invalid value: "bad=name"`, "spec.config[TMI_JOB_ACK_WAIT]"},
	"locator-without-egress": {"spec.egress", "inputMode"},
	"metadata-cidr":          {"spec.allowlist.cidrs[0]", "spec.allowlist.cidrs[1]", "spec.allowlist.cidrs[2]", "spec.allowlist.cidrs[3]"},
	"scratch-over-certs":     {"spec.scratchVolume.mountPath", "spec.scratchVolume.sizeLimit", "spec.resources.requests[cpu]", ".name"},
}

func TestInvalid(t *testing.T) {
	eachCase(t, "invalid", func(t *testing.T, path string, f form) {
		out, err := f.render(t, path, nil)
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok {
			t.Fatalf("not refused: %v\n%s", err, out)
		}
		fields, ok := faults[caseName(path)]
		if !ok {
			t.Fatalf("faults does not say which fields the message must name")
		}
		for _, field := range fields {
			if !strings.Contains(refused.Message, field) {
				t.Errorf("the message does not name %s:\n%s", field, refused.Message)
			}
		}
		compareWithGolden(t, refused.Message+"\n", "invalid", caseName(path), f.name+".txt")
	})
}

// example/xr.yaml is there to be rendered by hand, and must not fall behind
// the component that it is made of.
func TestExampleCompositeIsOfExampleComponent(t *testing.T) {
	component := repository.Path("example", "component.yaml")
	path := filepath.Join(t.TempDir(), "xr.yaml")
	forms[0].composite(t, component, path)
	want, got := readYAML(t, path), readYAML(t, repository.Path("example", "xr.yaml"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("example/xr.yaml is not the composite of example/component.yaml (-want +got):\n%s", diff)
	}
}

func TestEveryFormRendersExample(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			out, err := f.render(t, repository.Path("example", "component.yaml"), nil)
			if err != nil {
				t.Fatal(err)
			}
			validate(t, f, out)
		})
	}
}

// compareWithGolden holds got against a file in testdata, or writes it there.
func compareWithGolden(t *testing.T, got string, elements ...string) {
	t.Helper()
	path := filepath.Join(append([]string{"testdata"}, elements...)...)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./render -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("not as in %s (-want +got); go test ./render -update rewrites it:\n%s", path, diff)
	}
}

func readManifest(t *testing.T, path string) Manifest {
	t.Helper()
	m, err := ReadManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readYAML(t *testing.T, path string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parsed := map[string]any{}
	if err := yaml.Unmarshal(content, &parsed); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return parsed
}

func writeYAML(t *testing.T, path string, value any) {
	t.Helper()
	content, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
