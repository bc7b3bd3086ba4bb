package fn

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

const (
	// maxCIDRs and maxClusterPeers that an allowlist may have. There is a rule
	// of the NetworkPolicy for each.
	maxCIDRs        = 1000
	maxClusterPeers = 256

	// maxRulePorts of all the allowlist's rules together. Each rule repeats
	// the ports, so that a few thousand of both would fill the memory.
	maxRulePorts = 4096
)

func validateAllowlist(a *v1alpha1.Allowlist, path *field.Path) field.ErrorList {
	if a == nil || len(a.CIDRs) == 0 && len(a.ClusterPeers) == 0 && !a.OpenInternet {
		return field.ErrorList{field.Required(path, "spec.egress allowlist needs something to allow: "+
			"give at least one of cidrs, clusterPeers, openInternet, or use egress none")}
	}
	if errs := validateAllowlistSize(a, path); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	for i, cidr := range a.CIDRs {
		if why := refusedCIDR(cidr); why != "" {
			errs = append(errs, field.Invalid(path.Child("cidrs").Index(i), protostruct.Truncated(cidr), why))
		}
	}
	for i, peer := range a.ClusterPeers {
		p := path.Child("clusterPeers").Index(i)
		if len(peer.NamespaceSelector) == 0 && len(peer.PodSelector) == 0 {
			errs = append(errs, field.Required(p, "give a namespaceSelector, a podSelector, or both"))
		}
		errs = append(errs, validateLabels(peer.NamespaceSelector, p.Child("namespaceSelector"))...)
		errs = append(errs, validateLabels(peer.PodSelector, p.Child("podSelector"))...)
		errs = append(errs, validatePorts(peer.Ports, p.Child("ports"))...)
	}
	return append(errs, validatePorts(a.Ports, path.Child("ports"))...)
}

// validateAllowlistSize returns an error for whatever would make the
// NetworkPolicy too large to be applied.
func validateAllowlistSize(a *v1alpha1.Allowlist, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := len(a.CIDRs); n > maxCIDRs {
		errs = append(errs, field.TooMany(path.Child("cidrs"), n, maxCIDRs))
	}
	if n := len(a.ClusterPeers); n > maxClusterPeers {
		errs = append(errs, field.TooMany(path.Child("clusterPeers"), n, maxClusterPeers))
	}
	own, shared := 0, len(a.CIDRs)
	if a.OpenInternet {
		shared++
	}
	for _, peer := range a.ClusterPeers {
		if len(peer.Ports) == 0 {
			shared++
		}
		own += len(peer.Ports)
	}
	if n := own + shared*max(1, len(a.Ports)); n > maxRulePorts {
		errs = append(errs, field.Invalid(path.Child("ports"), len(a.Ports), fmt.Sprintf(
			"the rules must have at most %d ports in all, not %d: each range and peer repeats them; name fewer ports, or wider ranges", maxRulePorts, n)))
	}
	return errs
}

// refusedCIDR returns why a range cannot be allowed, or nothing if it can.
func refusedCIDR(cidr string) string {
	prefix, why := parseCIDR(cidr)
	if why != "" {
		return why
	}
	if prefix.Bits() == 0 {
		return "must not be a default route; to reach the internet, set openInternet"
	}
	if address, cloud, covered := coveredMetadataAddress(prefix); covered {
		return fmt.Sprintf("must not cover %s, the metadata service of %s, which no worker may reach; use a narrower range", address, cloud)
	}
	return ""
}

// parseCIDR returns the range, or why an API server would not take it in a
// NetworkPolicy: since Kubernetes 1.36 nothing may stand behind the prefix.
func parseCIDR(cidr string) (prefix netip.Prefix, why string) {
	prefix, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		return netip.Prefix{}, "must be a range of IPv4 or IPv6 addresses, such as 203.0.113.0/24 or 2001:db8::/32"
	case prefix.Addr().Is4In6():
		return netip.Prefix{}, "must be written as an IPv4 range, not as IPv4-mapped IPv6"
	case prefix != prefix.Masked():
		return netip.Prefix{}, fmt.Sprintf("must be %s, or for the one address %s", prefix.Masked(), netip.PrefixFrom(prefix.Addr(), prefix.Addr().BitLen()))
	}
	return prefix, ""
}

func validateLabels(labels map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, invalidEach(path, k, validation.IsQualifiedName(k))...)
		errs = append(errs, invalidEach(path.Key(protostruct.Truncated(k)), labels[k], validation.IsValidLabelValue(labels[k]))...)
	}
	return errs
}

func validatePorts(ports []int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, port := range ports {
		errs = append(errs, validatePort(port, path.Index(i))...)
	}
	return errs
}

func validatePort(port int32, path *field.Path) field.ErrorList {
	if port < 1 || port > 65535 {
		return field.ErrorList{field.Invalid(path, port, "must be a port number, 1 to 65535")}
	}
	return nil
}
