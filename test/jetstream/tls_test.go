package jetstream_test

import (
	"fmt"
	"strings"
	"testing"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

// serverTLS is the config of a server with a certificate for name.
func serverTLS(t *testing.T, ca *authority, name, more string) natsserver.Options {
	t.Helper()
	cert, key := ca.sign(name)
	dir := t.TempDir()
	return natsserver.Options{Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, %s }\n",
		write(t, dir, "tls.crt", cert), write(t, dir, "tls.key", key), write(t, dir, "ca.crt", ca.pem), more)}
}

// TestTLS: the server's certificate is checked against the CA that is given, and
// no other.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca, stranger := newAuthority(t, "platform"), newAuthority(t, "stranger")
	s := natsserver.Start(t, serverTLS(t, ca, "nats.tmi-platform.svc", ""))
	plain := natsserver.Start(t, natsserver.Options{})
	dir := t.TempDir()

	cases := map[string]struct {
		reason   string
		settings nats.Settings
		want     nats.Reason
		message  string
	}{
		"Secret": {
			reason:   "A CA in the Secret, and the name that the certificate is for.",
			settings: nats.Settings{URL: s.URL, TLSServerName: "nats.tmi-platform.svc", Credentials: nats.Credentials{CA: ca.pem}},
		},
		"File": {
			reason:   "A CA in a file.",
			settings: nats.Settings{URL: s.URL, TLSServerName: "nats.tmi-platform.svc", CAFile: write(t, dir, "ca.crt", ca.pem)},
		},
		"Scheme": {
			reason:   "tls:// asks for TLS as well.",
			settings: nats.Settings{URL: strings.Replace(s.URL, "nats://", "tls://", 1), TLSServerName: "nats.tmi-platform.svc", Credentials: nats.Credentials{CA: ca.pem}},
		},
		"OtherCA": {
			reason:   "A certificate of another CA.",
			settings: nats.Settings{URL: s.URL, TLSServerName: "nats.tmi-platform.svc", Credentials: nats.Credentials{CA: stranger.pem}},
			want:     nats.Unreachable,
			message:  "not to be trusted by the CA",
		},
		"NoCA": {
			reason:   "Without a CA the system's are trusted, of which this is none.",
			settings: nats.Settings{URL: s.URL, TLSServerName: "nats.tmi-platform.svc"},
			want:     nats.Unreachable,
			message:  "not to be trusted by the CA",
		},
		"Name": {
			reason:   "The certificate is not for the address.",
			settings: nats.Settings{URL: s.URL, Credentials: nats.Credentials{CA: ca.pem}},
			want:     nats.Unreachable,
			message:  "is not for that name; ask the platform team to correct it, or to set nats.tlsServerName",
		},
		"Plain": {
			reason:   "With a CA there is no way to go without TLS.",
			settings: nats.Settings{URL: plain.URL, Credentials: nats.Credentials{CA: ca.pem}},
			want:     nats.Unreachable,
			message:  "does not speak TLS",
		},
		"NoFile": {
			reason:   "A file that is not there.",
			settings: nats.Settings{URL: s.URL, CAFile: dir + "/missing.crt"},
			want:     nats.Unreachable,
			message:  dir + "/missing.crt cannot be read",
		},
		"NoPEM": {
			reason:   "A file that holds something else.",
			settings: nats.Settings{URL: s.URL, CAFile: write(t, dir, "junk.crt", []byte("junk"))},
			want:     nats.Unreachable,
			message:  "junk.crt cannot be used: it holds no PEM certificate",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvisioner(t)
			r := request("", "tls-"+strings.ToLower(name), func(r *nats.Request) { r.Settings = tc.settings })
			if tc.want == "" {
				must(t, p, r)
				return
			}
			for range 3 {
				if e := failsAtOnce(t, p, r, tc.want); !strings.Contains(e.Message, tc.message) {
					t.Errorf("%s\nwant %q in %q (cause: %v)", tc.reason, tc.message, e.Message, e.Cause)
				}
			}
		})
	}
}

// TestTLSVersion: TLS before 1.2 is not spoken.
func TestTLSVersion(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "platform")
	s := natsserver.Start(t, serverTLS(t, ca, "127.0.0.1", `min_version: "1.2"`))
	must(t, newProvisioner(t), request(s.URL, "new", func(r *nats.Request) { r.Settings.Credentials.CA = ca.pem }))
	state, err := s.Connect(tlsOf(ca)).TLSConnectionState()
	if err != nil || state.Version < 0x0303 {
		t.Errorf("TLS version %x, %v", state.Version, err)
	}
}

// TestMutualTLS: the function shows a client certificate, from the Secret or
// from files; files are read anew at each reconnect.
func TestMutualTLS(t *testing.T) {
	t.Parallel()
	ca, stranger := newAuthority(t, "platform"), newAuthority(t, "stranger")
	s := natsserver.Start(t, serverTLS(t, ca, "127.0.0.1", "verify: true"))
	good, goodKey := ca.sign("function")
	bad, badKey := stranger.sign("function")

	t.Run("Secret", func(t *testing.T) {
		t.Parallel()
		must(t, newProvisioner(t), request(s.URL, "secret", func(r *nats.Request) {
			r.Settings.Credentials = nats.Credentials{CA: ca.pem, Cert: good, Key: goodKey}
		}))
	})
	for name, credentials := range map[string]nats.Credentials{
		"None":     {CA: ca.pem},
		"Stranger": {CA: ca.pem, Cert: bad, Key: badKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvisioner(t)
			for range 3 {
				e := failsAtOnce(t, p, request(s.URL, "refused", func(r *nats.Request) { r.Settings.Credentials = credentials }), nats.Unauthorized)
				if !strings.Contains(e.Message, "client certificate") {
					t.Errorf("message: %s", e.Message)
				}
			}
		})
	}
	t.Run("RotatedFiles", func(t *testing.T) {
		t.Parallel()
		// A server of its own, since it is stopped.
		s := natsserver.Start(t, serverTLS(t, ca, "127.0.0.1", "verify: true"))
		dir := t.TempDir()
		settings := nats.Settings{
			URL:      s.URL,
			CAFile:   write(t, dir, "ca.crt", ca.pem),
			CertFile: write(t, dir, "tls.crt", bad),
			KeyFile:  write(t, dir, "tls.key", badKey),
		}
		p := newProvisioner(t, untilBack)
		r := request("", "rotated", func(r *nats.Request) { r.Settings = settings })
		failsAtOnce(t, p, r, nats.Unauthorized)

		write(t, dir, "tls.crt", good)
		write(t, dir, "tls.key", goodKey)
		must(t, p, r)

		// The server gets a certificate of a new CA, and the function the CA.
		s.Stop()
		write(t, dir, "ca.crt", stranger.pem)
		write(t, dir, "tls.crt", bad)
		write(t, dir, "tls.key", badKey)
		failsAtOnce(t, p, r, nats.Unreachable)
		s.Configure(serverTLS(t, stranger, "127.0.0.1", "verify: true"))
		s.Start()
		must(t, p, r)
	})
}
