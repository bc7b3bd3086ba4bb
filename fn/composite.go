package fn

import (
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

// A Component is the worker type that a composite resource stands for.
type Component struct {
	// Name and Namespace of everything that is composed: the claim's, the
	// namespaced composite's, or the cluster-scoped composite's name and the
	// Input's target namespace.
	Name      string
	Namespace string

	// NameField and NamespaceField are the paths that the two came from.
	NameField      *field.Path
	NamespaceField *field.Path

	// Namespaced is true for Crossplane v2's namespaced composite resource.
	Namespaced bool

	// Spec with its defaults set.
	Spec v1alpha1.TMIComponentSpec
}

// ReadComponent reads the component from the observed composite resource: a
// cluster-scoped XR with or without a claim, or a namespaced XR. The namespace
// of an XR with neither is targetNamespace, from the function's Input.
//
// The errors are the values of the wrong type, and a name or a namespace that
// cannot be had. The component holds what could be read nevertheless. Nothing
// is read of a spec that is too large.
func ReadComponent(xr *structpb.Struct, targetNamespace string) (*Component, field.ErrorList) {
	if errs := validateSize(xr); len(errs) > 0 {
		c := &Component{}
		c.Spec.SetDefaults()
		return c, errs
	}
	read := &struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Spec struct {
			v1alpha1.TMIComponentSpec `json:",inline"`

			ClaimRef *struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
			} `json:"claimRef"`
		} `json:"spec"`
	}{}
	var errs field.ErrorList
	if xr != nil {
		errs = protostruct.Decode(structpb.NewStructValue(xr), read, nil)
	}

	c := &Component{Spec: read.Spec.TMIComponentSpec}
	c.Spec.SetDefaults()

	switch metadata, claim := field.NewPath("metadata"), field.NewPath("spec", "claimRef"); {
	case read.Metadata.Namespace != "":
		c.Namespaced = true
		c.Name, c.NameField = read.Metadata.Name, metadata.Child("name")
		c.Namespace, c.NamespaceField = read.Metadata.Namespace, metadata.Child("namespace")
	case read.Spec.ClaimRef != nil:
		c.Name, c.NameField = read.Spec.ClaimRef.Name, claim.Child("name")
		c.Namespace, c.NamespaceField = read.Spec.ClaimRef.Namespace, claim.Child("namespace")
	default:
		c.Name, c.NameField = read.Metadata.Name, metadata.Child("name")
		c.Namespace, c.NamespaceField = targetNamespace, field.NewPath("targetNamespace")
	}
	if c.Name == "" {
		errs = append(errs, field.Required(c.NameField, "the component takes its name from here"))
	}
	if c.Namespace == "" {
		errs = append(errs, field.Required(c.NamespaceField, "this composite is neither namespaced nor made by a claim: "+
			"set targetNamespace in the function's Input, or apply a claim in the team's namespace"))
	}
	return c, errs
}
