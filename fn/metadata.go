package fn

import "net/netip"

// metadataAddresses are where clouds serve instance metadata and, with it,
// credentials of the node. No worker ever reaches them, whatever a team
// declares.
var metadataAddresses = []struct {
	address netip.Addr
	of      string
}{
	{netip.MustParseAddr("169.254.169.254"), "AWS, Azure, Google Cloud and others"},
	{netip.MustParseAddr("169.254.169.252"), "GKE"},
	{netip.MustParseAddr("169.254.170.2"), "AWS ECS"},
	{netip.MustParseAddr("169.254.170.23"), "AWS EKS"},
	{netip.MustParseAddr("fd00:ec2::254"), "AWS"},
	{netip.MustParseAddr("fd00:ec2::23"), "AWS EKS"},
	{netip.MustParseAddr("168.63.129.16"), "Azure"},
	{netip.MustParseAddr("100.100.100.200"), "Alibaba Cloud"},
	{netip.MustParseAddr("fd00:100::100:200"), "Alibaba Cloud"},
	{netip.MustParseAddr("169.254.0.23"), "Tencent Cloud"},
	{netip.MustParseAddr("192.0.0.192"), "Oracle Cloud"},
	{netip.MustParseAddr("fd00:c1::a9fe:a9fe"), "Oracle Cloud"},
	{netip.MustParseAddr("fd20:ce::254"), "Google Cloud"},
	{netip.MustParseAddr("fe80::a9fe:a9fe"), "OpenStack"},
	{netip.MustParseAddr("169.254.42.42"), "Scaleway"},
	{netip.MustParseAddr("fd00:42::42"), "Scaleway"},
	{netip.MustParseAddr("fd00:a9fe:a9fe::1"), "Akamai"},
}

// openInternetExcept is what the open internet leaves out: private and
// carrier-grade NAT networks, link-local addresses, and those metadata
// addresses that lie outside of them. The first four are (fixed).
var openInternetExcept = []string{
	"10.0.0.0/8",
	"172.16.0.0/12",
	"192.168.0.0/16",
	"169.254.0.0/16",
	"100.64.0.0/10",
	"168.63.129.16/32",
	"192.0.0.192/32",
}

// translations are the IPv6 prefixes below which an IPv4 address can be reached
// by writing it into the last 32 bits: IPv4-compatible and IPv4-mapped addresses
// (RFC 4291) and NAT64 (RFC 6052). A range of these holds metadata addresses too.
var translations = []netip.Prefix{
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("::ffff:0:0/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
}

// localTranslation is for NAT64 of a network's own making (RFC 8215): where in
// it an IPv4 address is written is not known.
var localTranslation = netip.MustParsePrefix("64:ff9b:1::/48")

// coveredMetadataAddress returns a metadata address within prefix and the cloud
// that it belongs to.
func coveredMetadataAddress(prefix netip.Prefix) (address netip.Addr, cloud string, covered bool) {
	if first := metadataAddresses[0]; prefix.Overlaps(localTranslation) {
		return first.address, first.of, true
	}
	for _, m := range metadataAddresses {
		if prefix.Contains(m.address) {
			return m.address, m.of, true
		}
		if !m.address.Is4() {
			continue
		}
		for _, t := range translations {
			b, v4 := t.Addr().As16(), m.address.As4()
			copy(b[12:], v4[:])
			if prefix.Contains(netip.AddrFrom16(b)) {
				return m.address, m.of, true
			}
		}
	}
	return netip.Addr{}, "", false
}
