package nats

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// selfSigned returns a certificate and its key in PEM.
func selfSigned(t *testing.T) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func seed(t *testing.T, create func() (nkeys.KeyPair, error)) []byte {
	t.Helper()
	k, err := create()
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValidate(t *testing.T) {
	cert, key := selfSigned(t)
	_, otherKey := selfSigned(t)
	user, account := seed(t, nkeys.CreateUser), seed(t, nkeys.CreateAccount)
	creds := []byte("-----BEGIN NATS USER JWT-----\neyJ0.eyJq.c2ln\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + string(user) + "\n------END USER NKEY SEED------\n")
	url := "nats://nats:4222"

	cases := map[string]struct {
		reason   string
		settings Settings
		want     string // part of the error; empty if there is none
	}{
		"Plain":      {reason: "The least.", settings: Settings{URL: url}},
		"NoScheme":   {reason: "nats:// goes without saying.", settings: Settings{URL: "nats.tmi-platform.svc"}},
		"Several":    {reason: "Servers of a cluster.", settings: Settings{URL: "nats://a:4222, tls://b:4222,c"}},
		"IPv6":       {reason: "An address.", settings: Settings{URL: "nats://[::1]:4222"}},
		"WebSocket":  {reason: "With a path.", settings: Settings{URL: "wss://gateway/nats"}},
		"Creds":      {reason: "A JWT and its seed.", settings: Settings{URL: url, Credentials: Credentials{Creds: creds}}},
		"NKey":       {reason: "With a newline, as files have.", settings: Settings{URL: url, Credentials: Credentials{NKey: append(user, '\n')}}},
		"Token":      {reason: "A token.", settings: Settings{URL: url, Credentials: Credentials{Token: "t"}}},
		"User":       {reason: "A user.", settings: Settings{URL: url, Credentials: Credentials{Username: "u", Password: "p"}}},
		"UserInURL":  {reason: "A user in the URL.", settings: Settings{URL: "nats://u:p@nats"}},
		"TLS":        {reason: "All of TLS.", settings: Settings{URL: url, TLSServerName: "nats", Credentials: Credentials{CA: cert, Cert: cert, Key: key}}},
		"Files":      {reason: "Files are looked into when they are needed.", settings: Settings{URL: url, CAFile: "/no/ca", CertFile: "/no/crt", KeyFile: "/no/key", CredsFile: "/no/creds"}},
		"CAAndFiles": {reason: "A CA in the Secret and a certificate in files.", settings: Settings{URL: url, CertFile: "/crt", KeyFile: "/key", Credentials: Credentials{CA: cert}}},

		"Domain":        {reason: "A domain is one token of a subject.", settings: Settings{URL: url, JetStreamDomain: "a.b"}, want: "jetStreamDomain: must be one word"},
		"AllAtOnce":     {reason: "Everything in one line.", settings: Settings{Credentials: Credentials{Key: key}}, want: "tls.key without tls.crt; url: must not be empty"},
		"NoURL":         {reason: "No URL.", settings: Settings{}, want: "url: must not be empty"},
		"EmptyAmong":    {reason: "A comma too many.", settings: Settings{URL: "nats://a,"}, want: "url: must not be empty"},
		"Scheme":        {reason: "Another protocol.", settings: Settings{URL: "http://nats:4222"}, want: "url: the scheme must be"},
		"NoHost":        {reason: "A port alone.", settings: Settings{URL: "nats://:4222"}, want: "url: has no host"},
		"Port":          {reason: "A port out of range.", settings: Settings{URL: "nats://nats:70000"}, want: "url: the port must be"},
		"PortText":      {reason: "url.Parse repeats what it cannot parse.", settings: Settings{URL: "nats://u:hunter2@nats:http"}, want: "url: is not an address"},
		"Path":          {reason: "A path.", settings: Settings{URL: "nats://nats/path"}, want: "url: must have no path"},
		"Mixed":         {reason: "nats.go cannot mix them.", settings: Settings{URL: "nats://a,ws://b"}, want: "websocket addresses do not mix"},
		"TwoLogins":     {reason: "Which one?", settings: Settings{URL: url, Credentials: Credentials{Token: "hunter2", Creds: creds}}, want: "several ways to log in (creds, token)"},
		"URLAndToken":   {reason: "Which one?", settings: Settings{URL: "nats://u:hunter2@nats", Credentials: Credentials{Token: "hunter2"}}, want: "several ways to log in (a user in the url, token)"},
		"FileAndSecret": {reason: "Which one?", settings: Settings{URL: url, CredsFile: "/creds", Credentials: Credentials{Creds: creds}}, want: "several ways to log in (a creds file, creds)"},
		"NoPassword":    {reason: "Half a login.", settings: Settings{URL: url, Credentials: Credentials{Username: "u"}}, want: "username without password"},
		"NoUsername":    {reason: "Half a login.", settings: Settings{URL: url, Credentials: Credentials{Password: "hunter2"}}, want: "password without username"},
		"CredsJunk":     {reason: "No creds.", settings: Settings{URL: url, Credentials: Credentials{Creds: []byte("hunter2")}}, want: "credentials: creds: holds no user JWT"},
		"CredsNoSeed":   {reason: "Half of creds.", settings: Settings{URL: url, Credentials: Credentials{Creds: []byte("hunter2.hunter2.hunter2")}}, want: "credentials: creds: holds no user seed"},
		"NKeyJunk":      {reason: "No seed.", settings: Settings{URL: url, Credentials: Credentials{NKey: []byte("SUhunter2")}}, want: "credentials: nkey: is not the seed"},
		"NKeyAccount":   {reason: "The seed of an account logs nobody in.", settings: Settings{URL: url, Credentials: Credentials{NKey: account}}, want: "credentials: nkey: is not the seed of a user nkey"},
		"CAJunk":        {reason: "No PEM.", settings: Settings{URL: url, Credentials: Credentials{CA: []byte("hunter2")}}, want: "ca.crt holds no PEM certificate"},
		"CertNoKey":     {reason: "Half a certificate.", settings: Settings{URL: url, Credentials: Credentials{Cert: cert}}, want: "tls.crt without tls.key"},
		"KeyNoCert":     {reason: "Half a certificate.", settings: Settings{URL: url, Credentials: Credentials{Key: key}}, want: "tls.key without tls.crt"},
		"OtherKey":      {reason: "The key of another certificate.", settings: Settings{URL: url, Credentials: Credentials{Cert: cert, Key: otherKey}}, want: "tls.crt and tls.key are not"},
		"CertFileAlone": {reason: "Half a certificate.", settings: Settings{URL: url, CertFile: "/crt"}, want: "has no file for its key"},
		"KeyFileAlone":  {reason: "Half a certificate.", settings: Settings{URL: url, KeyFile: "/key"}, want: "has no file for its certificate"},
		"CATwice":       {reason: "Which one?", settings: Settings{URL: url, CAFile: "/ca", Credentials: Credentials{CA: cert}}, want: "ca.crt is given both"},
		"CertTwice":     {reason: "Which one?", settings: Settings{URL: url, CertFile: "/crt", KeyFile: "/key", Credentials: Credentials{Cert: cert, Key: key}}, want: "given both as files and in the Secret"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.settings.Validate()
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s\nwant no error, got %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s\nwant %q, got %v", tc.reason, tc.want, err)
			case err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), string(account))):
				t.Errorf("%s\nthe error holds a secret: %v", tc.reason, err)
			}
		})
	}
}

func TestAddress(t *testing.T) {
	cases := map[string]struct {
		reason, url, want string
	}{
		"User":    {reason: "No user and no password.", url: "nats://u:hunter2@nats:4223", want: "nats://nats:4223"},
		"Token":   {reason: "A token is a user without a password.", url: "tls://hunter2@nats", want: "tls://nats:4222"},
		"Several": {reason: "Each of them.", url: "a, nats://u:hunter2@b:1, [::1]", want: "nats://a:4222, nats://b:1, nats://[::1]:4222"},
		"Web":     {reason: "Ports of the web.", url: "wss://gateway/nats", want: "wss://gateway:443"},
		"Junk":    {reason: "What cannot be parsed is not shown.", url: "nats://u:hunter2@:x", want: "an address that is not valid"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (Settings{URL: tc.url}).address(); got != tc.want {
				t.Errorf("%s\nwant %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	same := Settings{URL: "a", Credentials: Credentials{Creds: []byte("c")}}
	if same.fingerprint() != (Settings{URL: "a", Credentials: Credentials{Creds: []byte("c")}}).fingerprint() {
		t.Error("equal settings have two fingerprints")
	}
	seen := map[fingerprint]Settings{}
	for _, s := range []Settings{
		{},
		{URL: "a"}, {TLSServerName: "a"}, {JetStreamDomain: "a"}, {CAFile: "a"}, {CertFile: "a"}, {KeyFile: "a"}, {CredsFile: "a"},
		{Credentials: Credentials{Creds: []byte("a")}}, {Credentials: Credentials{NKey: []byte("a")}}, {Credentials: Credentials{Token: "a"}},
		{Credentials: Credentials{Username: "a"}}, {Credentials: Credentials{Password: "a"}}, {Credentials: Credentials{CA: []byte("a")}},
		{Credentials: Credentials{Cert: []byte("a")}}, {Credentials: Credentials{Key: []byte("a")}},
		{URL: "ab"}, {URL: "a", TLSServerName: "b"}, {URL: "", TLSServerName: "ab"},
	} {
		if other, ok := seen[s.fingerprint()]; ok {
			t.Errorf("%+v and %+v have one fingerprint", s, other)
		}
		seen[s.fingerprint()] = s
	}
}
