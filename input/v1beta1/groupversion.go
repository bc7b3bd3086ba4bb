// Package v1beta1 is the tmi.fn.crossplane.io/v1beta1 API: the Input of a
// Composition's pipeline step that runs this function.
//
// +kubebuilder:object:generate=true
// +groupName=tmi.fn.crossplane.io
// +versionName=v1beta1
package v1beta1

import "k8s.io/apimachinery/pkg/runtime/schema"

// Group, version and kind of the API.
const (
	Group   = "tmi.fn.crossplane.io"
	Version = "v1beta1"
	Kind    = "Input"
)

// GroupVersion of the API.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}
