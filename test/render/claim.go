package render

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// Kinds of composite resources, as the Configurations define them.
const (
	ClaimKind     = "TMIComponent"  // also the namespaced composite's
	CompositeKind = "XTMIComponent" // the claim's composite
)

// A Manifest is what rendering must know of a component's YAML.
type Manifest struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// ReadManifest reads a component's YAML.
func ReadManifest(path string) (Manifest, error) {
	m := Manifest{}
	content, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := yaml.Unmarshal(content, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.Kind != ClaimKind && m.Kind != CompositeKind {
		return m, fmt.Errorf("%s: kind is %q, not %s or %s", path, m.Kind, ClaimKind, CompositeKind)
	}
	return m, nil
}

// CompositeName returns a name for a claim's composite, as Crossplane would
// make it: the claim's, cut if need be, with five characters more. Crossplane
// chooses those at random; here they are fixed, for output that does not
// change.
func CompositeName(claim string) string {
	const suffix, longest = "-local", 63
	return claim[:min(len(claim), longest-len(suffix))] + suffix
}
