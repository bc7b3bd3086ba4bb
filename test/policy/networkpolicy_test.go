package policy

import (
	"net/netip"
	"slices"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/test/properties/draw"
)

// reaches says whether a worker under that policy reaches the destination.
func reaches(t *testing.T, np *networkingv1.NetworkPolicy, d destination, s service) bool {
	t.Helper()
	worker := pod(np.Namespace, "worker-0", np.Spec.PodSelector.MatchLabels)
	return networkpolicy.EvaluatePolicyDirection(t.Context(), []*networkingv1.NetworkPolicy{np}, networkingv1.PolicyTypeEgress,
		worker, 40000, d.pod, d.IP(), s.port, s.protocol)
}

func in(d destination, set ...[]destination) bool {
	return slices.Contains(slices.Concat(set...), d)
}

// TestPolicy tries every destination on every port, under every posture.
func TestPolicy(t *testing.T) {
	t.Parallel()

	nats := func(d destination, s service) bool { return d == natsPod && s == tcp(4222) }
	dns := func(d destination, s service) bool { return d == dnsPod && (s == tcp(53) || s == udp(53)) }
	type object = map[string]any

	cases := map[string]struct {
		reason string
		spec   object
		// reached says what is to be reached beside NATS and, with an
		// allowlist, DNS.
		reached func(d destination, s service) bool
	}{
		"None": {
			reason: "none reaches NATS and nothing else.",
			spec:   object{"egress": "none"},
		},
		"NoneIgnoresAllowlist": {
			reason: "What an allowlist says does not count with none.",
			spec:   object{"egress": "none", "allowlist": object{"openInternet": true, "cidrs": []any{"203.0.113.0/24"}}},
		},
		"Default": {
			reason: "No posture is none.",
			spec:   object{},
		},
		"FetchControlled": {
			reason: "fetch-controlled is the same as none at this layer.",
			spec:   object{"egress": "fetch-controlled", "allowlist": object{"openInternet": true}},
		},
		"OpenInternet": {
			reason: "openInternet reaches public IPv4 addresses on 443, and nothing private.",
			spec:   object{"egress": "allowlist", "allowlist": object{"openInternet": true}},
			reached: func(d destination, s service) bool {
				return s == tcp(443) && in(d, publicAddresses)
			},
		},
		"OpenInternetOnPorts": {
			reason: "openInternet reaches them on its own ports only, if it has any.",
			spec:   object{"egress": "allowlist", "allowlist": object{"openInternet": true, "ports": []any{80, 8443}}},
			reached: func(d destination, s service) bool {
				return (s == tcp(80) || s == tcp(8443)) && in(d, publicAddresses)
			},
		},
		"CIDRs": {
			reason: "A range is reached on 443, and nothing next to it.",
			spec:   object{"egress": "allowlist", "allowlist": object{"cidrs": []any{"203.0.113.0/24", "2001:db8:40::/48", "192.168.10.0/24"}}},
			reached: func(d destination, s service) bool {
				return s == tcp(443) && slices.Contains([]string{"203.0.113.7", "2001:db8:40::7", "192.168.10.4"}, d.ip)
			},
		},
		"ClusterPeers": {
			reason: "Each peer is reached on its own ports, and on the allowlist's if it has none.",
			spec: object{"egress": "allowlist", "allowlist": object{
				"ports": []any{6379},
				"clusterPeers": []any{
					object{"namespaceSelector": object{corev1.LabelMetadataName: "ml"}, "podSelector": object{"app": "layout-model"}, "ports": []any{8080, 8443}},
					object{"podSelector": object{"app": "cache"}},
				},
			}},
			reached: func(d destination, s service) bool {
				return d == layoutPod && (s == tcp(8080) || s == tcp(8443)) || d == cachePod && s == tcp(6379)
			},
		},
		"PeerWithoutPorts": {
			reason: "A peer is reached on 443 if nobody names a port.",
			spec: object{"egress": "allowlist", "allowlist": object{
				"clusterPeers": []any{object{"namespaceSelector": object{corev1.LabelMetadataName: "ml"}}},
			}},
			reached: func(d destination, s service) bool {
				return d.pod != nil && d.pod.GetNamespace().GetName() == "ml" && s == tcp(443)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.spec["image"] = "worker:dev"
			tc.spec["jobSubjects"] = []any{"jobs.x"}
			xr, err := structpb.NewStruct(object{
				"apiVersion": "tmi.dev/v1alpha1", "kind": "TMIComponent",
				"metadata": object{"name": "worker", "namespace": workerNamespace}, "spec": tc.spec,
			})
			if err != nil {
				t.Fatal(err)
			}
			np := networkPolicy(t, xr)

			for _, d := range everything() {
				for _, s := range services {
					want := nats(d, s)
					if tc.spec["egress"] == "allowlist" {
						want = want || dns(d, s) || tc.reached(d, s)
					}
					if got := reaches(t, np, d, s); got != want {
						t.Errorf("\n%s\nreaches %s (%s) on %s %d: want %t, got %t", tc.reason, d.name, d.ip, s.protocol, s.port, want, got)
					}
				}
			}
		})
	}
}

// TestNoMetadata: whatever a team declares, if it is accepted, no worker
// reaches a metadata address, on any port that the policy names.
func TestNoMetadata(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(rt *rapid.T) {
		np, _ := compose(rt, draw.Composite().Draw(rt, "composite").Struct)
		if np == nil {
			return
		}
		for _, s := range servicesOf(np) {
			for _, d := range metadataAddresses {
				if reaches(t, np, d, s) {
					rt.Errorf("reaches %s (%s) on %s %d", d.name, d.ip, s.protocol, s.port)
				}
			}
		}
	})
}

// TestNoMetadataRange: no range that holds a metadata address is accepted, and
// those next to it are.
func TestNoMetadataRange(t *testing.T) {
	t.Parallel()

	for _, d := range metadataAddresses {
		address := netip.MustParseAddr(d.ip)
		for bits := 1; bits <= address.BitLen(); bits++ {
			prefix, err := address.Prefix(bits)
			if err != nil {
				t.Fatal(err)
			}
			if accepted(t, prefix.String()) {
				t.Errorf("%s, which holds %s (%s), is accepted", prefix, d.name, d.ip)
				break
			}
		}
		for _, beside := range []netip.Addr{address.Next(), address.Prev()} {
			if slices.ContainsFunc(metadataAddresses, func(d destination) bool { return netip.MustParseAddr(d.ip) == beside }) {
				continue
			}
			if prefix := netip.PrefixFrom(beside, beside.BitLen()); !accepted(t, prefix.String()) {
				t.Errorf("%s, next to %s (%s), is refused", prefix, d.name, d.ip)
			}
		}
	}
}

// accepted says whether the function accepts a component that allows the range.
func accepted(t *testing.T, cidr string) bool {
	t.Helper()
	xr, err := structpb.NewStruct(map[string]any{
		"apiVersion": "tmi.dev/v1alpha1", "kind": "TMIComponent",
		"metadata": map[string]any{"name": "worker", "namespace": workerNamespace},
		"spec": map[string]any{
			"image": "worker:dev", "jobSubjects": []any{"jobs.x"}, "egress": "allowlist",
			"allowlist": map[string]any{"cidrs": []any{cidr}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := draw.Ask(t.Context(), fn.New(), xr, offline(t))
	if err != nil {
		t.Fatal(err)
	}
	return answer.Refusal() == ""
}

// servicesOf are the ports that a policy names, and some that it may not.
func servicesOf(np *networkingv1.NetworkPolicy) []service {
	tried := slices.Clone(services)
	for _, rule := range np.Spec.Egress {
		for _, p := range rule.Ports {
			tried = append(tried, service{*p.Protocol, p.Port.IntValue()})
		}
	}
	return tried
}
