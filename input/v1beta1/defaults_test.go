package v1beta1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestSetDefaults(t *testing.T) {
	t.Parallel()

	duration := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	defaults := func(change ...func(*Input)) Input {
		in := Input{
			NATS: NATS{
				Provisioning:       "Ensure",
				Timeout:            duration(3 * time.Second),
				Account:            "$G",
				MonitoringEndpoint: "nats.tmi-platform.svc:8222",
				Peer: NATSPeer{
					NamespaceSelector: map[string]string{"kubernetes.io/metadata.name": "tmi-platform"},
					PodSelector:       map[string]string{"app": "nats"},
					Port:              ptr.To[int32](4222),
				},
			},
			DNSPeers: []DNSPeer{{
				NamespaceSelector: map[string]string{"kubernetes.io/metadata.name": "kube-system"},
				PodSelector:       map[string]string{"k8s-app": "kube-dns"},
			}},
			ProviderConfigRef: ProviderConfigRef{Name: "default", Kind: "ClusterProviderConfig"},
			TTL:               TTL{Steady: duration(60 * time.Second), Converging: duration(3 * time.Second)},
		}
		for _, f := range change {
			f(&in)
		}
		return in
	}
	everything := Input{
		NATS: NATS{
			URL: "nats://a", Provisioning: "Disabled", AdoptExisting: true, StreamReplicas: ptr.To[int32](3), Timeout: duration(0),
			Account: "A", AccountID: "B", MonitoringEndpoint: "c:1", MonitoringHTTPS: ptr.To(false), TLSServerName: "d", JetStreamDomain: "e",
			Peer: NATSPeer{NamespaceSelector: map[string]string{"f": ""}, PodSelector: map[string]string{"g": ""}, Port: ptr.To[int32](0)},
		},
		DNSPeers:          []DNSPeer{{}, {CIDR: "h"}},
		ProviderConfigRef: ProviderConfigRef{Name: "i", Kind: "j"},
		TargetNamespace:   "k",
		AllowedSubjects:   []string{"l"},
		TTL:               TTL{Steady: duration(-1), Converging: duration(0)},
	}
	cases := map[string]struct {
		reason string
		args   Input
		want   Input
	}{
		"Nothing": {
			reason: "Every field is optional, and should get its default. A URL and a number of replicas have none.",
			args:   Input{},
			want:   defaults(),
		},
		"Everything": {
			reason: "What is given should stay, right or wrong.",
			args:   everything,
			want:   everything,
		},
		"Empty": {
			reason: "What is empty is not given: an empty selector would select everything.",
			args:   Input{DNSPeers: []DNSPeer{}, NATS: NATS{Peer: NATSPeer{NamespaceSelector: map[string]string{}, PodSelector: map[string]string{}}}},
			want:   defaults(),
		},
		"Part": {
			reason: "Each field should have its own default.",
			args: Input{
				NATS:              NATS{Peer: NATSPeer{PodSelector: map[string]string{"app.kubernetes.io/name": "nats"}}},
				ProviderConfigRef: ProviderConfigRef{Name: "workers"},
				TTL:               TTL{Converging: duration(time.Second)},
			},
			want: defaults(func(in *Input) {
				in.NATS.Peer.PodSelector = map[string]string{"app.kubernetes.io/name": "nats"}
				in.ProviderConfigRef.Name = "workers"
				in.TTL.Converging = duration(time.Second)
			}),
		},
		"DNS": {
			reason: "DNS peers that are given should replace the default, not stand beside it.",
			args:   Input{DNSPeers: []DNSPeer{{CIDR: "169.254.20.10/32"}}},
			want:   defaults(func(in *Input) { in.DNSPeers = []DNSPeer{{CIDR: "169.254.20.10/32"}} }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := *tc.args.DeepCopy()
			got.SetDefaults()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSetDefaults(): -want, +got:\n%s", tc.reason, diff)
			}
			again := *got.DeepCopy()
			again.SetDefaults()
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("\n%s\nSetDefaults() twice: -once, +twice:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSetDefaultsDoesNotShare shows that a change to one Input's default does
// not reach another.
func TestSetDefaultsDoesNotShare(t *testing.T) {
	t.Parallel()

	var a, b, want Input
	want.SetDefaults()
	a.SetDefaults()
	a.NATS.Peer.NamespaceSelector["x"], a.NATS.Peer.PodSelector["x"] = "y", "y"
	a.DNSPeers[0].NamespaceSelector["x"], a.DNSPeers[0].PodSelector["x"] = "y", "y"
	*a.NATS.Peer.Port, a.TTL.Steady.Duration, a.TTL.Converging.Duration, a.NATS.Timeout.Duration = 1, 1, 1, 1
	b.SetDefaults()
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
