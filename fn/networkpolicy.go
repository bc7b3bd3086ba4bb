package fn

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
	"tmi.dev/function-tmicomponent/input/v1beta1"
)

const (
	// defaultPort, TCP, of an allowlist that names none (fixed).
	defaultPort int32 = 443

	dnsPort int32 = 53

	anyIPv4 = "0.0.0.0/0"
)

// RenderNetworkPolicy renders what the workers can reach: NATS, and with egress
// allowlist DNS and what the allowlist names. Every rule says where to (fixed):
// one without would allow every destination. fetch-controlled is reserved, and
// renders as none (fixed).
func RenderNetworkPolicy(c *Component, in *v1beta1.Input) *networkingv1.NetworkPolicy {
	egress := []networkingv1.NetworkPolicyEgressRule{natsRule(&in.NATS.Peer)}
	if c.Spec.Egress == v1alpha1.EgressAllowlist && c.Spec.Allowlist != nil {
		egress = append(egress, dnsRule(in.DNSPeers))
		egress = append(egress, allowlistRules(c.Spec.Allowlist)...)
	}
	return &networkingv1.NetworkPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			Name:      c.Name,
			Namespace: c.Namespace,
			Labels:    labels(c),
		},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selector(c)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
			Egress:      egress,
		},
	}
}

func natsRule(peer *v1beta1.NATSPeer) networkingv1.NetworkPolicyEgressRule {
	return rule(tcp(*peer.Port), networkingv1.NetworkPolicyPeer{
		NamespaceSelector: matchLabels(peer.NamespaceSelector),
		PodSelector:       matchLabels(peer.PodSelector),
	})
}

func dnsRule(peers []v1beta1.DNSPeer) networkingv1.NetworkPolicyEgressRule {
	to := make([]networkingv1.NetworkPolicyPeer, len(peers))
	for i, p := range peers {
		if p.CIDR != "" {
			to[i].IPBlock = &networkingv1.IPBlock{CIDR: p.CIDR}
			continue
		}
		to[i].NamespaceSelector = matchLabels(p.NamespaceSelector)
		to[i].PodSelector = matchLabels(p.PodSelector)
	}
	ports := []networkingv1.NetworkPolicyPort{port(corev1.ProtocolUDP, dnsPort), port(corev1.ProtocolTCP, dnsPort)}
	return rule(ports, to...)
}

func allowlistRules(a *v1alpha1.Allowlist) []networkingv1.NetworkPolicyEgressRule {
	ports := tcp(a.Ports...)
	if len(ports) == 0 {
		ports = tcp(defaultPort)
	}
	var rules []networkingv1.NetworkPolicyEgressRule
	for _, cidr := range a.CIDRs {
		rules = append(rules, rule(ports, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}}))
	}
	for _, p := range a.ClusterPeers {
		peerPorts := ports
		if len(p.Ports) > 0 {
			peerPorts = tcp(p.Ports...)
		}
		rules = append(rules, rule(peerPorts, networkingv1.NetworkPolicyPeer{
			NamespaceSelector: matchLabels(p.NamespaceSelector),
			PodSelector:       matchLabels(p.PodSelector),
		}))
	}
	if a.OpenInternet {
		rules = append(rules, rule(ports, networkingv1.NetworkPolicyPeer{
			IPBlock: &networkingv1.IPBlock{CIDR: anyIPv4, Except: openInternetExcept},
		}))
	}
	return rules
}

func rule(ports []networkingv1.NetworkPolicyPort, to ...networkingv1.NetworkPolicyPeer) networkingv1.NetworkPolicyEgressRule {
	return networkingv1.NetworkPolicyEgressRule{To: to, Ports: ports}
}

// matchLabels returns a selector of the labels, or none without labels: an
// empty selector would select everything.
func matchLabels(labels map[string]string) *metav1.LabelSelector {
	if len(labels) == 0 {
		return nil
	}
	return &metav1.LabelSelector{MatchLabels: maps.Clone(labels)}
}

func tcp(numbers ...int32) []networkingv1.NetworkPolicyPort {
	ports := make([]networkingv1.NetworkPolicyPort, len(numbers))
	for i, n := range numbers {
		ports[i] = port(corev1.ProtocolTCP, n)
	}
	return ports
}

func port(protocol corev1.Protocol, number int32) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: ptr.To(protocol), Port: ptr.To(intstr.FromInt32(number))}
}
