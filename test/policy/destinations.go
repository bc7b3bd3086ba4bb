// Package policy holds the NetworkPolicies that the function renders against
// packets, and its pods against the restricted Pod Security Standard.
package policy

import (
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kube-network-policies/pkg/api"
)

// workerNamespace is where the workers of these tests run.
const workerNamespace = "team-documents"

// A destination is something that a worker might try to reach.
type destination struct {
	name string
	ip   string
	// pod that has the address, nil for what is no pod.
	pod *api.PodInfo
}

func (d destination) IP() net.IP { return net.ParseIP(d.ip) }

func pod(namespace, name string, labels map[string]string) *api.PodInfo {
	return &api.PodInfo{
		Name:      name,
		Labels:    labels,
		Namespace: &api.Namespace{Name: namespace, Labels: map[string]string{corev1.LabelMetadataName: namespace}},
	}
}

// Pods that have a part in some policy.
var (
	natsPod = destination{"the NATS pods", "10.244.1.10", pod("tmi-platform", "nats-0", map[string]string{"app": "nats"})}
	dnsPod  = destination{"the DNS pods", "10.244.0.3", pod("kube-system", "coredns-0", map[string]string{"k8s-app": "kube-dns"})}

	layoutPod = destination{"the layout model", "10.244.2.20", pod("ml", "layout-model-0", map[string]string{"app": "layout-model"})}
	cachePod  = destination{"the team's cache", "10.244.2.30", pod(workerNamespace, "cache-0", map[string]string{"app": "cache"})}
)

// otherPods are like the ones above in all but one respect.
var otherPods = []destination{
	{"a NATS of the team's own", "10.244.1.11", pod(workerNamespace, "nats-0", map[string]string{"app": "nats"})},
	{"another pod of the platform", "10.244.1.12", pod("tmi-platform", "api-0", map[string]string{"app": "api"})},
	{"a pod without labels beside NATS", "10.244.1.13", pod("tmi-platform", "bare", nil)},
	{"a kube-dns that is not in kube-system", "10.244.0.4", pod("tmi-platform", "kube-dns", map[string]string{"k8s-app": "kube-dns"})},
	{"another pod of kube-system", "10.244.0.5", pod("kube-system", "metrics-server", map[string]string{"k8s-app": "metrics-server"})},
	{"a layout model elsewhere", "10.244.2.21", pod("ml-staging", "layout-model-0", map[string]string{"app": "layout-model"})},
	{"another pod of ml", "10.244.2.22", pod("ml", "notebook", map[string]string{"app": "notebook"})},
	{"another team's cache", "10.244.2.31", pod("team-other", "cache-0", map[string]string{"app": "cache"})},
	{"a worker of the same component", "10.244.3.1", pod(workerNamespace, "worker-1", map[string]string{"tmi.dev/component": "worker"})},
	{"a pod over IPv6", "fd12:3456::10", pod("team-other", "six", map[string]string{"app": "six"})},
}

// metadataAddresses of clouds. The list is apart from the function's own, so
// that what is forgotten there is found here.
var metadataAddresses = []destination{
	{"metadata of nearly every cloud", "169.254.169.254", nil},
	{"metadata of GKE, where the node serves it", "169.254.169.252", nil},
	{"metadata of AWS ECS", "169.254.170.2", nil},
	{"metadata of AWS EKS", "169.254.170.23", nil},
	{"metadata of AWS", "fd00:ec2::254", nil},
	{"metadata of AWS EKS", "fd00:ec2::23", nil},
	{"metadata of Google Cloud", "fd20:ce::254", nil},
	{"metadata of Azure", "168.63.129.16", nil},
	{"metadata of Alibaba Cloud", "100.100.100.200", nil},
	{"metadata of Alibaba Cloud", "fd00:100::100:200", nil},
	{"metadata of Tencent Cloud", "169.254.0.23", nil},
	{"metadata of Oracle Cloud Classic", "192.0.0.192", nil},
	{"metadata of Oracle Cloud", "fd00:c1::a9fe:a9fe", nil},
	{"metadata of OpenStack", "fe80::a9fe:a9fe", nil},
	{"metadata of Scaleway", "169.254.42.42", nil},
	{"metadata of Scaleway", "fd00:42::42", nil},
	{"metadata of Akamai", "fd00:a9fe:a9fe::1", nil},
	{"metadata by NAT64", "64:ff9b::169.254.169.254", nil},
	{"metadata of Azure by NAT64", "64:ff9b::168.63.129.16", nil},
}

// privateAddresses are those that the internet does not reach.
var privateAddresses = []destination{
	{"the API server's Service", "10.96.0.1", nil},
	{"DNS's Service", "10.96.0.10", nil},
	{"NodeLocal DNSCache", "169.254.20.10", nil},
	{"a node", "192.168.10.4", nil},
	{"another private address", "10.0.0.1", nil},
	{"another private address", "10.255.255.254", nil},
	{"another private address", "172.16.0.1", nil},
	{"another private address", "172.31.255.254", nil},
	{"another private address", "192.168.0.1", nil},
	{"another private address", "192.168.255.254", nil},
	{"a carrier-grade NAT address", "100.64.0.1", nil},
	{"a carrier-grade NAT address", "100.127.255.254", nil},
	{"a link-local address", "169.254.1.1", nil},
	{"a link-local address", "169.254.255.254", nil},
	{"a unique local address", "fd12:3456::1", nil},
	{"a unique local address", "fc00::1", nil},
	{"a link-local address", "fe80::1", nil},
}

// publicAddresses over IPv4. Some are next to what is private.
var publicAddresses = append(farAndWide(), []destination{
	{"a resolver", "1.1.1.1", nil},
	{"a resolver", "8.8.8.8", nil},
	{"a web server", "93.184.215.14", nil},
	{"an address next to 10/8", "9.255.255.255", nil},
	{"an address next to 10/8", "11.0.0.0", nil},
	{"an address next to 172.16/12", "172.15.255.255", nil},
	{"an address next to 172.16/12", "172.32.0.0", nil},
	{"an address next to 192.168/16", "192.167.255.255", nil},
	{"an address next to 192.168/16", "192.169.0.0", nil},
	{"an address next to 169.254/16", "169.253.255.255", nil},
	{"an address next to 169.254/16", "169.255.0.0", nil},
	{"an address next to 100.64/10", "100.63.255.255", nil},
	{"an address next to 100.64/10", "100.128.0.0", nil},
	{"an address next to Azure's metadata", "168.63.129.15", nil},
	{"an address next to Azure's metadata", "168.63.129.17", nil},
	{"a documentation address", "203.0.113.7", nil},
	{"the last address", "223.255.255.254", nil},
}...)

// publicAddresses6 are public ones over IPv6.
var publicAddresses6 = []destination{
	{"a resolver over IPv6", "2606:4700:4700::1111", nil},
	{"a resolver over IPv6", "2001:4860:4860::8888", nil},
	{"a documentation address over IPv6", "2001:db8:40::7", nil},
	{"a web server by NAT64", "64:ff9b::93.184.215.14", nil},
}

// farAndWide returns one public address in each /8.
func farAndWide() []destination {
	var all []destination
	for first := 1; first < 224; first++ {
		if first != 10 && first != 127 { // which are private as a whole
			all = append(all, destination{"an address far away", fmt.Sprintf("%d.200.0.1", first), nil})
		}
	}
	return all
}

// everything that a worker might try to reach.
func everything() []destination {
	all := []destination{natsPod, dnsPod, layoutPod, cachePod}
	all = append(all, otherPods...)
	all = append(all, metadataAddresses...)
	all = append(all, privateAddresses...)
	all = append(all, publicAddresses...)
	return append(all, publicAddresses6...)
}

// A service is a port and its protocol.
type service struct {
	protocol corev1.Protocol
	port     int
}

func tcp(port int) service { return service{corev1.ProtocolTCP, port} }
func udp(port int) service { return service{corev1.ProtocolUDP, port} }

// services that are tried at every destination.
var services = []service{
	tcp(4222), tcp(443), tcp(53), udp(53), tcp(80), tcp(8443), tcp(8080),
	tcp(1), tcp(22), tcp(25), tcp(52), tcp(54), tcp(442), tcp(444), tcp(988), tcp(4221), tcp(4223), tcp(5432), tcp(6222), tcp(6379), tcp(6443), tcp(7422), tcp(8222), tcp(10250), tcp(65535),
	udp(443), udp(4222), udp(80), udp(123), {corev1.ProtocolSCTP, 4222}, {corev1.ProtocolSCTP, 443}, {corev1.ProtocolSCTP, 53},
}
