package fn

import (
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1beta1"
	"tmi.dev/function-tmicomponent/nats"
)

func TestNATSSettings(t *testing.T) {
	t.Parallel()

	flags := nats.Settings{
		URL: "nats://flags.example:4222", TLSServerName: "flags.example",
		CAFile: "/flags/ca.crt", CertFile: "/flags/tls.crt", KeyFile: "/flags/tls.key", CredsFile: "/flags/creds",
	}
	secret := func(data map[string]string) map[string]*fnv1.Credentials {
		req := &fnv1.RunFunctionRequest{}
		withSecret(data)(t, req)
		return req.GetCredentials()
	}
	changed := func(change func(*nats.Settings)) nats.Settings {
		s := flags
		change(&s)
		return s
	}

	type args struct {
		in          v1beta1.NATS
		defaults    nats.Settings
		credentials map[string]*fnv1.Credentials
	}
	type want struct {
		settings nats.Settings
		err      string // A part of the error, or none.
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Nothing": {
			reason: "Without any word there should be no URL.",
			args:   args{},
			want:   want{},
		},
		"Flags": {
			reason: "Flags and environment should be used where the Input says nothing.",
			args:   args{defaults: flags},
			want:   want{settings: flags},
		},
		"Input": {
			reason: "The Input should come before the flags, field by field.",
			args:   args{in: v1beta1.NATS{URL: "tls://input.example", JetStreamDomain: "hub"}, defaults: flags},
			want:   want{settings: changed(func(s *nats.Settings) { s.URL, s.JetStreamDomain = "tls://input.example", "hub" })},
		},
		"InputServerName": {
			reason: "The same goes for the certificate's name.",
			args:   args{in: v1beta1.NATS{TLSServerName: "input.example"}, defaults: flags},
			want:   want{settings: changed(func(s *nats.Settings) { s.TLSServerName = "input.example" })},
		},
		"Token": {
			reason: "A way to log in from the step should replace the creds file, and leave the TLS files. A line break at the end is not part of it.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"token": "t\n"})},
			want: want{settings: changed(func(s *nats.Settings) {
				s.CredsFile, s.Credentials = "", nats.Credentials{Token: "t"}
			})},
		},
		"Password": {
			reason: "So should a user and a password.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"username": "u\r\n", "password": " p "})},
			want: want{settings: changed(func(s *nats.Settings) {
				s.CredsFile, s.Credentials = "", nats.Credentials{Username: "u", Password: " p "}
			})},
		},
		"OtherCredentials": {
			reason: "Credentials of another name are not for NATS.",
			args: args{defaults: flags, credentials: map[string]*fnv1.Credentials{
				"other": secret(map[string]string{"token": "t"})["nats"],
			}},
			want: want{settings: flags},
		},
		"OtherKeys": {
			reason: "A Secret with none of the known keys is a mistake, such as a misspelt one, and not a login without credentials.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"user": "x", "Token": "x"})},
			want:   want{settings: flags, err: "none of creds, nkey, token, username"},
		},
		"EmptyCredentials": {
			reason: "A key that is empty should replace nothing.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"token": "", "creds": "", "username": "", "ca.crt": "", "tls.crt": "", "tls.key": ""})},
			want: want{settings: changed(func(s *nats.Settings) {
				s.Credentials = nats.Credentials{Creds: []byte{}, CA: []byte{}, Cert: []byte{}, Key: []byte{}}
			})},
		},
		"CA": {
			reason: "A CA that is none should be refused, having replaced the flags' file.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"ca.crt": "no PEM"})},
			want: want{err: "ca.crt", settings: changed(func(s *nats.Settings) {
				s.CAFile, s.Credentials = "", nats.Credentials{CA: []byte("no PEM")}
			})},
		},
		"Certificate": {
			reason: "A certificate should replace both files, so that it does not go with another's key.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"tls.crt": "c"})},
			want: want{err: "tls.key", settings: changed(func(s *nats.Settings) {
				s.CertFile, s.KeyFile, s.Credentials = "", "", nats.Credentials{Cert: []byte("c")}
			})},
		},
		"TwoWays": {
			reason: "Two ways to log in should be refused.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"token": "t", "username": "u", "password": "p"})},
			want: want{err: "several ways to log in", settings: changed(func(s *nats.Settings) {
				s.CredsFile, s.Credentials = "", nats.Credentials{Token: "t", Username: "u", Password: "p"}
			})},
		},
		"NKey": {
			reason: "A seed that is none should be refused.",
			args:   args{defaults: flags, credentials: secret(map[string]string{"nkey": "x"})},
			want: want{err: "nkey", settings: changed(func(s *nats.Settings) {
				s.CredsFile, s.Credentials = "", nats.Credentials{NKey: []byte("x")}
			})},
		},
		"BadURL": {
			reason: "A URL of another scheme should be refused.",
			args:   args{in: v1beta1.NATS{URL: "https://nats.example"}},
			want:   want{err: "scheme", settings: nats.Settings{URL: "https://nats.example"}},
		},
		"Disabled": {
			reason: "What is not used should not be judged.",
			args:   args{in: v1beta1.NATS{URL: "https://nats.example", Provisioning: "Disabled"}},
			want:   want{settings: nats.Settings{URL: "https://nats.example"}},
		},
		"NoURL": {
			reason: "Nor should a credential be without a server to use it at.",
			args:   args{credentials: secret(map[string]string{"creds": "x"})},
			want:   want{settings: nats.Settings{Credentials: nats.Credentials{Creds: []byte("x")}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, errs := natsSettings(&tc.args.in, tc.args.defaults, tc.args.credentials)
			if diff := cmp.Diff(tc.want.settings, got); diff != "" {
				t.Errorf("\n%s\nnatsSettings(...): -want, +got:\n%s", tc.reason, diff)
			}
			if (len(errs) > 0) != (tc.want.err != "") || !strings.Contains(sentence(errs), tc.want.err) {
				t.Errorf("\n%s\nnatsSettings(...): want an error with %q, got %v", tc.reason, tc.want.err, errs)
			}
		})
	}
}

func TestProvisionRequest(t *testing.T) {
	t.Parallel()

	settings := nats.Settings{URL: "nats://nats.example"}
	wait := func(c *Component) { c.Spec.Config = map[string]string{"TMI_JOB_ACK_WAIT": "2m"} }
	type args struct {
		c  *Component
		in *v1beta1.Input
	}
	cases := map[string]struct {
		reason string
		args   args
		want   *nats.Request
	}{
		"Defaults": {
			reason: "By default the function ensures, within 3 s, and does not care for replicas.",
			args:   args{component(), defaultInput()},
			want: &nats.Request{
				Settings:  settings,
				Component: nats.Component{Namespace: "team-a", Name: "tmi-extractor", JobSubjects: []string{"jobs.extract.pdf"}, AckWait: 90 * time.Second},
				Timeout:   3 * time.Second,
			},
		},
		"Everything": {
			reason: "What the Input and the component say should reach the provisioner.",
			args: args{component(wait), defaultInput(func(in *v1beta1.Input) {
				in.NATS.Provisioning, in.NATS.AdoptExisting, in.NATS.StreamReplicas = "Observe", true, ptr.To[int32](3)
				in.NATS.Timeout = &metav1.Duration{Duration: time.Second}
			})},
			want: &nats.Request{
				Settings:      settings,
				Component:     nats.Component{Namespace: "team-a", Name: "tmi-extractor", JobSubjects: []string{"jobs.extract.pdf"}, AckWait: 2 * time.Minute},
				Replicas:      3,
				ObserveOnly:   true,
				AdoptExisting: true,
				Timeout:       time.Second,
			},
		},
		"Disabled": {
			reason: "Disabled should not even look.",
			args:   args{component(), defaultInput(func(in *v1beta1.Input) { in.NATS.Provisioning = "Disabled" })},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got *nats.Request
			f := New(WithStreamProvisioner(provisioner(func(r nats.Request) (nats.Outcome, error) {
				got = &r
				return nats.Outcome{State: nats.Provisioned}, nil
			})))
			f.provision(t.Context(), tc.args.c, tc.args.in, settings)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nprovision(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNothingFromTheComposite shows that a team cannot say where NATS is, nor
// as whom to log in.
func TestNothingFromTheComposite(t *testing.T) {
	t.Parallel()

	req := request(t, `
apiVersion: tmi.dev/v1alpha1
kind: TMIComponent
metadata:
  name: tmi-extractor
  namespace: team-a
  annotations: {tmi.dev/nats-url: "nats://evil.example"}
spec:
  image: extractor:1
  jobSubjects: [jobs.extract.pdf]
  nats: {url: "nats://evil.example", provisioning: Disabled, account: EVIL, monitoringEndpoint: "evil.example:8222"}
  targetNamespace: other
  providerConfigRef: {name: evil}
  config: {TMI_NATS_URL: "nats://evil.example", TMI_NATS_CREDS: /evil, TMI_NATS_TLS_SERVER_NAME: evil.example}
`)
	var got nats.Request
	f := configured(provisioner(func(r nats.Request) (nats.Outcome, error) {
		got = r
		return nats.Outcome{State: nats.Provisioned}, nil
	}))
	rsp, err := f.RunFunction(t.Context(), req)
	wellFormed(t, rsp, err)
	if diff := cmp.Diff(nats.Settings{URL: "nats://nats.example:4222"}, got.Settings); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for name, r := range rsp.GetDesired().GetResources() {
		if name != "deployment" && strings.Contains(r.String(), "evil") {
			t.Errorf("%s: holds what a team said of NATS: %s", name, r)
		}
	}
}
