package v1beta1

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defaults of the fields that are not given.
const (
	DefaultAccount                  = "$G"
	DefaultMonitoringEndpoint       = "nats.tmi-platform.svc:8222"
	DefaultNATSPort           int32 = 4222
	DefaultProviderConfig           = "default"
	DefaultProviderConfigKind       = ClusterProviderConfig
	DefaultTimeout                  = 3 * time.Second
	DefaultSteadyTTL                = 60 * time.Second
	DefaultConvergingTTL            = 3 * time.Second
)

// Kinds of ProviderConfig that a namespaced Object can refer to.
const (
	ClusterProviderConfig    = "ClusterProviderConfig"
	NamespacedProviderConfig = "ProviderConfig"
)

// Labels of the NATS pods (fixed) and of the DNS pods, and of the namespaces
// that they run in.
var (
	DefaultNATSNamespace = map[string]string{corev1.LabelMetadataName: "tmi-platform"}
	DefaultNATSPods      = map[string]string{"app": "nats"}
	DefaultDNSNamespace  = map[string]string{corev1.LabelMetadataName: "kube-system"}
	DefaultDNSPods       = map[string]string{"k8s-app": "kube-dns"}
)

// SetDefaults fills in the fields that were not given. The NATS URL and the
// number of stream replicas have no default.
func (in *Input) SetDefaults() {
	n := &in.NATS
	n.Provisioning = defaulted(n.Provisioning, ProvisioningEnsure)
	n.Account = defaulted(n.Account, DefaultAccount)
	n.MonitoringEndpoint = defaulted(n.MonitoringEndpoint, DefaultMonitoringEndpoint)
	n.Timeout = defaulted(n.Timeout, &metav1.Duration{Duration: DefaultTimeout})

	if len(n.Peer.NamespaceSelector) == 0 {
		n.Peer.NamespaceSelector = maps.Clone(DefaultNATSNamespace)
	}
	if len(n.Peer.PodSelector) == 0 {
		n.Peer.PodSelector = maps.Clone(DefaultNATSPods)
	}
	port := DefaultNATSPort
	n.Peer.Port = defaulted(n.Peer.Port, &port)

	if len(in.DNSPeers) == 0 {
		in.DNSPeers = []DNSPeer{{
			NamespaceSelector: maps.Clone(DefaultDNSNamespace),
			PodSelector:       maps.Clone(DefaultDNSPods),
		}}
	}
	in.ProviderConfigRef.Name = defaulted(in.ProviderConfigRef.Name, DefaultProviderConfig)
	in.ProviderConfigRef.Kind = defaulted(in.ProviderConfigRef.Kind, DefaultProviderConfigKind)
	in.TTL.Steady = defaulted(in.TTL.Steady, &metav1.Duration{Duration: DefaultSteadyTTL})
	in.TTL.Converging = defaulted(in.TTL.Converging, &metav1.Duration{Duration: DefaultConvergingTTL})
}

// defaulted returns v, or def if v is its type's zero value.
func defaulted[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
