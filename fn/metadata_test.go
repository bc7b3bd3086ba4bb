package fn

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCoveredMetadataAddress(t *testing.T) {
	t.Parallel()

	type want struct {
		address string
		covered bool
	}
	cases := map[string]struct {
		reason string
		args   string
		want   want
	}{
		"Public":     {"A public range covers none.", "203.0.113.0/24", want{}},
		"Itself":     {"An address covers itself.", "169.254.169.254/32", want{"169.254.169.254", true}},
		"First":      {"Of several the first is named.", "0.0.0.0/0", want{"169.254.169.254", true}},
		"IPv6":       {"IPv6 is looked at as well.", "fd00:ec2::/64", want{"fd00:ec2::254", true}},
		"Mapped":     {"So is IPv4 that is written as IPv6.", "::ffff:0:0/96", want{"169.254.169.254", true}},
		"Compatible": {"So is an IPv4-compatible address.", "::a9fe:a9fe/128", want{"169.254.169.254", true}},
		"LocalNAT64": {"Where local NAT64 writes an address is not known, so that none of it is allowed.", "64:ff9b:1:2::/64", want{"169.254.169.254", true}},
		"NAT64":      {"So is IPv4 behind NAT64.", "64:ff9b::a83f:8110/128", want{"168.63.129.16", true}},
		"IPv6Public": {"A public range of IPv6 covers none.", "2606:4700::/32", want{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, cloud, covered := coveredMetadataAddress(netip.MustParsePrefix(tc.args))
			got := want{covered: covered}
			if covered {
				got.address = address.String()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\ncoveredMetadataAddress(%s): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
			if (cloud != "") != covered {
				t.Errorf("\n%s\nwant the cloud named, got %q", tc.reason, cloud)
			}
		})
	}
}

// TestEveryMetadataAddressIsRefused shows that no cloud's metadata address can
// be had, alone or within any range around it.
func TestEveryMetadataAddressIsRefused(t *testing.T) {
	t.Parallel()

	for _, a := range []string{
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23",
		"168.63.129.16", "100.100.100.200", "192.0.0.192", "fd20:ce::254", "169.254.169.252", "fd00:100::100:200", "169.254.0.23",
		"fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe", "169.254.42.42", "fd00:42::42", "fd00:a9fe:a9fe::1",
	} {
		address := netip.MustParseAddr(a)
		for bits := range address.BitLen() + 1 {
			cidr := netip.PrefixFrom(address, bits).Masked().String()
			if refusedCIDR(cidr) == "" {
				t.Errorf("%s covers %s and is not refused", cidr, a)
			}
		}
	}
}
