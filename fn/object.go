package fn

import (
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/input/v1beta1"
)

// Names of the composed resources. They must not change: Crossplane knows
// what it has composed by them.
const (
	ResourceNetworkPolicy = "network-policy"
	ResourceDeployment    = "deployment"
	ResourceScaledObject  = "scaled-object"
)

// The APIs of provider-kubernetes' Object. A namespaced composite can compose
// namespaced resources only.
const (
	objectKind            = "Object"
	clusterObjectAPI      = "kubernetes.crossplane.io/v1alpha2"
	namespacedObjectAPI   = "kubernetes.m.crossplane.io/v1alpha1"
	policySuccessful      = "SuccessfulCreate"
	policyDeriveFromReady = "DeriveFromObject"
	policyDeriveFromCEL   = "DeriveFromCelQuery"
)

// deploymentReadyQuery is true for a Deployment that is available in its
// current generation, also one of zero replicas. It guards against a status
// that is not there yet, which would be an error rather than false.
const deploymentReadyQuery = `has(object.status) && has(object.status.observedGeneration) && ` +
	`object.status.observedGeneration >= object.metadata.generation && has(object.status.conditions) && ` +
	`object.status.conditions.exists(c, c.type == "Available" && c.status == "True")`

// An object is what we set of provider-kubernetes' Object, in either API. Its
// own Go module is not worth its weight for this.
type object struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Spec       objectSpec `json:"spec"`
}

type objectSpec struct {
	ForProvider       objectParameters  `json:"forProvider"`
	ProviderConfigRef providerConfigRef `json:"providerConfigRef"`
	Readiness         objectReadiness   `json:"readiness"`
	References        []objectReference `json:"references"`
	Watch             bool              `json:"watch"`
}

type objectParameters struct {
	Manifest                  *structpb.Struct `json:"manifest"`
	DeletionPropagationPolicy string           `json:"deletionPropagationPolicy"`
}

type providerConfigRef struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type objectReadiness struct {
	Policy   string `json:"policy"`
	CELQuery string `json:"celQuery"`
}

type objectReference struct {
	DependsOn dependsOn `json:"dependsOn"`
}

type dependsOn struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
}

// NetworkPolicyObject wraps the NetworkPolicy. It is watched so that a hand
// that widens it is undone at once. It has no status: what is created, is
// ready.
func NetworkPolicyObject(c *Component, in *v1beta1.Input, np *networkingv1.NetworkPolicy) *structpb.Struct {
	o := newObject(c, in, protostruct.Encode(np))
	o.Spec.Readiness = objectReadiness{Policy: policySuccessful}
	return protostruct.Encode(o)
}

// DeploymentObject wraps the Deployment. It depends on the NetworkPolicy, so
// that no worker ever runs without: provider-kubernetes creates the Deployment
// after the NetworkPolicy and, since Foreground deletion takes the pods first,
// lets go of the NetworkPolicy after the last pod.
func DeploymentObject(c *Component, in *v1beta1.Input, d *appsv1.Deployment) *structpb.Struct {
	o := newObject(c, in, protostruct.Encode(d))
	o.Spec.ForProvider.DeletionPropagationPolicy = string(metav1.DeletePropagationForeground)
	o.Spec.Readiness = objectReadiness{Policy: policyDeriveFromCEL, CELQuery: deploymentReadyQuery}
	o.Spec.References = []objectReference{{DependsOn: dependsOn{
		APIVersion: networkingv1.SchemeGroupVersion.String(),
		Kind:       "NetworkPolicy",
		Name:       c.Name,
		Namespace:  c.Namespace,
	}}}
	return protostruct.Encode(o)
}

// ScaledObjectObject wraps the ScaledObject, whose Ready condition is KEDA's.
func ScaledObjectObject(c *Component, in *v1beta1.Input, so *unstructured.Unstructured) *structpb.Struct {
	o := newObject(c, in, protostruct.EncodeMap(so.Object))
	o.Spec.Readiness = objectReadiness{Policy: policyDeriveFromReady}
	return protostruct.Encode(o)
}

// newObject wraps a manifest. It has no name: Crossplane gives it one and
// keeps it.
func newObject(c *Component, in *v1beta1.Input, manifest *structpb.Struct) *object {
	o := &object{
		APIVersion: clusterObjectAPI,
		Kind:       objectKind,
		Spec: objectSpec{
			ForProvider:       objectParameters{Manifest: manifest},
			ProviderConfigRef: providerConfigRef{Name: in.ProviderConfigRef.Name},
			Watch:             true,
		},
	}
	if c.Namespaced {
		o.APIVersion = namespacedObjectAPI
		o.Spec.ProviderConfigRef.Kind = in.ProviderConfigRef.Kind
	}
	return o
}
