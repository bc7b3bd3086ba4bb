package fn

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/input/v1beta1"
)

const (
	// minTimeout and maxTimeout of all that one call does with NATS. Crossplane
	// gives a whole reconcile two minutes.
	minTimeout = time.Millisecond
	maxTimeout = time.Minute

	// MinTTL keeps Crossplane from calling without rest. MaxTTL is how long a
	// stream that is lost may at most go unnoticed.
	MinTTL = time.Second
	MaxTTL = 24 * time.Hour

	// maxStreamReplicas that a JetStream cluster can hold.
	maxStreamReplicas = 5
)

// ReadInput reads the pipeline step's input, which may be absent, and returns
// it with its defaults set, the given TTLs among them, and every value in it
// that cannot be used.
func ReadInput(input *structpb.Struct, ttl v1beta1.TTL) (*v1beta1.Input, field.ErrorList) {
	in := &v1beta1.Input{}
	var errs field.ErrorList
	if input != nil {
		v := structpb.NewStructValue(input)
		// Crossplane checks no input, so a misspelt field would go unnoticed.
		errs = append(protostruct.Unknown(v, in, nil), protostruct.Decode(v, in, nil)...)
		errs = append(errs, validateKind(in)...)
	}
	if in.TTL.Steady == nil {
		in.TTL.Steady = ttl.Steady
	}
	if in.TTL.Converging == nil {
		in.TTL.Converging = ttl.Converging
	}
	in.SetDefaults()
	return in, withRules(errs, validateInput(in))
}

// validateKind returns an error if the input says that it is something else.
func validateKind(in *v1beta1.Input) field.ErrorList {
	var errs field.ErrorList
	if v := v1beta1.GroupVersion.String(); in.APIVersion != "" && in.APIVersion != v {
		errs = append(errs, field.NotSupported(field.NewPath("apiVersion"), protostruct.Truncated(in.APIVersion), []string{v}))
	}
	if in.Kind != "" && in.Kind != v1beta1.Kind {
		errs = append(errs, field.NotSupported(field.NewPath("kind"), protostruct.Truncated(in.Kind), []string{v1beta1.Kind}))
	}
	return errs
}

func validateInput(in *v1beta1.Input) field.ErrorList {
	errs := validateInputNATS(&in.NATS, field.NewPath("nats"))

	for i, p := range in.DNSPeers {
		path := field.NewPath("dnsPeers").Index(i)
		selects := len(p.NamespaceSelector) > 0 || len(p.PodSelector) > 0
		if selects == (p.CIDR != "") {
			errs = append(errs, field.Invalid(path, p.CIDR, "give either cidr, or namespaceSelector and podSelector"))
		}
		if p.CIDR != "" {
			if _, why := parseCIDR(p.CIDR); why != "" {
				errs = append(errs, field.Invalid(path.Child("cidr"), protostruct.Truncated(p.CIDR), why))
			}
		}
		errs = append(errs, validateLabels(p.NamespaceSelector, path.Child("namespaceSelector"))...)
		errs = append(errs, validateLabels(p.PodSelector, path.Child("podSelector"))...)
	}

	ref := field.NewPath("providerConfigRef")
	errs = append(errs, invalidEach(ref.Child("name"), in.ProviderConfigRef.Name, validation.IsDNS1123Subdomain(in.ProviderConfigRef.Name))...)
	kinds := []string{v1beta1.ClusterProviderConfig, v1beta1.NamespacedProviderConfig}
	errs = append(errs, validateEnum(in.ProviderConfigRef.Kind, kinds, ref.Child("kind"))...)

	if in.TargetNamespace != "" {
		errs = append(errs, invalidEach(field.NewPath("targetNamespace"), in.TargetNamespace, validation.IsDNS1123Label(in.TargetNamespace))...)
	}
	errs = append(errs, ValidateAllowedSubjects(in.AllowedSubjects, field.NewPath("allowedSubjects"))...)

	ttl := field.NewPath("ttl")
	errs = append(errs, validateDuration(in.TTL.Steady, MinTTL, MaxTTL, ttl.Child("steady"))...)
	return append(errs, validateDuration(in.TTL.Converging, MinTTL, MaxTTL, ttl.Child("converging"))...)
}

// nameConflicts returns an error for each of our composed resources whose name
// an earlier step has taken: what that step composes would be lost.
func nameConflicts(desired *fnv1.State) field.ErrorList {
	var errs field.ErrorList
	for _, r := range composedResources {
		if _, taken := desired.GetResources()[r.name]; taken {
			errs = append(errs, field.Duplicate(field.NewPath("desired", "resources").Key(r.name),
				"an earlier step composes a resource of this name; rename it there"))
		}
	}
	return errs
}

func validateInputNATS(n *v1beta1.NATS, path *field.Path) field.ErrorList {
	modes := []v1beta1.Provisioning{v1beta1.ProvisioningEnsure, v1beta1.ProvisioningObserve, v1beta1.ProvisioningDisabled}
	errs := validateEnum(n.Provisioning, modes, path.Child("provisioning"))

	// Who may read a Composition must not learn a password by it, nor by this
	// error.
	if strings.Contains(n.URL, "@") {
		errs = append(errs, field.Forbidden(path.Child("url"), "must hold no user, password or token; they belong into the pipeline step's credentials"))
	}
	if r := n.StreamReplicas; r != nil && (*r < 1 || *r > maxStreamReplicas) {
		errs = append(errs, field.Invalid(path.Child("streamReplicas"), *r, fmt.Sprintf("must be 1 to %d", maxStreamReplicas)))
	}
	errs = append(errs, validateDuration(n.Timeout, minTimeout, maxTimeout, path.Child("timeout"))...)

	if !isHostPort(n.MonitoringEndpoint) {
		errs = append(errs, field.Invalid(path.Child("monitoringEndpoint"), protostruct.Truncated(n.MonitoringEndpoint),
			"must be host:port without a scheme, such as "+v1beta1.DefaultMonitoringEndpoint))
	}
	peer := path.Child("peer")
	errs = append(errs, validateLabels(n.Peer.NamespaceSelector, peer.Child("namespaceSelector"))...)
	errs = append(errs, validateLabels(n.Peer.PodSelector, peer.Child("podSelector"))...)
	return append(errs, validatePort(*n.Peer.Port, peer.Child("port"))...)
}

// isHostPort reports whether KEDA can put a scheme before s and a path behind
// it.
func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || strings.ContainsAny(host, "/@?#%") || strings.ContainsFunc(host, isSpaceOrControl) {
		return false
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return err == nil && number > 0
}

func validateEnum[T ~string](value T, valid []T, path *field.Path) field.ErrorList {
	if slices.Contains(valid, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, T(protostruct.Truncated(string(value))), valid)}
}

// validateDuration returns an error unless d is within the bounds.
func validateDuration(d *metav1.Duration, least, most time.Duration, path *field.Path) field.ErrorList {
	if d.Duration < least || d.Duration > most {
		return field.ErrorList{field.Invalid(path, d.Duration.String(), fmt.Sprintf("must be %s to %s", least, most))}
	}
	return nil
}
