package fn

import (
	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/input/v1beta1"
)

// render renders the component's three resources, by their name among the
// composed resources.
func render(c *Component, in *v1beta1.Input) map[string]*structpb.Struct {
	return map[string]*structpb.Struct{
		ResourceNetworkPolicy: NetworkPolicyObject(c, in, RenderNetworkPolicy(c, in)),
		ResourceDeployment:    DeploymentObject(c, in, RenderDeployment(c)),
		ResourceScaledObject:  ScaledObjectObject(c, in, RenderScaledObject(c, in)),
	}
}
