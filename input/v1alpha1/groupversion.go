// Package v1alpha1 is the tmi.dev/v1alpha1 API: the TMIComponent that a team
// applies, as a claim or as a namespaced composite resource.
//
// The spec and status schemas of both XRDs (package/configuration/claim and
// package/configuration/namespaced) are generated from these types.
//
// +kubebuilder:object:generate=true
// +groupName=tmi.dev
// +versionName=v1alpha1
package v1alpha1

import "k8s.io/apimachinery/pkg/runtime/schema"

// Group, version and kinds of the API.
const (
	Group   = "tmi.dev"
	Version = "v1alpha1"

	// Kind is what a team applies: the claim, or Crossplane v2's namespaced
	// composite resource.
	Kind = "TMIComponent"
	// CompositeKind is the cluster-scoped composite resource behind a claim.
	CompositeKind = "XTMIComponent"
)

// GroupVersion of the API.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}
