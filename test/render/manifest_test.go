package render

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const good = `
apiVersion: tmi.dev/v1alpha1
kind: TMIComponent
metadata: {name: a, namespace: team-a}
spec: {image: "a:1"}
`

const goodComposite = `
apiVersion: tmi.dev/v1alpha1
kind: XTMIComponent
metadata: {name: a}
spec: {image: "a:1"}
`

func TestReadManifest(t *testing.T) {
	const specAdvice = "example/component.yaml shows what belongs there"
	cases := map[string]struct {
		content string
		want    []string // problems
	}{
		"claim":                     {content: good},
		"composite":                 {content: goodComposite},
		"JSON":                      {content: `{"apiVersion": "tmi.dev/v1alpha1", "kind": "TMIComponent", "metadata": {"name": "a", "namespace": "n"}, "spec": {"image": "a:1"}}`},
		"empty documents around it": {content: "# A comment.\n---" + good + "---\n# Another.\n"},
		"values are the function's": {content: strings.Replace(good, `{image: "a:1"}`, `{image: [], config: {on: y, 8080: 1}, scaling: 3}`, 1)},

		"empty":         {content: "", want: []string{"holds no YAML document"}},
		"comments":      {content: "# Nothing.\n---\n", want: []string{"holds no YAML document"}},
		"two":           {content: good + "---" + good, want: []string{"holds 2 documents; render takes one component per file"}},
		"no YAML":       {content: "a: [", want: []string{"is not YAML: yaml: line 1: did not find expected node content"}},
		"text":          {content: "hello", want: []string{"is not a Kubernetes manifest: it holds text, not apiVersion, kind, metadata and spec"}},
		"list":          {content: "[{kind: TMIComponent}]", want: []string{"is not a Kubernetes manifest: it holds a list, not apiVersion, kind, metadata and spec"}},
		"something":     {content: "services: {web: {image: a}}", want: []string{"is not a Kubernetes manifest: it has neither apiVersion nor kind"}},
		"other version": {content: strings.Replace(good, "v1alpha1", "v1", 1), want: []string{"apiVersion: is tmi.dev/v1; it must be tmi.dev/v1alpha1"}},
		"other kind":    {content: strings.Replace(good, "TMIComponent", "Pod", 1), want: []string{"kind: is Pod; it must be TMIComponent, or XTMIComponent for a claim's composite"}},
		"no kind":       {content: strings.Replace(good, "kind: TMIComponent", "", 1), want: []string{"kind: is missing; it must be TMIComponent, or XTMIComponent for a claim's composite"}},
		"no version":    {content: strings.Replace(goodComposite, "apiVersion: tmi.dev/v1alpha1", "", 1), want: []string{"apiVersion: is missing; it must be tmi.dev/v1alpha1"}},
		"no namespace": {
			content: strings.Replace(good, ", namespace: team-a", "", 1),
			want:    []string{"metadata.namespace: is missing; give the namespace that the component is for, since render knows of no current one"},
		},
		"no metadata": {
			content: strings.Replace(goodComposite, "metadata: {name: a}", "", 1),
			want:    []string{"metadata.name: is missing; give the component's name"},
		},
		"a number for a name":   {content: strings.Replace(good, "name: a", "name: 7", 1), want: []string{"metadata.name: is not text; put quotes around it"}},
		"no spec":               {content: strings.Replace(good, `spec: {image: "a:1"}`, "", 1), want: []string{"spec: is missing; " + specAdvice}},
		"an empty spec":         {content: strings.Replace(good, `spec: {image: "a:1"}`, "spec:", 1), want: []string{"spec: is missing; " + specAdvice}},
		"a spec without fields": {content: strings.Replace(good, `spec: {image: "a:1"}`, "spec: [image]", 1), want: []string{"spec: does not hold fields; " + specAdvice}},
		"several": {
			content: "kind: TMIComponent",
			want: []string{
				"apiVersion: is missing; it must be tmi.dev/v1alpha1",
				"metadata.name: is missing; give the component's name",
				"metadata.namespace: is missing; give the namespace that the component is for, since render knows of no current one",
				"spec: is missing; " + specAdvice,
			},
		},
		"fields given twice": {
			content: good + "  \nkind: TMIComponent\nstatus:\n  a:\n  - b: 1\n    b: 2\n",
			want: []string{
				"kind: is given twice, in lines 3 and 7; keep one",
				"status.a[0].b: is given twice, in lines 10 and 11; keep one",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, tc.content)
			m, err := ReadManifest(path)
			if diff := cmp.Diff(tc.want, problems(t, err, path)); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			if err == nil && m.Name != "a" {
				t.Errorf("name is %q", m.Name)
			}
		})
	}
}

func TestReadManifestThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"missing.yaml": "there is no file " + filepath.Join(here, "missing.yaml"),
		".":            "is a directory; render takes the file of one component",
	} {
		_, err := ReadManifest(path)
		if diff := cmp.Diff([]string{want}, problems(t, err, path)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
	}
}

func TestCheckFields(t *testing.T) {
	const no = ": there is no such field; a cluster would drop it without a word"
	cases := map[string]struct {
		content       string
		configuration string
		want          []string
	}{
		"a claim":                 {content: good, configuration: "claim"},
		"a namespaced composite":  {content: good, configuration: "namespaced"},
		"a claim's composite":     {content: goodComposite, configuration: "claim"},
		"values are not checked":  {content: strings.Replace(good, `{image: "a:1"}`, `{image: [1], scaling: none}`, 1), configuration: "claim"},
		"metadata and status":     {content: good + "status: {conditions: [{type: Ready, status: \"True\"}]}\n", configuration: "claim"},
		"a claim of Crossplane's": {content: strings.Replace(good, "{image", "{compositionRef: {name: x}, resourceRef: {name: a-1}, image", 1), configuration: "claim"},
		"a composite of Crossplane's": {
			content: strings.Replace(goodComposite, "{image", "{claimRef: {name: x, namespace: n}, compositionRef: {name: x}, compositionRevisionRef: {name: x}, "+
				"compositionSelector: {matchLabels: {a: b}}, compositionUpdatePolicy: Manual, resourceRefs: [{name: x}], writeConnectionSecretToRef: {name: x, namespace: n}, image", 1),
			configuration: "claim",
		},
		"a namespaced composite of Crossplane's": {
			content:       strings.Replace(good, "{image", "{crossplane: {compositionRef: {name: x}, resourceRefs: [{name: x}]}, image", 1),
			configuration: "namespaced",
		},
		"misspelt": {
			content: strings.Replace(good, "{image", "{scratchVolum: {mountPath: /a}, jobSubject: [a], scaling: {minReplica: 1}, "+
				"secretRefs: [{name: A}, {nam: B}], config: {ANY: thing}, image", 1) + "specs: {}\n",
			configuration: "claim",
			want: []string{
				"spec.jobSubject" + no, "spec.scaling.minReplica" + no, "spec.scratchVolum" + no, "spec.secretRefs[1].nam" + no, "specs" + no,
			},
		},
		"a claim's field in a namespaced composite": {
			content:       strings.Replace(good, "{image", "{compositionRef: {name: x}, image", 1),
			configuration: "namespaced",
			want:          []string{"spec.compositionRef" + no},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, tc.content)
			err := readManifest(t, path).CheckFields(definition(tc.configuration))
			if diff := cmp.Diff(tc.want, problems(t, err, path)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Whatever is wrong with a case, the function must be the one to say so.
func TestEveryCaseGoesToFunction(t *testing.T) {
	for _, folder := range []string{"valid", "invalid"} {
		eachCase(t, folder, func(t *testing.T, path string, f form) {
			composite := filepath.Join(t.TempDir(), "xr.yaml")
			f.composite(t, path, composite)
			for _, path := range []string{path, composite} {
				if err := readManifest(t, path).CheckFields(f.definition()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestFileError(t *testing.T) {
	for want, problems := range map[string][]string{
		"a.yaml: one":             {"one"},
		"a.yaml:\n  one\n  other": {"one", "other"},
	} {
		if got := (&FileError{Path: "a.yaml", Problems: problems}).Error(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	const wrapping = `crossplane: error: cannot compose resources: pipeline step "tmicomponent" returned a fatal result: `
	cases := map[string]struct {
		message string
		want    []string
	}{
		"not the function's": {message: "crossplane: error: cannot load composite resource; spec.a: Invalid value: 1"},
		"one":                {message: wrapping + "spec.egress: Required value", want: []string{"spec.egress: Required value"}},
		"several": {
			message: wrapping + `spec.allowlist: Required value; spec.config[bad=name 1]: Invalid value: true: must be a string; spec.x[1].cidrs: Invalid value: "0.0.0.0/0": must not be a default route; to reach the internet, set openInternet; spec.secretRefs[0].name: Duplicate value: "A"; and more`,
			want: []string{
				"spec.allowlist: Required value",
				"spec.config[bad=name 1]: Invalid value: true: must be a string",
				`spec.x[1].cidrs: Invalid value: "0.0.0.0/0": must not be a default route; to reach the internet, set openInternet`,
				`spec.secretRefs[0].name: Duplicate value: "A"`,
				"and more",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := (&RefusedError{Message: tc.message}).FunctionErrors()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// problems returns those that err tells of the file at path.
func problems(t *testing.T, err error, path string) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*FileError](err)
	if !ok || refused.Path != path {
		t.Fatalf("no error about %s: %v", path, err)
	}
	return refused.Problems
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "component.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
