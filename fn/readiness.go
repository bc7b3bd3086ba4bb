package fn

import (
	"regexp"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// Condition types of what is observed.
const (
	typeReady          = "Ready"
	typeSynced         = "Synced"
	typeAvailable      = "Available"
	typeProgressing    = "Progressing"
	typeReplicaFailure = "ReplicaFailure"
)

// unresolvedReferences is how provider-kubernetes says that what an Object
// depends on is not there yet.
const unresolvedReferences = "cannot resolve resource references"

// networkPolicyReadiness tells from the observed Object whether the
// NetworkPolicy is in place.
func networkPolicyReadiness(observed *structpb.Struct) Condition {
	manifest, unready := observedManifest(observed, TypeNetworkPolicyReady, ReasonCreating)
	if manifest == nil {
		return unready
	}
	return availableIfReady(observed, TypeNetworkPolicyReady, ReasonCreating)
}

// deploymentReadiness tells from the observed Object whether the workers can
// run: at zero replicas they can.
func deploymentReadiness(observed *structpb.Struct) Condition {
	manifest, unready := observedManifest(observed, TypeDeploymentReady, ReasonProgressing)
	if manifest == nil {
		if unready.Reason == ReasonNotSynced && strings.Contains(unready.Message, unresolvedReferences) {
			return isFalse(TypeDeploymentReady, ReasonCreating, "It is created after its NetworkPolicy.")
		}
		return unready
	}
	generation := value(manifest, "metadata", "generation").GetNumberValue()
	if value(manifest, "status", "observedGeneration").GetNumberValue() < generation {
		return isFalse(TypeDeploymentReady, ReasonProgressing, "Kubernetes has yet to act on the latest change of the Deployment.")
	}
	if failure, _ := observedCondition(manifest, typeReplicaFailure); failure.ready() {
		return isFalse(TypeDeploymentReady, ReasonUnavailable, "Pods cannot be created: "+lasting(failure.Message))
	}
	progressing, _ := observedCondition(manifest, typeProgressing)
	if progressing.Status == fnv1.Status_STATUS_CONDITION_FALSE {
		return isFalse(TypeDeploymentReady, ReasonUnavailable,
			"The workers do not come up; see the events and logs of the pods, and mend the spec. "+lasting(progressing.Message))
	}
	if available, _ := observedCondition(manifest, typeAvailable); !available.ready() {
		return isFalse(TypeDeploymentReady, ReasonProgressing, "Workers are starting.")
	}
	return availableIfReady(observed, TypeDeploymentReady, ReasonProgressing)
}

// scaledObjectReadiness tells from the observed Object whether KEDA scales the
// workers. Whether it is active does not matter: at zero replicas it is not.
func scaledObjectReadiness(observed *structpb.Struct) Condition {
	manifest, unready := observedManifest(observed, TypeScaledObjectReady, ReasonCreating)
	if manifest == nil {
		return unready
	}
	switch ready, _ := observedCondition(manifest, typeReady); {
	case ready.ready():
		return availableIfReady(observed, TypeScaledObjectReady, ReasonNotReady)
	case ready.Status == fnv1.Status_STATUS_CONDITION_FALSE:
		return isFalse(TypeScaledObjectReady, ReasonNotReady, "KEDA cannot scale the workers: "+lasting(ready.Message))
	default:
		return isFalse(TypeScaledObjectReady, ReasonNotReady, "KEDA has yet to look at the ScaledObject.")
	}
}

// observedManifest returns the resource itself as provider-kubernetes last saw
// it, if the observed Object is synced in its current generation and ready;
// else nil, and why not. pending is the reason while the provider has yet to
// apply a change.
func observedManifest(observed *structpb.Struct, typ, pending string) (*structpb.Struct, Condition) {
	if observed == nil {
		return nil, isFalse(typ, ReasonCreating, "It is being created.")
	}
	synced, generation := observedCondition(observed, typeSynced)
	if synced.Status == fnv1.Status_STATUS_CONDITION_FALSE {
		return nil, isFalse(typ, ReasonNotSynced, "provider-kubernetes cannot apply it: "+lasting(synced.Message))
	}
	manifest := value(observed, "status", "atProvider", "manifest").GetStructValue()
	if !synced.ready() || len(manifest.GetFields()) == 0 {
		return nil, isFalse(typ, ReasonCreating, "It is being created.")
	}
	// A provider that tells no generation has seen the current one, as far as
	// can be known.
	if current := int64(value(observed, "metadata", "generation").GetNumberValue()); generation > 0 && generation < current {
		return nil, isFalse(typ, pending, "provider-kubernetes has yet to apply the latest change.")
	}
	return manifest, Condition{}
}

// availableIfReady returns a true condition if the observed Object is ready.
// The provider may see a change a moment later than what it copied shows it.
func availableIfReady(observed *structpb.Struct, typ, pending string) Condition {
	if ready, _ := observedCondition(observed, typeReady); !ready.ready() {
		return isFalse(typ, pending, "provider-kubernetes has yet to report it ready.")
	}
	return isTrue(typ, ReasonAvailable)
}

// localAddress is the local end of a connection in an error of Go's net package,
// whose port is another at each attempt.
var localAddress = regexp.MustCompile(`(?:[0-9.]+|\[[0-9a-f:]+\]):[0-9]+->`)

// lasting returns a message of others without what changes from one attempt to
// the next while the cause is the same. In a condition that would be a change.
func lasting(message string) string {
	return localAddress.ReplaceAllString(message, "")
}
