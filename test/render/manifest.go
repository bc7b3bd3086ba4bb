package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	goyaml "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

// A Manifest is a component's YAML, read and found to be one component's.
type Manifest struct {
	Kind      string
	Name      string
	Namespace string

	path   string
	object map[string]any
}

// A FileError tells what is wrong with a component's file.
type FileError struct {
	Path     string
	Problems []string
}

func (e *FileError) Error() string {
	if len(e.Problems) == 1 {
		return e.Path + ": " + e.Problems[0]
	}
	return e.Path + ":\n  " + strings.Join(e.Problems, "\n  ")
}

// ReadManifest reads a component's YAML. What the function checks is left to
// the function; everything that would keep it from being asked is an error.
func ReadManifest(path string) (Manifest, error) {
	content, err := readFile(path)
	if err != nil {
		return Manifest{}, err
	}
	wrong := func(problems ...string) (Manifest, error) {
		return Manifest{}, &FileError{Path: path, Problems: problems}
	}

	documents, err := parse(content)
	if err != nil {
		return wrong("is not YAML: " + err.Error())
	}
	switch len(documents) {
	case 0:
		return wrong("holds no YAML document")
	case 1:
	default:
		return wrong(fmt.Sprintf("holds %d documents; render takes one component per file", len(documents)))
	}
	root := documents[0].Content[0]
	if root.Kind != goyaml.MappingNode {
		return wrong(fmt.Sprintf("is not a Kubernetes manifest: it holds %s, not apiVersion, kind, metadata and spec", describe(root)))
	}
	if duplicates := duplicateFields(root, ""); len(duplicates) > 0 {
		return wrong(duplicates...)
	}

	m := Manifest{path: path}
	if content, err = goyaml.Marshal(root); err != nil {
		return wrong("is not YAML: " + err.Error())
	}
	if err := yaml.Unmarshal(content, &m.object); err != nil {
		return wrong("is not YAML: " + err.Error())
	}
	if m.object["apiVersion"] == nil && m.object["kind"] == nil {
		return wrong("is not a Kubernetes manifest: it has neither apiVersion nor kind")
	}
	if problems := m.identify(); len(problems) > 0 {
		return wrong(problems...)
	}
	return m, nil
}

func readFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err == nil {
		return content, nil
	}
	problem := err.Error()
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		problem = "is a directory; render takes the file of one component"
	} else if errors.Is(err, fs.ErrNotExist) {
		problem = "there is no such file"
		if absolute, err := filepath.Abs(path); err == nil {
			problem = "there is no file " + absolute
		}
	}
	return nil, &FileError{Path: path, Problems: []string{problem}}
}

// parse returns the documents of a YAML file, less the empty ones.
func parse(content []byte) (documents []*goyaml.Node, err error) {
	decoder := goyaml.NewDecoder(bytes.NewReader(content))
	for {
		document := &goyaml.Node{}
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		if len(document.Content) == 1 && document.Content[0].Tag != "!!null" {
			documents = append(documents, document)
		}
	}
}

func describe(n *goyaml.Node) string {
	if n.Kind == goyaml.SequenceNode {
		return "a list"
	}
	return "text"
}

// duplicateFields tells of each field that a mapping gives again. YAML forbids
// that, and what reads it all the same takes one of them.
func duplicateFields(n *goyaml.Node, path string) (problems []string) {
	switch n.Kind {
	case goyaml.MappingNode:
		lines := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			field := strings.TrimPrefix(path+"."+key.Value, ".")
			if first, ok := lines[key.Value]; ok {
				problems = append(problems, fmt.Sprintf("%s: is given twice, in lines %d and %d; keep one", field, first, key.Line))
			} else {
				lines[key.Value] = key.Line
			}
			problems = append(problems, duplicateFields(value, field)...)
		}
	case goyaml.SequenceNode:
		for i, item := range n.Content {
			problems = append(problems, duplicateFields(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return problems
}

// identify finds out which component a manifest is of, or why that cannot be
// said.
func (m *Manifest) identify() (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	want := v1alpha1.GroupVersion.String()
	if got := m.object["apiVersion"]; got == nil {
		wrong("apiVersion: is missing; it must be %s", want)
	} else if got != want {
		wrong("apiVersion: is %v; it must be %s", got, want)
	}

	m.Kind, _ = m.object["kind"].(string)
	if m.object["kind"] == nil {
		wrong("kind: is missing; it must be %s, or %s for a claim's composite", ClaimKind, CompositeKind)
	} else if m.Kind != ClaimKind && m.Kind != CompositeKind {
		wrong("kind: is %v; it must be %s, or %s for a claim's composite", m.object["kind"], ClaimKind, CompositeKind)
	}

	metadata, _ := m.object["metadata"].(map[string]any)
	text := func(field, advice string) string {
		value, isText := metadata[field].(string)
		if metadata[field] != nil && !isText {
			wrong("metadata.%s: is not text; put quotes around it", field)
		} else if value == "" {
			wrong("metadata.%s: is missing; %s", field, advice)
		}
		return value
	}
	m.Name = text("name", "give the component's name")
	if m.Kind == ClaimKind {
		m.Namespace = text("namespace", "give the namespace that the component is for, since render knows of no current one")
	}

	const advice = "example/component.yaml shows what belongs there"
	if spec, isMapping := m.object["spec"].(map[string]any); m.object["spec"] != nil && !isMapping {
		wrong("spec: does not hold fields; %s", advice)
	} else if len(spec) == 0 {
		wrong("spec: is missing; %s", advice)
	}
	return problems
}
