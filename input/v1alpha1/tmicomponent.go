package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InputMode says how a worker gets the bytes that a job is about.
//
// +kubebuilder:validation:Enum=content-ref;source-locator
type InputMode string

const (
	// InputModeContentRef: the job names content that the platform stored, so
	// the worker needs no egress of its own to get it.
	InputModeContentRef InputMode = "content-ref"
	// InputModeSourceLocator: the job names a place elsewhere, and the worker
	// fetches from there, so it needs egress.
	InputModeSourceLocator InputMode = "source-locator"
)

// Egress is a worker's network posture: what it can reach beside NATS.
//
// +kubebuilder:validation:Enum=none;fetch-controlled;allowlist
type Egress string

const (
	// EgressNone reaches NATS and nothing else, not even DNS.
	EgressNone Egress = "none"
	// EgressFetchControlled is reserved for workers that fetch through the
	// platform's proxy. Its NetworkPolicy is that of EgressNone.
	EgressFetchControlled Egress = "fetch-controlled"
	// EgressAllowlist reaches NATS, DNS and what the allowlist names.
	EgressAllowlist Egress = "allowlist"
)

// Defaults of the optional fields, the same in the XRDs' schemas and in
// SetDefaults, so that `crossplane composition render`, which applies no
// schema, shows what a cluster gets.
const (
	DefaultInputMode              = InputModeContentRef
	DefaultEgress                 = EgressNone
	DefaultMinReplicas      int32 = 0
	DefaultMaxReplicas      int32 = 10
	DefaultQueueDepthTarget int32 = 5
)

// A TMIComponent is a worker type of the TMI Component Platform: an image
// that consumes jobs from NATS JetStream, scaled from zero by the depth of its
// queue.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories=tmi
// +kubebuilder:printcolumn:name="EGRESS",type="string",JSONPath=".spec.egress"
// +kubebuilder:printcolumn:name="MIN",type="integer",JSONPath=".spec.scaling.minReplicas",priority=1
// +kubebuilder:printcolumn:name="MAX",type="integer",JSONPath=".spec.scaling.maxReplicas",priority=1
// +kubebuilder:printcolumn:name="JETSTREAM",type="string",JSONPath=".status.conditions[?(@.type=='JetStreamReady')].reason"
// +kubebuilder:printcolumn:name="DEPLOYMENT",type="string",JSONPath=".status.conditions[?(@.type=='DeploymentReady')].reason"
// +kubebuilder:printcolumn:name="STREAM",type="string",JSONPath=".status.jetStream.stream",priority=1
// +kubebuilder:validation:XValidation:rule="self.kind != 'TMIComponent' || size(self.metadata.name) <= 54",message="the name must be at most 54 characters long: KEDA names its HPA keda-hpa-<name>, which may have 63",fieldPath=".metadata.name"
type TMIComponent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TMIComponentSpec `json:"spec"`

	// +optional
	Status TMIComponentStatus `json:"status,omitempty"`
}

// TMIComponentSpec is what a team asks for. It may have 320 KiB in all.
//
// +kubebuilder:validation:XValidation:rule="!(self.inputMode == 'source-locator' && self.egress == 'none')",message="inputMode source-locator needs egress: a worker that fetches its own input cannot do so with egress none; use allowlist, or inputMode content-ref",fieldPath=".egress"
// +kubebuilder:validation:XValidation:rule="self.egress != 'allowlist' || (has(self.allowlist) && ((has(self.allowlist.cidrs) && size(self.allowlist.cidrs) > 0) || (has(self.allowlist.clusterPeers) && size(self.allowlist.clusterPeers) > 0) || (has(self.allowlist.openInternet) && self.allowlist.openInternet)))",message="egress allowlist needs something to allow: at least one of allowlist.cidrs, allowlist.clusterPeers, allowlist.openInternet"
type TMIComponentSpec struct {
	// Image of the worker: a reference that the cluster's nodes can pull,
	// best by digest.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`

	// JobSubjects are the NATS subjects whose messages are this component's
	// jobs. The component's JetStream stream stores exactly these. The first
	// token of each must be literal; later tokens may be the wildcards * and
	// >. At most 1000 subjects, of at most 32 tokens each. No subject may
	// overlap another one, here or in another component.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:Pattern=`^[^\s.*>$][^\s]*$`
	JobSubjects []string `json:"jobSubjects"`

	// InputMode says how the worker gets the bytes that a job is about:
	// content-ref, from the platform's store, or source-locator, by fetching
	// them itself, for which it needs egress.
	//
	// +optional
	// +kubebuilder:default=content-ref
	InputMode InputMode `json:"inputMode,omitempty"`

	// Egress is the worker's network posture. none: NATS only, not even DNS.
	// allowlist: NATS, DNS and what the allowlist names. fetch-controlled:
	// reserved, the same as none for now.
	//
	// +optional
	// +kubebuilder:default=none
	Egress Egress `json:"egress,omitempty"`

	// Allowlist names what the worker can reach with egress allowlist. It is
	// ignored with any other egress.
	//
	// +optional
	Allowlist *Allowlist `json:"allowlist,omitempty"`

	// Config becomes environment variables of the worker. The values may
	// refer to earlier variables as $(NAME). TMI_JOB_ACK_WAIT is also read by
	// the platform: the time that the worker has to finish one job (a
	// duration such as 90s or 2m, 90s if not given), after which the job is
	// delivered again. At most 1000 entries, and 256 KiB of names and values
	// in all, as JSON.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=1000
	// +kubebuilder:validation:XValidation:rule="!('TMI_JOB_ACK_WAIT' in self) || self['TMI_JOB_ACK_WAIT'].matches('^[+]?([0-9]*[.]?[0-9]*(ns|us|µs|μs|ms|s|m|h))+$') && duration(self['TMI_JOB_ACK_WAIT']) > duration('0s')",message="TMI_JOB_ACK_WAIT must be a duration above zero, such as 90s or 2m"
	Config map[string]string `json:"config,omitempty"`

	// SecretRefs become environment variables of the worker, each from one
	// key of a Secret in the component's namespace. At most 1000.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	SecretRefs []SecretRef `json:"secretRefs,omitempty"`

	// Resources that the worker requests and is limited to. Resource claims
	// are not supported.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="resource claims are not supported",fieldPath=".claims"
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// ScratchVolume is an empty writable volume for temporary files. The rest
	// of the worker's file system is read-only.
	//
	// +optional
	ScratchVolume *ScratchVolume `json:"scratchVolume,omitempty"`

	// Scaling bounds the number of workers and says how deep a queue each one
	// is for.
	//
	// +optional
	// +kubebuilder:default={}
	Scaling Scaling `json:"scaling,omitempty"`
}

// Allowlist names what a worker with egress allowlist can reach beside NATS
// and DNS. The cloud metadata service is never reachable.
type Allowlist struct {
	// CIDRs, IPv4 or IPv6, at most 1000. A default route is refused (use
	// openInternet), and so is a range that holds a cloud metadata address.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	CIDRs []string `json:"cidrs,omitempty"`

	// ClusterPeers are pods of this cluster, at most 256 selections.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=256
	ClusterPeers []ClusterPeer `json:"clusterPeers,omitempty"`

	// OpenInternet allows every public IPv4 address: all but private ranges
	// and the cloud metadata service.
	//
	// +optional
	OpenInternet bool `json:"openInternet,omitempty"`

	// Ports, TCP, of the CIDRs, of the open internet, and of cluster peers
	// without ports of their own. 443 if none is given. Each of those has them
	// all, and the ports of everything that is allowed may be 4096 together.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`
}

// A ClusterPeer selects pods of this cluster: those in the namespaces that
// match namespaceSelector (the component's own namespace if it is not given)
// that match podSelector (all if it is not given).
//
// +kubebuilder:validation:XValidation:rule="(has(self.namespaceSelector) && size(self.namespaceSelector) > 0) || (has(self.podSelector) && size(self.podSelector) > 0)",message="give a namespaceSelector, a podSelector, or both"
type ClusterPeer struct {
	// NamespaceSelector holds labels that the peer's namespace must have.
	//
	// +optional
	NamespaceSelector map[string]string `json:"namespaceSelector,omitempty"`

	// PodSelector holds labels that the peer's pods must have.
	//
	// +optional
	PodSelector map[string]string `json:"podSelector,omitempty"`

	// Ports, TCP, of this peer. The allowlist's ports if none is given.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`
}

// A SecretRef is an environment variable taken from a Secret.
type SecretRef struct {
	// Name of the environment variable.
	//
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// SecretName is the name of a Secret in the component's namespace.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`

	// SecretKey is the key of that Secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretKey string `json:"secretKey"`
}

// ScratchVolume is an emptyDir mounted into the worker.
//
// +kubebuilder:validation:XValidation:rule="self.mountPath.contains('..') || !self.mountPath.matches('^/+(etc/*|etc/+tmi-nats-tls(/.*)?)?$')",message="must not be the root, nor over or under /etc/tmi-nats-tls, where the client certificate is; use a folder such as /var/scratch",fieldPath=".mountPath"
// +kubebuilder:validation:XValidation:rule="string(self.sizeLimit).matches('^[+]?[0-9.]*[1-9]')",message="must be above zero",fieldPath=".sizeLimit"
type ScratchVolume struct {
	// MountPath is an absolute path, other than / and not over or under
	// /etc/tmi-nats-tls, where the client certificates are.
	//
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^/[^:]+$`
	MountPath string `json:"mountPath"`

	// SizeLimit of the volume, above zero. A worker that writes more is
	// evicted.
	SizeLimit resource.Quantity `json:"sizeLimit"`
}

// The rule asks for fields that have a default because an API server also
// holds it against the default of the whole, which is {}.

// Scaling is what KEDA scales by.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must not be above maxReplicas",fieldPath=".minReplicas"
type Scaling struct {
	// MinReplicas is the number of workers while there is nothing to do. 0
	// scales to zero.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// MaxReplicas is the largest number of workers.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// QueueDepthTarget is the number of waiting jobs for each worker: with 5,
	// 23 jobs call for 5 workers.
	//
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	QueueDepthTarget *int32 `json:"queueDepthTarget,omitempty"`
}

// TMIComponentStatus is what the function reports. Crossplane adds the
// conditions.
type TMIComponentStatus struct {
	// JetStream names what holds and delivers the component's jobs.
	//
	// +optional
	JetStream *JetStreamStatus `json:"jetStream,omitempty"`
}

// JetStreamStatus names the component's stream and consumer.
type JetStreamStatus struct {
	// Stream that stores the component's jobs. It is kept when the component
	// is deleted.
	//
	// +optional
	Stream string `json:"stream,omitempty"`

	// Consumer of that stream that the workers share, and whose depth wakes
	// them.
	//
	// +optional
	Consumer string `json:"consumer,omitempty"`
}
