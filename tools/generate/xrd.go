package main

import (
	"fmt"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// claimXRD turns the CRD of TMIComponent into the definition of a
// cluster-scoped composite resource that teams get by a namespaced claim. Only
// XRD v1 has claims, and its default scope, LegacyCluster, is the one that
// they need.
func claimXRD(crd []byte) ([]byte, error) {
	claim, version, err := parseCRD(crd)
	if err != nil {
		return nil, err
	}
	composite := extv1.CustomResourceDefinitionNames{
		Kind:       "X" + claim.Names.Kind,
		ListKind:   "X" + claim.Names.ListKind,
		Plural:     "x" + claim.Names.Plural,
		Singular:   "x" + claim.Names.Singular,
		Categories: claim.Names.Categories,
	}
	return marshalXRD("apiextensions.crossplane.io/v1", claim.Group, composite.Plural, map[string]any{
		"names":      composite,
		"claimNames": claim.Names,
		"versions":   []any{version},
	})
}

// namespacedXRD turns the CRD of TMIComponent into the definition of a
// namespaced composite resource, which Crossplane has since v2.
func namespacedXRD(crd []byte) ([]byte, error) {
	component, version, err := parseCRD(crd)
	if err != nil {
		return nil, err
	}
	return marshalXRD("apiextensions.crossplane.io/v2", component.Group, component.Names.Plural, map[string]any{
		"scope":    "Namespaced",
		"names":    component.Names,
		"versions": []any{version},
	})
}

func marshalXRD(apiVersion, group, plural string, spec map[string]any) ([]byte, error) {
	name := plural + "." + group
	spec["group"] = group
	// The packaged Composition has the definition's name. Without a default,
	// Crossplane picks any as soon as there is a second one, and a second one
	// is how a platform engineer changes the function's Input.
	spec["defaultCompositionRef"] = map[string]any{"name": name}
	return yaml.Marshal(map[string]any{
		"apiVersion": apiVersion,
		"kind":       "CompositeResourceDefinition",
		"metadata":   map[string]any{"name": name},
		"spec":       spec,
	})
}

// parseCRD returns a CRD's spec and its one version as an XRD has it.
func parseCRD(crd []byte) (*extv1.CustomResourceDefinitionSpec, map[string]any, error) {
	parsed := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crd, parsed); err != nil {
		return nil, nil, err
	}
	if n := len(parsed.Spec.Versions); n != 1 {
		return nil, nil, fmt.Errorf("%s has %d versions, not 1", parsed.Name, n)
	}
	version := parsed.Spec.Versions[0]

	// These are the same for all kinds, and Crossplane brings its own.
	schema := version.Schema.OpenAPIV3Schema
	for _, property := range []string{"apiVersion", "kind", "metadata"} {
		delete(schema.Properties, property)
	}

	return &parsed.Spec, map[string]any{
		"name":                     version.Name,
		"served":                   true,
		"referenceable":            true,
		"additionalPrinterColumns": version.AdditionalPrinterColumns,
		"schema":                   map[string]any{"openAPIV3Schema": schema},
	}, nil
}
