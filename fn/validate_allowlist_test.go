package fn

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

func TestValidateAllowlist(t *testing.T) {
	t.Parallel()

	peers := func(ps ...v1alpha1.ClusterPeer) *v1alpha1.Allowlist { return &v1alpha1.Allowlist{ClusterPeers: ps} }
	app := map[string]string{"app": "cache"}

	cases := map[string]struct {
		reason string
		args   *v1alpha1.Allowlist
		want   []string
	}{
		"Nil":          {"An allowlist is there.", nil, []string{"Required value allowlist"}},
		"Empty":        {"It names something.", &v1alpha1.Allowlist{}, []string{"Required value allowlist"}},
		"PortsOnly":    {"Ports alone are nothing.", &v1alpha1.Allowlist{Ports: []int32{443}, CIDRs: []string{}}, []string{"Required value allowlist"}},
		"Internet":     {"The open internet is something.", &v1alpha1.Allowlist{OpenInternet: true}, nil},
		"CIDR":         {"So is a range.", &v1alpha1.Allowlist{CIDRs: []string{"203.0.113.0/24", "2001:db8::/32", "10.1.2.3/32"}}, nil},
		"Peers":        {"So are peers, with one selector or both.", peers(v1alpha1.ClusterPeer{PodSelector: app}, v1alpha1.ClusterPeer{NamespaceSelector: app, Ports: []int32{1, 65535}}), nil},
		"PeerEmpty":    {"A peer selects something: an empty selector would select everything.", peers(v1alpha1.ClusterPeer{}, v1alpha1.ClusterPeer{PodSelector: map[string]string{}, Ports: []int32{80}}), []string{"Required value allowlist.clusterPeers[0]", "Required value allowlist.clusterPeers[1]"}},
		"PeerKey":      {"Labels have legal keys.", peers(v1alpha1.ClusterPeer{PodSelector: map[string]string{"a b": "c"}, NamespaceSelector: map[string]string{"/x": "c"}}), []string{"Invalid value allowlist.clusterPeers[0].namespaceSelector", "Invalid value allowlist.clusterPeers[0].podSelector"}},
		"PeerValue":    {"Labels have legal values.", peers(v1alpha1.ClusterPeer{PodSelector: map[string]string{"a": "b c", "d": strings.Repeat("x", 64)}}), []string{"Invalid value allowlist.clusterPeers[0].podSelector[a]", "Invalid value allowlist.clusterPeers[0].podSelector[d]"}},
		"EmptyValue":   {"A label may have an empty value.", peers(v1alpha1.ClusterPeer{PodSelector: map[string]string{"a": ""}}), nil},
		"PeerPorts":    {"Ports are ports.", peers(v1alpha1.ClusterPeer{PodSelector: app, Ports: []int32{80, 0, 65536, -1}}), []string{"Invalid value allowlist.clusterPeers[0].ports[1]", "Invalid value allowlist.clusterPeers[0].ports[2]", "Invalid value allowlist.clusterPeers[0].ports[3]"}},
		"Ports":        {"So are the allowlist's.", &v1alpha1.Allowlist{OpenInternet: true, Ports: []int32{-443, 443, 70000}}, []string{"Invalid value allowlist.ports[0]", "Invalid value allowlist.ports[2]"}},
		"LongLabelKey": {"A long key is not repeated whole.", peers(v1alpha1.ClusterPeer{PodSelector: map[string]string{strings.Repeat("x", 10000): strings.Repeat("y", 10000)}}), []string{"Invalid value allowlist.clusterPeers[0].podSelector", "Invalid value allowlist.clusterPeers[0].podSelector[" + strings.Repeat("x", 64) + "...]"}},
		"MostPorts": {
			"As many ports as the policy may name in all are fine.",
			&v1alpha1.Allowlist{OpenInternet: true, CIDRs: slices.Repeat([]string{"203.0.113.0/24"}, 15), Ports: slices.Repeat([]int32{443}, 256)}, nil,
		},
		"TooManyPorts": {
			"One more is too many: each range and each peer without ports of its own repeats the ports.",
			&v1alpha1.Allowlist{
				OpenInternet: true, CIDRs: slices.Repeat([]string{"203.0.113.0/24"}, 14), Ports: slices.Repeat([]int32{443}, 256),
				ClusterPeers: []v1alpha1.ClusterPeer{{PodSelector: app}, {PodSelector: app, Ports: []int32{80}}},
			},
			[]string{"Invalid value allowlist.ports"},
		},
		"TooManyOfAll": {
			"There are bounds for ranges and for peers, too.",
			&v1alpha1.Allowlist{CIDRs: slices.Repeat([]string{"x"}, maxCIDRs+1), ClusterPeers: slices.Repeat([]v1alpha1.ClusterPeer{{}}, maxClusterPeers+1)},
			[]string{"Too many allowlist.cidrs", "Too many allowlist.clusterPeers"},
		},
		"MostOfAll": {
			"As many ranges and peers as there may be are fine.",
			&v1alpha1.Allowlist{CIDRs: slices.Repeat([]string{"203.0.113.0/24"}, maxCIDRs), ClusterPeers: slices.Repeat([]v1alpha1.ClusterPeer{{PodSelector: app}}, maxClusterPeers)}, nil,
		},
		"AllAtOnce": {
			"All is told at once.",
			&v1alpha1.Allowlist{CIDRs: []string{"x", "203.0.113.0/24", "::/0"}, ClusterPeers: []v1alpha1.ClusterPeer{{}}, Ports: []int32{0}},
			[]string{"Invalid value allowlist.cidrs[0]", "Invalid value allowlist.cidrs[2]", "Required value allowlist.clusterPeers[0]", "Invalid value allowlist.ports[0]"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := validateAllowlist(tc.args, field.NewPath("allowlist"))
			if diff := cmp.Diff(tc.want, brief(errs)); diff != "" {
				t.Errorf("\n%s\nvalidateAllowlist(...): -want, +got:\n%s\n%v", tc.reason, diff, errs)
			}
			explained(t, errs)
		})
	}
}

func TestRefusedCIDR(t *testing.T) {
	t.Parallel()

	const (
		fine         = ""
		noRange      = "must be a range"
		route        = "must not be a default route"
		metadata     = "must not cover "
		mapped       = "must be written as an IPv4 range"
		notCanonical = "must be 10.1.0.0/16, or for the one address 10.1.2.3/32"
	)
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"IPv4":          {"A range of IPv4 is fine.", "203.0.113.0/24", fine},
		"IPv6":          {"A range of IPv6 is fine.", "2001:db8:40::/48", fine},
		"Address":       {"So is one address.", "10.0.0.7/32", fine},
		"Address6":      {"So is one of IPv6.", "2001:db8::7/128", fine},
		"Private":       {"Private ranges can be meant.", "10.0.0.0/8", fine},
		"Empty":         {"Nothing is no range.", "", noRange},
		"Word":          {"A name is no range.", "example.com", noRange},
		"NoBits":        {"An address without its bits is no range.", "10.0.0.7", noRange},
		"ManyBits":      {"There are no 33 bits.", "10.0.0.0/33", noRange},
		"ManyBits6":     {"There are no 129 bits.", "::/129", noRange},
		"NegativeBits":  {"Nor fewer than none.", "10.0.0.0/-1", noRange},
		"LeadingZero":   {"Bits have no zero in front.", "10.0.0.0/08", noRange},
		"OctetZero":     {"Nor have octets.", "010.0.0.0/8", noRange},
		"Octet":         {"An octet is below 256.", "10.0.256.0/24", noRange},
		"Mask":          {"A mask is not bits.", "10.0.0.0/255.0.0.0", noRange},
		"Space":         {"A range has no space.", " 10.0.0.0/8", noRange},
		"Zone":          {"A range has no zone.", "fe80::1%eth0/64", noRange},
		"HostBits":      {"An API server refuses an address with a range's bits, so that both are offered.", "10.1.2.3/16", notCanonical},
		"HostBits6":     {"The same goes for IPv6.", "2001:db8::1/32", "must be 2001:db8::/32, or for the one address 2001:db8::1/128"},
		"Route":         {"The open internet has a field of its own.", "0.0.0.0/0", route},
		"Route6":        {"So it is in IPv6.", "::/0", route},
		"RouteHostBits": {"A default route in other words is not a range.", "1.2.3.4/0", "must be 0.0.0.0/0"},
		"Half":          {"Half of the internet covers metadata.", "128.0.0.0/1", metadata + "169.254.169.254"},
		"OtherHalf":     {"So does the other half.", "0.0.0.0/1", metadata + "100.100.100.200"},
		"Metadata":      {"The metadata address itself is refused.", "169.254.169.254/32", metadata + "169.254.169.254"},
		"LinkLocal":     {"So is the range around it.", "169.254.0.0/16", metadata + "169.254.169.254"},
		"Pair":          {"So is a small range with it.", "169.254.169.254/31", metadata + "169.254.169.254"},
		"Beside":        {"An address beside it is not it.", "169.254.169.253/32", fine},
		"ECS":           {"ECS has its own.", "169.254.170.2/32", metadata + "169.254.170.2"},
		"EKS":           {"EKS has its own.", "169.254.170.0/24", metadata + "169.254.170.2"},
		"EKS23":         {"EKS' pod identity, too.", "169.254.170.23/32", metadata + "169.254.170.23"},
		"AWS6":          {"AWS has one in IPv6.", "fd00:ec2::254/128", metadata + "fd00:ec2::254"},
		"AWS6Range":     {"Its range is refused.", "fd00:ec2::/32", metadata + "fd00:ec2::254"},
		"EKS6":          {"EKS has one in IPv6.", "fd00:ec2::23/128", metadata + "fd00:ec2::23"},
		"Azure":         {"Azure has its own.", "168.63.129.16/32", metadata + "168.63.129.16"},
		"Alibaba":       {"Alibaba has its own.", "100.100.100.0/24", metadata + "100.100.100.200"},
		"Oracle":        {"Oracle has its own.", "192.0.0.0/24", metadata + "192.0.0.192"},
		"Google6":       {"Google has one in IPv6.", "fd20:ce::/64", metadata + "fd20:ce::254"},
		"UniqueLocal":   {"All of IPv6's private range covers some.", "fc00::/7", metadata},
		"Mapped":        {"IPv4 in IPv6's clothes is refused.", "::ffff:169.254.169.254/128", mapped},
		"MappedFine":    {"Whatever it is.", "::ffff:203.0.113.0/120", mapped},
		"AroundMapped":  {"A range around the mapped ones covers them.", "::/64", metadata + "169.254.169.254"},
		"NAT64":         {"A metadata address behind NAT64 is one.", "64:ff9b::a9fe:a9fe/128", metadata + "169.254.169.254"},
		"NAT64Range":    {"NAT64 as a whole reaches them.", "64:ff9b::/96", metadata},
		"NAT64Fine":     {"Other addresses behind NAT64 are fine.", "64:ff9b::cb00:7100/120", fine},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := refusedCIDR(tc.args)
			if (got == "") != (tc.want == "") || !strings.HasPrefix(got, tc.want) {
				t.Errorf("\n%s\nrefusedCIDR(%q): want %q, got %q", tc.reason, tc.args, tc.want, got)
			}
		})
	}
}
