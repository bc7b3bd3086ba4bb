package fn

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
	"tmi.dev/function-tmicomponent/input/v1beta1"
)

// defaultInput returns the Input of a step that gives none, changed as told.
func defaultInput(change ...func(*v1beta1.Input)) *v1beta1.Input {
	in := &v1beta1.Input{}
	in.SetDefaults()
	for _, f := range change {
		f(in)
	}
	return in
}

func TestRenderNetworkPolicy(t *testing.T) {
	t.Parallel()

	ports := func(protocol corev1.Protocol, numbers ...int32) []networkingv1.NetworkPolicyPort {
		var ps []networkingv1.NetworkPolicyPort
		for _, n := range numbers {
			ps = append(ps, networkingv1.NetworkPolicyPort{Protocol: ptr.To(protocol), Port: ptr.To(intstr.FromInt32(n))})
		}
		return ps
	}
	tcpPorts := func(numbers ...int32) []networkingv1.NetworkPolicyPort { return ports("TCP", numbers...) }
	labels := func(l map[string]string) *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: l} }
	to := func(peers ...networkingv1.NetworkPolicyPeer) []networkingv1.NetworkPolicyPeer { return peers }
	block := func(cidr string, except ...string) []networkingv1.NetworkPolicyPeer {
		return to(networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr, Except: except}})
	}

	natsRule := networkingv1.NetworkPolicyEgressRule{
		To: to(networkingv1.NetworkPolicyPeer{
			NamespaceSelector: labels(map[string]string{"kubernetes.io/metadata.name": "tmi-platform"}),
			PodSelector:       labels(map[string]string{"app": "nats"}),
		}),
		Ports: tcpPorts(4222),
	}
	dnsPorts := append(ports("UDP", 53), ports("TCP", 53)...)
	dnsRule := networkingv1.NetworkPolicyEgressRule{
		To: to(networkingv1.NetworkPolicyPeer{
			NamespaceSelector: labels(map[string]string{"kubernetes.io/metadata.name": "kube-system"}),
			PodSelector:       labels(map[string]string{"k8s-app": "kube-dns"}),
		}),
		Ports: dnsPorts,
	}
	except := []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "168.63.129.16/32", "192.0.0.192/32"}

	everything := &v1alpha1.Allowlist{
		CIDRs: []string{"203.0.113.0/24", "2001:db8::/32"},
		ClusterPeers: []v1alpha1.ClusterPeer{
			{NamespaceSelector: map[string]string{"a": "b"}, PodSelector: map[string]string{"c": "d"}, Ports: []int32{8080, 8443}},
			{PodSelector: map[string]string{"app": "cache"}},
			{NamespaceSelector: map[string]string{"team": "x"}},
		},
		OpenInternet: true,
		Ports:        []int32{443, 8443},
	}
	type args struct {
		egress    v1alpha1.Egress
		allowlist *v1alpha1.Allowlist
		in        *v1beta1.Input
	}
	cases := map[string]struct {
		reason string
		args   args
		want   []networkingv1.NetworkPolicyEgressRule
	}{
		"None": {
			reason: "none is NATS and nothing else: no DNS, no metadata.",
			args:   args{egress: "none", in: defaultInput()},
			want:   []networkingv1.NetworkPolicyEgressRule{natsRule},
		},
		"NoneIgnoresAllowlist": {
			reason: "An allowlist should be ignored unless egress says so.",
			args:   args{egress: "none", allowlist: everything, in: defaultInput()},
			want:   []networkingv1.NetworkPolicyEgressRule{natsRule},
		},
		"FetchControlled": {
			reason: "fetch-controlled is reserved, and the same as none.",
			args:   args{egress: "fetch-controlled", allowlist: everything, in: defaultInput()},
			want:   []networkingv1.NetworkPolicyEgressRule{natsRule},
		},
		"Unknown": {
			reason: "A posture that is not known, which is refused elsewhere, should allow nothing.",
			args:   args{egress: "everything", allowlist: everything, in: defaultInput()},
			want:   []networkingv1.NetworkPolicyEgressRule{natsRule},
		},
		"AllowlistWithoutOne": {
			reason: "Nor should an allowlist that is not there.",
			args:   args{egress: "allowlist", in: defaultInput()},
			want:   []networkingv1.NetworkPolicyEgressRule{natsRule},
		},
		"Everything": {
			reason: "Each entry should be a rule of its own, in order, with its own ports or else the allowlist's.",
			args:   args{egress: "allowlist", allowlist: everything, in: defaultInput()},
			want: []networkingv1.NetworkPolicyEgressRule{
				natsRule,
				dnsRule,
				{To: block("203.0.113.0/24"), Ports: tcpPorts(443, 8443)},
				{To: block("2001:db8::/32"), Ports: tcpPorts(443, 8443)},
				{To: to(networkingv1.NetworkPolicyPeer{NamespaceSelector: labels(map[string]string{"a": "b"}), PodSelector: labels(map[string]string{"c": "d"})}), Ports: tcpPorts(8080, 8443)},
				{To: to(networkingv1.NetworkPolicyPeer{PodSelector: labels(map[string]string{"app": "cache"})}), Ports: tcpPorts(443, 8443)},
				{To: to(networkingv1.NetworkPolicyPeer{NamespaceSelector: labels(map[string]string{"team": "x"})}), Ports: tcpPorts(443, 8443)},
				{To: block("0.0.0.0/0", except...), Ports: tcpPorts(443, 8443)},
			},
		},
		"DefaultPort": {
			reason: "Without ports it should be 443.",
			args: args{egress: "allowlist", in: defaultInput(), allowlist: &v1alpha1.Allowlist{
				CIDRs: []string{"203.0.113.7/32"}, ClusterPeers: []v1alpha1.ClusterPeer{{PodSelector: map[string]string{"a": "b"}}}, OpenInternet: true,
			}},
			want: []networkingv1.NetworkPolicyEgressRule{
				natsRule,
				dnsRule,
				{To: block("203.0.113.7/32"), Ports: tcpPorts(443)},
				{To: to(networkingv1.NetworkPolicyPeer{PodSelector: labels(map[string]string{"a": "b"})}), Ports: tcpPorts(443)},
				{To: block("0.0.0.0/0", except...), Ports: tcpPorts(443)},
			},
		},
		"OpenInternet": {
			reason: "The open internet is IPv4 without private and metadata ranges.",
			args:   args{egress: "allowlist", in: defaultInput(), allowlist: &v1alpha1.Allowlist{OpenInternet: true, Ports: []int32{80}}},
			want:   []networkingv1.NetworkPolicyEgressRule{natsRule, dnsRule, {To: block("0.0.0.0/0", except...), Ports: tcpPorts(80)}},
		},
		"Peers": {
			reason: "NATS and DNS should be where the Input says.",
			args: args{
				egress:    "allowlist",
				allowlist: &v1alpha1.Allowlist{CIDRs: []string{"203.0.113.0/24"}},
				in: defaultInput(func(in *v1beta1.Input) {
					in.NATS.Peer = v1beta1.NATSPeer{NamespaceSelector: map[string]string{"n": "1"}, PodSelector: map[string]string{"p": "1"}, Port: ptr.To[int32](4333)}
					in.DNSPeers = []v1beta1.DNSPeer{{CIDR: "169.254.20.10/32"}, {PodSelector: map[string]string{"dns": "1"}}, {NamespaceSelector: map[string]string{"n": "2"}}}
				}),
			},
			want: []networkingv1.NetworkPolicyEgressRule{
				{To: to(networkingv1.NetworkPolicyPeer{NamespaceSelector: labels(map[string]string{"n": "1"}), PodSelector: labels(map[string]string{"p": "1"})}), Ports: tcpPorts(4333)},
				{
					To: to(
						networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "169.254.20.10/32"}},
						networkingv1.NetworkPolicyPeer{PodSelector: labels(map[string]string{"dns": "1"})},
						networkingv1.NetworkPolicyPeer{NamespaceSelector: labels(map[string]string{"n": "2"})},
					),
					Ports: dnsPorts,
				},
				{To: block("203.0.113.0/24"), Ports: tcpPorts(443)},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := RenderNetworkPolicy(component(func(c *Component) {
				c.Spec.Egress, c.Spec.Allowlist = tc.args.egress, tc.args.allowlist
			}), tc.args.in)

			want := &networkingv1.NetworkPolicy{
				TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
				ObjectMeta: metav1.ObjectMeta{Name: "tmi-extractor", Namespace: "team-a", Labels: map[string]string{
					"tmi.dev/component":            "tmi-extractor",
					"app.kubernetes.io/name":       "tmi-extractor",
					"app.kubernetes.io/instance":   "tmi-extractor",
					"app.kubernetes.io/component":  "worker",
					"app.kubernetes.io/part-of":    "tmi-component-platform",
					"app.kubernetes.io/managed-by": "function-tmicomponent",
				}},
				Spec: networkingv1.NetworkPolicySpec{
					PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"tmi.dev/component": "tmi-extractor"}},
					PolicyTypes: []networkingv1.PolicyType{"Egress"},
					Egress:      tc.want,
				},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nRenderNetworkPolicy(...): -want, +got:\n%s", tc.reason, diff)
			}
			for i, r := range got.Spec.Egress {
				if len(r.To) == 0 || len(r.Ports) == 0 {
					t.Errorf("\n%s\negress[%d] must say where to, and on which ports: it would allow any", tc.reason, i)
				}
				for _, p := range r.To {
					if p.IPBlock == nil && p.PodSelector == nil && p.NamespaceSelector == nil {
						t.Errorf("\n%s\negress[%d] has an empty peer", tc.reason, i)
					}
				}
			}
		})
	}
}

// TestOpenInternetLeavesOutMetadata shows that no IPv4 metadata address is
// within the open internet, and that an API server takes each exception: it
// must lie strictly within the range.
func TestOpenInternetLeavesOutMetadata(t *testing.T) {
	t.Parallel()

	policy := RenderNetworkPolicy(component(func(c *Component) {
		c.Spec.Egress, c.Spec.Allowlist = "allowlist", &v1alpha1.Allowlist{OpenInternet: true}
	}), defaultInput())
	b := policy.Spec.Egress[2].To[0].IPBlock
	all := netip.MustParsePrefix(b.CIDR)

	for _, metadata := range []string{"169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192"} {
		excepted := false
		for _, e := range b.Except {
			excepted = excepted || netip.MustParsePrefix(e).Contains(netip.MustParseAddr(metadata))
		}
		if !excepted {
			t.Errorf("%s can be reached", metadata)
		}
	}
	for _, e := range b.Except {
		p := netip.MustParsePrefix(e)
		if p != p.Masked() || !all.Overlaps(p) || p.Bits() <= all.Bits() || p.Addr().Is4() != all.Addr().Is4() {
			t.Errorf("%s is not strictly within %s", e, b.CIDR)
		}
	}
}
