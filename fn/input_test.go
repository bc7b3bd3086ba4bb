package fn

import (
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1beta1"
)

func TestReadInput(t *testing.T) {
	t.Parallel()

	seconds := func(n int64) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Second} }
	type args struct {
		input string
		ttl   v1beta1.TTL
	}
	cases := map[string]struct {
		reason string
		args   args
		want   *v1beta1.Input
	}{
		"Nothing": {
			reason: "Every field is optional.",
			args:   args{input: `{}`},
			want:   defaultInput(),
		},
		"Nulls": {
			reason: "A null is absent.",
			args:   args{input: `{nats: {url: null, timeout: null, peer: {port: null}}, dnsPeers: null, providerConfigRef: null, ttl: {steady: null}, allowedSubjects: null}`},
			want:   defaultInput(),
		},
		"Everything": {
			reason: "Every field should be read.",
			args:   args{input: everyInput},
			want: &v1beta1.Input{
				TypeMeta:   metav1.TypeMeta{APIVersion: "tmi.fn.crossplane.io/v1beta1", Kind: "Input"},
				ObjectMeta: metav1.ObjectMeta{Name: "input"},
				NATS: v1beta1.NATS{
					URL: "nats://one.example:4222,nats://two.example:4222", Provisioning: "Ensure", AdoptExisting: true, StreamReplicas: ptr.To[int32](3),
					Timeout: seconds(2), Account: "WORKERS", AccountID: "ABC", MonitoringEndpoint: "monitoring.example:8222", MonitoringHTTPS: ptr.To(true),
					TLSServerName: "nats.example", JetStreamDomain: "hub",
					Peer: v1beta1.NATSPeer{NamespaceSelector: map[string]string{"name": "nats"}, PodSelector: map[string]string{"app.kubernetes.io/name": "nats"}, Port: ptr.To[int32](4333)},
				},
				DNSPeers: []v1beta1.DNSPeer{
					{CIDR: "169.254.20.10/32"},
					{NamespaceSelector: map[string]string{"kubernetes.io/metadata.name": "kube-system"}, PodSelector: map[string]string{"k8s-app": "kube-dns"}},
				},
				ProviderConfigRef: v1beta1.ProviderConfigRef{Name: "workers", Kind: "ProviderConfig"},
				TargetNamespace:   "workers",
				AllowedSubjects:   []string{"jobs.>"},
				TTL:               v1beta1.TTL{Steady: seconds(300), Converging: seconds(7)},
			},
		},
		"FlagsTTL": {
			reason: "The function's own TTLs should come before the Input's defaults.",
			args:   args{input: `{}`, ttl: v1beta1.TTL{Steady: seconds(600), Converging: seconds(9)}},
			want:   defaultInput(func(in *v1beta1.Input) { in.TTL = v1beta1.TTL{Steady: seconds(600), Converging: seconds(9)} }),
		},
		"InputTTL": {
			reason: "The Input's TTLs should come before the function's, each by itself.",
			args:   args{input: `{ttl: {converging: 1s}}`, ttl: v1beta1.TTL{Steady: seconds(600), Converging: seconds(9)}},
			want:   defaultInput(func(in *v1beta1.Input) { in.TTL = v1beta1.TTL{Steady: seconds(600), Converging: seconds(1)} }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, errs := ReadInput(fromYAML(t, tc.args.input), tc.args.ttl)
			if len(errs) > 0 {
				t.Errorf("\n%s\nReadInput(...): %v", tc.reason, errs)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReadInput(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadInputInvalid(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   string
		want   []string // Type and field of each error.
	}{
		"Provisioning":     {"Only the three modes are known, and their case counts.", `{nats: {provisioning: ensure}}`, []string{"Unsupported value nats.provisioning"}},
		"Misspelt":         {"Crossplane checks no input, so that a misspelt field is an error of ours.", `{nats: {ulr: x}, ttl: {stedy: 1s}}`, []string{"Forbidden nats.ulr", "Forbidden ttl.stedy"}},
		"OtherKind":        {"Another function's input is not for us.", `{apiVersion: pt.fn.crossplane.io/v1beta1, kind: Resources}`, []string{"Unsupported value apiVersion", "Unsupported value kind"}},
		"ReplicasZero":     {"A stream has at least one replica.", `{nats: {streamReplicas: 0}}`, []string{"Invalid value nats.streamReplicas"}},
		"ReplicasMany":     {"JetStream holds at most five.", `{nats: {streamReplicas: 6}}`, []string{"Invalid value nats.streamReplicas"}},
		"TimeoutZero":      {"A timeout is above zero.", `{nats: {timeout: 0s}}`, []string{"Invalid value nats.timeout"}},
		"TimeoutNegative":  {"A timeout is above zero.", `{nats: {timeout: -3s}}`, []string{"Invalid value nats.timeout"}},
		"TimeoutLong":      {"A timeout must leave time for the rest of a reconcile.", `{nats: {timeout: 61s}}`, []string{"Invalid value nats.timeout"}},
		"TimeoutNumber":    {"A number is no duration.", `{nats: {timeout: 3}}`, []string{"Invalid value nats.timeout"}},
		"TimeoutUnit":      {"A duration needs its unit.", `{nats: {timeout: "3"}}`, []string{"Invalid value nats.timeout"}},
		"Scheme":           {"KEDA puts the scheme before the endpoint.", `{nats: {monitoringEndpoint: "http://nats:8222"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointPath":     {"KEDA puts a path behind it.", `{nats: {monitoringEndpoint: "nats:8222/"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointNoPort":   {"It needs a port.", `{nats: {monitoringEndpoint: nats}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointBadPort":  {"The port is a number.", `{nats: {monitoringEndpoint: "nats:http"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointHighPort": {"The port is at most 65535.", `{nats: {monitoringEndpoint: "nats:65536"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointZeroPort": {"The port is not zero.", `{nats: {monitoringEndpoint: "nats:0"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointNoHost":   {"It needs a host.", `{nats: {monitoringEndpoint: ":8222"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointSpace":    {"It holds no space.", `{nats: {monitoringEndpoint: "na ts:8222"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointBreak":    {"Nor a line break.", `{nats: {monitoringEndpoint: "nats\n:8222"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"EndpointUser":     {"Nor a user.", `{nats: {monitoringEndpoint: "u@nats:8222"}}`, []string{"Invalid value nats.monitoringEndpoint"}},
		"URLPassword":      {"A URL in a Composition must hold no password.", `{nats: {url: "nats://u:p@nats"}}`, []string{"Forbidden nats.url"}},
		"URLToken":         {"Nor a token.", `{nats: {url: "nats://one,nats://t@two"}}`, []string{"Forbidden nats.url"}},
		"PeerPort":         {"A port is at most 65535.", `{nats: {peer: {port: 65536}}}`, []string{"Invalid value nats.peer.port"}},
		"PeerPortZero":     {"A port that is given is not zero.", `{nats: {peer: {port: 0}}}`, []string{"Invalid value nats.peer.port"}},
		"PeerLabels": {"Labels must be labels.", `{nats: {peer: {namespaceSelector: {"a b": c}, podSelector: {a: "b c"}}}}`,
			[]string{"Invalid value nats.peer.namespaceSelector", "Invalid value nats.peer.podSelector[a]"}},
		"DNSNothing":      {"A DNS peer must be something.", `{dnsPeers: [{}]}`, []string{"Invalid value dnsPeers[0]"}},
		"DNSBoth":         {"It must not be two things.", `{dnsPeers: [{cidr: 10.0.0.10/32, podSelector: {a: b}}]}`, []string{"Invalid value dnsPeers[0]"}},
		"DNSAddress":      {"An address is no range.", `{dnsPeers: [{podSelector: {a: b}}, {cidr: 10.0.0.10}]}`, []string{"Invalid value dnsPeers[1].cidr"}},
		"DNSHostBits":     {"An API server takes no address for a range.", `{dnsPeers: [{cidr: 10.0.0.10/24}]}`, []string{"Invalid value dnsPeers[0].cidr"}},
		"DNSLabels":       {"Labels must be labels.", `{dnsPeers: [{podSelector: {"": b}, namespaceSelector: {a: "-"}}]}`, []string{"Invalid value dnsPeers[0].namespaceSelector[a]", "Invalid value dnsPeers[0].podSelector"}},
		"ConfigName":      {"A ProviderConfig has a legal name.", `{providerConfigRef: {name: No Name}}`, []string{"Invalid value providerConfigRef.name"}},
		"ConfigKind":      {"There are two kinds.", `{providerConfigRef: {kind: Secret}}`, []string{"Unsupported value providerConfigRef.kind"}},
		"TargetNamespace": {"A namespace has a legal name.", `{targetNamespace: a.b}`, []string{"Invalid value targetNamespace"}},
		"Placeholder":     {"Only two placeholders are known; another would allow nothing.", `{allowedSubjects: ["jobs.{team}.>"]}`, []string{"Invalid value allowedSubjects[0]"}},
		"TTLShort":        {"Crossplane must not call without rest.", `{ttl: {steady: 1ns, converging: 999ms}}`, []string{"Invalid value ttl.steady", "Invalid value ttl.converging"}},
		"AllowedSubjects": {"Patterns are NATS subjects.", `{allowedSubjects: ["jobs.>", "jobs..x", "", "jobs.{namespace}.>", "a b", "jobs.>.x"]}`,
			[]string{"Invalid value allowedSubjects[1]", "Invalid value allowedSubjects[2]", "Invalid value allowedSubjects[4]", "Invalid value allowedSubjects[5]"}},
		"TTL": {"TTLs are above zero.", `{ttl: {steady: 0s, converging: -1s}}`, []string{"Invalid value ttl.steady", "Invalid value ttl.converging"}},
		"All": {"Everything that is wrong should be told at once.", `{nats: {url: 5, provisioning: x, streamReplicas: 9}, dnsPeers: x, ttl: {steady: x}}`,
			[]string{"Invalid value nats.url", "Invalid value dnsPeers", "Invalid value ttl.steady", "Unsupported value nats.provisioning", "Invalid value nats.streamReplicas"}},
		"NotAnObject": {"Objects must be objects.", `{nats: [], ttl: 60s, providerConfigRef: default, metadata: x}`,
			[]string{"Invalid value metadata", "Invalid value nats", "Invalid value providerConfigRef", "Invalid value ttl"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs := ReadInput(fromYAML(t, tc.args), v1beta1.TTL{})
			var got []string
			for _, e := range errs {
				got = append(got, e.Type.String()+" "+e.Field)
				if e.Detail == "" {
					t.Errorf("\n%s\n%s does not say what to do", tc.reason, e.Field)
				}
			}
			// One value may break more than one of Kubernetes' rules.
			if diff := cmp.Diff(tc.want, compact(got)); diff != "" {
				t.Errorf("\n%s\nReadInput(...): -want, +got:\n%s\n%v", tc.reason, diff, errs)
			}
		})
	}
}

// compact leaves out what is the same as what comes before it.
func compact(s []string) []string {
	var c []string
	for i, e := range s {
		if i == 0 || e != s[i-1] {
			c = append(c, e)
		}
	}
	return c
}

func TestReadInputValid(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   string
	}{
		"Endpoint6":    {"An IPv6 address has brackets.", `{nats: {monitoringEndpoint: "[2001:db8::1]:8222"}}`},
		"Endpoint4":    {"An IPv4 address is a host.", `{nats: {monitoringEndpoint: "192.0.2.1:8222"}}`},
		"Servers":      {"There may be several servers.", `{nats: {url: "tls://a:4222, tls://b:4222"}}`},
		"MostReplicas": {"Five replicas are allowed.", `{nats: {streamReplicas: 5}}`},
		"LongTimeout":  {"A minute is allowed.", `{nats: {timeout: 1m}}`},
		"ShortTimeout": {"So are milliseconds.", `{nats: {timeout: 250ms}}`},
		"DNSMetadata":  {"Some clouds resolve at the metadata address, which is the platform's to allow, on port 53.", `{dnsPeers: [{cidr: 169.254.169.254/32}]}`},
		"DNS6":         {"DNS may be IPv6.", `{dnsPeers: [{cidr: "fd00::a/128"}]}`},
		"Kind":         {"It may say what it is.", `{apiVersion: tmi.fn.crossplane.io/v1beta1, kind: Input, metadata: {name: x, labels: {a: b}}}`},
		"Patterns":     {"Patterns may have placeholders and wildcards.", `{allowedSubjects: ["jobs.{namespace}.{name}.>", "*.x", ">"]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, errs := ReadInput(fromYAML(t, tc.args), v1beta1.TTL{}); len(errs) > 0 {
				t.Errorf("\n%s\nReadInput(...): %v", tc.reason, errs)
			}
		})
	}
}

func TestNameConflicts(t *testing.T) {
	t.Parallel()

	duplicate := func(path string) *field.Error { return &field.Error{Type: field.ErrorTypeDuplicate, Field: path} }
	resources := func(names ...string) *fnv1.State {
		s := &fnv1.State{Resources: map[string]*fnv1.Resource{}}
		for _, n := range names {
			s.Resources[n] = &fnv1.Resource{}
		}
		return s
	}
	cases := map[string]struct {
		reason string
		args   *fnv1.State
		want   field.ErrorList
	}{
		"Nothing": {"Nothing is taken at the first step.", nil, nil},
		"Others":  {"Other names are not ours.", resources("network-policy-2", "Deployment"), nil},
		"All": {"Each of ours that is taken should be told.", resources("scaled-object", "deployment", "x", "network-policy"), field.ErrorList{
			duplicate("desired.resources[network-policy]"), duplicate("desired.resources[deployment]"), duplicate("desired.resources[scaled-object]"),
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := nameConflicts(tc.args)
			if diff := cmp.Diff(tc.want, errs, byField); diff != "" {
				t.Errorf("\n%s\nnameConflicts(...): -want, +got:\n%s", tc.reason, diff)
			}
			for _, e := range errs {
				if !strings.Contains(e.Error(), "an earlier step composes a resource of this name; rename it there") {
					t.Errorf("\n%s\nwant what to do, got %s", tc.reason, e)
				}
			}
		})
	}
}
