package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Provisioning says what the function does to JetStream.
//
// +kubebuilder:validation:Enum=Ensure;Observe;Disabled
type Provisioning string

const (
	// ProvisioningEnsure creates the stream and the consumer, and updates
	// those that this function owns.
	ProvisioningEnsure Provisioning = "Ensure"
	// ProvisioningObserve looks and reports, and never writes.
	ProvisioningObserve Provisioning = "Observe"
	// ProvisioningDisabled leaves JetStream to somebody else; its state is
	// not looked at and gates nothing.
	ProvisioningDisabled Provisioning = "Disabled"
)

// An Input is what a platform engineer sets once, in the Composition's
// pipeline step. Every field is optional.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:categories=crossplane
type Input struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// NATS says where JetStream is and what to do there.
	//
	// +optional
	NATS NATS `json:"nats,omitempty"`

	// DNSPeers are where workers with egress allowlist resolve names, on UDP
	// and TCP port 53. They replace the default, the kube-dns pods in
	// kube-system. A cluster with NodeLocal DNSCache needs its address here,
	// such as cidr 169.254.20.10/32.
	//
	// +optional
	DNSPeers []DNSPeer `json:"dnsPeers,omitempty"`

	// ProviderConfigRef is the ProviderConfig that the composed
	// provider-kubernetes Objects use.
	//
	// +optional
	ProviderConfigRef ProviderConfigRef `json:"providerConfigRef,omitempty"`

	// TargetNamespace is where a cluster-scoped composite without a claim
	// puts its resources. Claims and namespaced composites ignore it: theirs
	// go to their own namespace.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	TargetNamespace string `json:"targetNamespace,omitempty"`

	// AllowedSubjects are NATS subject patterns, with the wildcards * and >,
	// of which every job subject must match one as a whole. {namespace} and
	// {name} stand for the component's; a pattern with {name} allows nothing
	// to a component whose name has a dot. Any subject is allowed if none is
	// given. Where a team may choose its Composition, only the function's flag
	// --allowed-subjects (TMI_ALLOWED_SUBJECTS) keeps tenants apart: it holds
	// beside these.
	//
	// +optional
	// +kubebuilder:validation:items:MinLength=1
	AllowedSubjects []string `json:"allowedSubjects,omitempty"`

	// TTL is how long Crossplane may wait before it calls again: 1s to 24h.
	//
	// +optional
	TTL TTL `json:"ttl,omitempty"`
}

// NATS says where JetStream is and what to do there.
type NATS struct {
	// URL of the NATS servers: nats:// or tls://, or ws:// or wss://, more than
	// one separated by commas, but not websockets with others. It must hold no
	// user or password; those belong into the step's credentials. If it is not
	// given, the function's flag --nats-url (TMI_NATS_URL) counts.
	//
	// +optional
	URL string `json:"url,omitempty"`

	// Provisioning says what the function does to JetStream: Ensure (the
	// default) creates and updates, Observe only looks, Disabled does not
	// even look.
	//
	// +optional
	// +kubebuilder:default=Ensure
	Provisioning Provisioning `json:"provisioning,omitempty"`

	// AdoptExisting lets the function take over a stream and a consumer that
	// fit but were made by somebody else, as when migrating from the old
	// controller. Never those that name another owner. false if not given:
	// what fits is then used and left alone.
	//
	// +optional
	AdoptExisting bool `json:"adoptExisting,omitempty"`

	// StreamReplicas is the number of servers that hold a copy of each
	// stream. The server's default, 1, if not given; streams that exist then
	// keep what they have.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	StreamReplicas *int32 `json:"streamReplicas,omitempty"`

	// Timeout of all that one call does with NATS, as a duration: at most 1m.
	// 3s if not given.
	//
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// Account that KEDA asks for: the server's internal name of the account.
	// $G, the server's default account, if not given.
	//
	// +optional
	Account string `json:"account,omitempty"`

	// AccountID is the account's public key, which KEDA needs where the
	// servers run in operator mode.
	//
	// +optional
	AccountID string `json:"accountID,omitempty"`

	// MonitoringEndpoint of NATS that KEDA reads the depth from, as host:port
	// without a scheme. nats.tmi-platform.svc:8222 if not given.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^[^/\s]+$`
	MonitoringEndpoint string `json:"monitoringEndpoint,omitempty"`

	// MonitoringHTTPS makes KEDA read the monitoring endpoint by HTTPS. If it
	// is not given, nothing is said, and KEDA's default holds: HTTP.
	//
	// +optional
	MonitoringHTTPS *bool `json:"monitoringHTTPS,omitempty"`

	// TLSServerName is the name that the servers' certificate must bear, if
	// it is not the URL's host, as when dialling an address. If it is not
	// given, the function's flag --nats-tls-server-name
	// (TMI_NATS_TLS_SERVER_NAME) counts.
	//
	// +optional
	TLSServerName string `json:"tlsServerName,omitempty"`

	// JetStreamDomain that the streams live in, for leaf nodes and
	// multi-domain systems. That of the server if not given.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^[^\s.*>]+$`
	JetStreamDomain string `json:"jetStreamDomain,omitempty"`

	// Peer is the NATS pods as workers reach them.
	//
	// +optional
	Peer NATSPeer `json:"peer,omitempty"`
}

// A NATSPeer selects the NATS pods in the workers' NetworkPolicies.
type NATSPeer struct {
	// NamespaceSelector holds the labels of the NATS pods' namespace.
	// kubernetes.io/metadata.name: tmi-platform if not given.
	//
	// +optional
	NamespaceSelector map[string]string `json:"namespaceSelector,omitempty"`

	// PodSelector holds the labels of the NATS pods. app: nats if not given.
	//
	// +optional
	PodSelector map[string]string `json:"podSelector,omitempty"`

	// Port, TCP, of NATS. 4222 if not given.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
}

// A DNSPeer is where names are resolved: pods, or a range of addresses.
//
// +kubebuilder:validation:XValidation:rule="has(self.cidr) != (has(self.namespaceSelector) || has(self.podSelector))",message="give either cidr, or namespaceSelector and podSelector"
type DNSPeer struct {
	// NamespaceSelector holds labels of the DNS pods' namespace.
	//
	// +optional
	NamespaceSelector map[string]string `json:"namespaceSelector,omitempty"`

	// PodSelector holds labels of the DNS pods.
	//
	// +optional
	PodSelector map[string]string `json:"podSelector,omitempty"`

	// CIDR of DNS servers that are no pods, such as 169.254.20.10/32.
	//
	// +optional
	CIDR string `json:"cidr,omitempty"`
}

// ProviderConfigRef names a provider-kubernetes ProviderConfig.
type ProviderConfigRef struct {
	// Name of the ProviderConfig. default if not given.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// Kind of the ProviderConfig: ClusterProviderConfig (the default) or
	// ProviderConfig. Only for namespaced composites; cluster-scoped Objects
	// know one kind only.
	//
	// +optional
	// +kubebuilder:validation:Enum=ProviderConfig;ClusterProviderConfig
	Kind string `json:"kind,omitempty"`
}

// TTL is how long Crossplane may wait before it calls again, as durations such
// as 60s, from 1s to 24h.
type TTL struct {
	// Steady is for a component that is as it should be. If it is not given,
	// the function's flag --ttl-steady counts, 60s by default.
	//
	// +optional
	Steady *metav1.Duration `json:"steady,omitempty"`

	// Converging is for a component on its way there. If it is not given, the
	// function's flag --ttl-converging counts, 3s by default.
	//
	// +optional
	Converging *metav1.Duration `json:"converging,omitempty"`
}
