package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nkeys"
	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/nats"
)

// Environment names that deployments of the old controller and of Crossplane's
// functions set.
var environment = []string{
	"TLS_SERVER_CERTS_DIR", "TMI_NATS_URL", "TMI_NATS_TLS_CA_FILE", "TMI_NATS_TLS_CERT_FILE", "TMI_NATS_TLS_KEY_FILE",
	"TMI_NATS_TLS_SERVER_NAME", "TMI_NATS_CREDS", allowedSubjectsEnv,
}

func TestMain(m *testing.M) {
	for _, name := range environment {
		_ = os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// parse parses flags as main does.
func parse(t *testing.T, args ...string) (*CLI, error) {
	t.Helper()
	cli := &CLI{}
	parser, err := kong.New(cli, kong.Vars{"ttl_steady": "1m0s", "ttl_converging": "3s"}, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return cli, err
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// usable returns a file that serves as each of those of NATS: it holds a
// certificate, its key, and a user's JWT and seed.
func usable(t *testing.T, name string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return write(t, name, "-----BEGIN NATS USER JWT-----\nheader.claims.signature\n------END NATS USER JWT------\n\n"+
		"-----BEGIN USER NKEY SEED-----\n"+string(seed)+"\n------END USER NKEY SEED------\n\n"+
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))+
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
}

func TestFlags(t *testing.T) {
	t.Parallel()

	file, garbage := usable(t, "file"), write(t, "garbage", "content")
	missing := filepath.Join(t.TempDir(), "missing")
	cli := func(change ...func(*CLI)) *CLI {
		c := &CLI{
			Network: "tcp", Address: ":9443", MaxRecvMessageSize: 4, MetricsAddress: ":8080",
			TTLSteady: time.Minute, TTLConverging: 3 * time.Second,
		}
		for _, f := range change {
			f(c)
		}
		return c
	}
	type want struct {
		cli *CLI
		err []string // Parts of the error, none if it is fine.
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"Defaults": {
			reason: "Without flags it should be what Crossplane expects of a function.",
			want:   want{cli: cli()},
		},
		"Crossplane": {
			reason: "The flags that Crossplane's functions have should be there.",
			args: []string{
				"--debug", "--network=unix", "--address=/tmp/s", "--tls-server-certs-dir=/tls", "--insecure", "--max-recv-message-size=8",
				"--metrics-address=", "--ttl-steady=5m", "--ttl-converging=1s",
			},
			want: want{cli: cli(func(c *CLI) {
				c.Debug, c.Network, c.Address, c.TLSCertsDir, c.Insecure, c.MaxRecvMessageSize = true, "unix", "/tmp/s", "/tls", true, 8
				c.MetricsAddress, c.TTLSteady, c.TTLConverging = "", 5*time.Minute, time.Second
			})},
		},
		"Short": {
			reason: "-d should be --debug.",
			args:   []string{"-d"},
			want:   want{cli: cli(func(c *CLI) { c.Debug = true })},
		},
		"NATS": {
			reason: "NATS and its files should be taken.",
			args: []string{
				"--nats-url=tls://a:4222,tls://b:4222", "--nats-tls-ca-file=" + file, "--nats-tls-cert-file=" + file, "--nats-tls-key-file=" + file,
				"--nats-tls-server-name=nats", "--nats-creds=" + file,
			},
			want: want{cli: cli(func(c *CLI) {
				c.NATSURL, c.NATSTLSServerName = "tls://a:4222,tls://b:4222", "nats"
				c.NATSTLSCAFile, c.NATSTLSCertFile, c.NATSTLSKeyFile, c.NATSCreds = file, file, file, file
			})},
		},
		"MissingCA":     {"A CA that cannot be read should be told, with its flag.", []string{"--nats-tls-ca-file=" + missing}, want{err: []string{"--nats-tls-ca-file cannot be read", missing, "no such file"}}},
		"MissingCert":   {"So should a certificate.", []string{"--nats-tls-cert-file=" + missing}, want{err: []string{"--nats-tls-cert-file cannot be read", missing}}},
		"MissingKey":    {"So should a key.", []string{"--nats-tls-key-file=" + missing}, want{err: []string{"--nats-tls-key-file cannot be read", missing}}},
		"MissingCreds":  {"So should credentials, whether a URL is given or not.", []string{"--nats-creds=" + missing}, want{err: []string{"--nats-creds cannot be read", missing}}},
		"Folder":        {"A folder is no file.", []string{"--nats-creds=" + t.TempDir()}, want{err: []string{"--nats-creds cannot be read", "is a directory"}}},
		"CertWithout":   {"A certificate goes with its key.", []string{"--nats-url=nats://a", "--nats-tls-cert-file=" + file}, want{err: []string{"the NATS flags or environment cannot be used", "key"}}},
		"BadURL":        {"A URL is one of NATS.", []string{"--nats-url=http://a"}, want{err: []string{"the NATS flags or environment cannot be used", "scheme"}}},
		"SizeZero":      {"A message has a size.", []string{"--max-recv-message-size=0"}, want{err: []string{"--max-recv-message-size must be at least 1", "not 0"}}},
		"SizeNegative":  {"It is not negative.", []string{"--max-recv-message-size=-4"}, want{err: []string{"--max-recv-message-size must be at least 1"}}},
		"SizeWord":      {"It is a number.", []string{"--max-recv-message-size=big"}, want{err: []string{"--max-recv-message-size"}}},
		"GarbageCA":     {"A file that holds something else is an error at the start, not a connection that fails.", []string{"--nats-tls-ca-file=" + garbage}, want{err: []string{garbage, "no PEM certificate"}}},
		"GarbageCert":   {"So is a certificate.", []string{"--nats-tls-cert-file=" + garbage, "--nats-tls-key-file=" + file}, want{err: []string{garbage, "PEM"}}},
		"GarbageCreds":  {"So are credentials.", []string{"--nats-creds=" + garbage}, want{err: []string{garbage, "no user JWT"}}},
		"SameAddress":   {"Metrics and calls need an address each.", []string{"--address=:9443", "--metrics-address=:9443"}, want{err: []string{"--metrics-address", ":9443"}}},
		"TTLZero":       {"A TTL of zero would be a loop.", []string{"--ttl-steady=0s"}, want{err: []string{"--ttl-steady", "must be 1s to 24h"}}},
		"TTLNegative":   {"It is not negative.", []string{"--ttl-converging=-1s"}, want{err: []string{"--ttl-converging", "must be 1s to 24h"}}},
		"TTLShort":      {"Nor does one that leaves no rest make sense.", []string{"--ttl-steady=1ms"}, want{err: []string{"--ttl-steady", "must be 1s to 24h"}}},
		"TTLLong":       {"Nor one that the function would then refuse in each call.", []string{"--ttl-steady=25h"}, want{err: []string{"--ttl-steady", "must be 1s to 24h"}}},
		"Allowed":       {"Patterns of allowed subjects are looked at.", []string{"--allowed-subjects=jobs.{team}.>"}, want{err: []string{"--allowed-subjects[0]", "{namespace}"}}},
		"TTLWord":       {"It is a duration.", []string{"--ttl-steady=often"}, want{err: []string{"--ttl-steady"}}},
		"UnknownFlag":   {"A flag that is not known is refused.", []string{"--nats-urls=x"}, want{err: []string{"unknown flag --nats-urls"}}},
		"UnknownOrders": {"So is what is no flag.", []string{"serve"}, want{err: []string{"unexpected argument serve"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, tc.args...)
			if (err != nil) != (len(tc.want.err) > 0) {
				t.Fatalf("\n%s\nparse(...): want an error with %q, got %v", tc.reason, tc.want.err, err)
			}
			for _, part := range tc.want.err {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("\n%s\nparse(...): want an error with %q, got %v", tc.reason, part, err)
				}
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want.cli, got); diff != "" {
				t.Errorf("\n%s\nparse(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnvironment shows each of the environment's names, which are fixed, and
// that flags come before them. It sets the environment, so it is not parallel.
func TestEnvironment(t *testing.T) {
	file, other := usable(t, "file"), usable(t, "other")
	t.Setenv("TLS_SERVER_CERTS_DIR", "/tls/server")
	t.Setenv("TMI_NATS_URL", "nats://environment:4222")
	t.Setenv("TMI_NATS_TLS_CA_FILE", file)
	t.Setenv("TMI_NATS_TLS_CERT_FILE", file)
	t.Setenv("TMI_NATS_TLS_KEY_FILE", file)
	t.Setenv("TMI_NATS_TLS_SERVER_NAME", "nats")
	t.Setenv("TMI_NATS_CREDS", file)

	got, err := parse(t)
	if err != nil {
		t.Fatal(err)
	}
	want := nats.Settings{URL: "nats://environment:4222", TLSServerName: "nats", CAFile: file, CertFile: file, KeyFile: file, CredsFile: file}
	if diff := cmp.Diff(want, got.settings()); diff != "" {
		t.Errorf("settings(): -want, +got:\n%s", diff)
	}
	if got.TLSCertsDir != "/tls/server" {
		t.Errorf("want the environment's certificates, got %q", got.TLSCertsDir)
	}

	got, err = parse(t, "--nats-url=nats://flag:4222", "--nats-creds="+other, "--nats-tls-server-name=other")
	if err != nil {
		t.Fatal(err)
	}
	want.URL, want.CredsFile, want.TLSServerName = "nats://flag:4222", other, "other"
	if diff := cmp.Diff(want, got.settings()); diff != "" {
		t.Errorf("settings() with flags: -want, +got:\n%s", diff)
	}

	t.Setenv("TMI_NATS_TLS_CA_FILE", filepath.Join(t.TempDir(), "missing"))
	if _, err := parse(t); err == nil {
		t.Error("want a file of the environment that cannot be read to be refused")
	}
}

// TestAllowedSubjectsEnvironment sets the environment, so it is not parallel.
func TestAllowedSubjectsEnvironment(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    string
		args   []string
		want   []string // none if it is refused
	}{
		"Set":   {"Patterns of the environment should be taken.", "jobs.{namespace}.>,shared.>", nil, []string{"jobs.{namespace}.>", "shared.>"}},
		"Flag":  {"A flag should come before the environment.", "", []string{"--allowed-subjects=a.>"}, []string{"a.>"}},
		"Empty": {"A template that came out empty should not open every subject to all.", "", nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv(allowedSubjectsEnv, tc.env)
			got, err := parse(t, tc.args...)
			if tc.want == nil {
				if err == nil || !strings.Contains(err.Error(), allowedSubjectsEnv+" is set but empty") {
					t.Errorf("\n%s\nparse(...): want it to be refused, got %v", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nparse(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got.AllowedSubjects); diff != "" {
				t.Errorf("\n%s\nAllowedSubjects: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// taken returns an address at which something listens.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// free returns an address at which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestRunFails(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"MetricsTaken":   {"Metrics that cannot be served should be told.", []string{"--insecure", "--address=127.0.0.1:0", "--metrics-address=" + taken(t)}, "--metrics-address"},
		"MetricsNowhere": {"So should an address that is none.", []string{"--insecure", "--address=127.0.0.1:0", "--metrics-address=nowhere"}, "--metrics-address"},
		"AddressTaken":   {"So should an address that is taken.", []string{"--insecure", "--metrics-address=", "--address=" + taken(t)}, "address already in use"},
		"NoCertificates": {"Without certificates it should not serve, unless told to.", []string{"--address=127.0.0.1:0", "--metrics-address="}, "--tls-server-certs-dir"},
		"Certificates":   {"Certificates that are not there should be told.", []string{"--address=127.0.0.1:0", "--metrics-address=", "--tls-server-certs-dir=" + t.TempDir()}, "tls.crt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cli, err := parse(t, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- cli.Run(t.Context()) }()
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("\n%s\nRun(): want an error with %q, got %v", tc.reason, tc.want, err)
				}
			case <-time.After(20 * time.Second):
				t.Errorf("\n%s\nRun(): want an error with %q, but it serves", tc.reason, tc.want)
			}
		})
	}
}

// TestRun serves without NATS, as a person's laptop does, and asks over the wire.
func TestRun(t *testing.T) {
	t.Parallel()

	address, metrics := free(t), free(t)
	cli, err := parse(t, "--insecure", "--address="+address, "--metrics-address="+metrics, "--ttl-steady=42s")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { failed <- cli.Run(t.Context()) }() // It stops when the test ends.

	conn := client(t, address)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	health, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err != nil || health.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("want the health service to say that it serves, got %v, %v", health, err)
	}

	xr, err := structpb.NewStruct(map[string]any{
		"apiVersion": "tmi.dev/v1alpha1",
		"kind":       "TMIComponent",
		"metadata":   map[string]any{"name": "a", "namespace": "b"},
		"spec":       map[string]any{"image": "c", "jobSubjects": []any{"d"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rsp, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(ctx, &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: xr}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rsp.GetDesired().GetResources()) != 3 || len(rsp.GetConditions()) != 5 || len(rsp.GetResults()) != 0 {
		t.Errorf("want three resources and five conditions, got %v", rsp)
	}
	if got := rsp.GetConditions()[1].GetReason(); got != "NotConfigured" {
		t.Errorf("want JetStream not configured, got %s", got)
	}
	if got := rsp.GetMeta().GetTtl().AsDuration(); got != 42*time.Second {
		t.Errorf("want --ttl-steady, got %s", got)
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metrics+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Body.Close() }()
	body, err := io.ReadAll(m.Body)
	if err != nil || !strings.Contains(string(body), "go_goroutines") {
		t.Errorf("want metrics, got %v, %.300s", err, body)
	}
	select {
	case err := <-failed:
		t.Errorf("Run(): want it to serve, got %v", err)
	default:
	}
}
