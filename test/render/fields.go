package render

import (
	"fmt"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// CheckFields refuses a manifest with fields that an API server would drop, as
// it does without a word: those that are not in the CRD that Crossplane derives
// from a CompositeResourceDefinition. Values are left to the function.
func (m Manifest) CheckFields(definition string) error {
	fields, err := m.schema(definition)
	if err != nil {
		return err
	}
	unknown := pruning.PruneWithOptions(runtime.DeepCopyJSON(m.object), fields, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(unknown) == 0 {
		return nil
	}
	refused := &FileError{Path: m.path}
	for _, path := range unknown {
		refused.Problems = append(refused.Problems, path+": there is no such field; a cluster would drop it without a word")
	}
	return refused
}

// schema returns what a definition, or Crossplane, lets a manifest hold.
func (m Manifest) schema(definition string) (*schema.Structural, error) {
	content, err := os.ReadFile(definition)
	if err != nil {
		return nil, err
	}
	xrd := &xpv1.CompositeResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, xrd); err != nil {
		return nil, fmt.Errorf("%s: %w", definition, err)
	}
	xrd.UID = "an-api-server-sets-it"

	derive := xcrd.ForCompositeResource
	if m.Kind != xrd.Spec.Names.Kind {
		derive = xcrd.ForCompositeResourceClaim
	}
	crd, err := derive(xrd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", definition, err)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", definition, err)
	}
	return schema.NewStructural(props)
}
