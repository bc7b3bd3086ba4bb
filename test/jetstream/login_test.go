package jetstream_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/prometheus/client_golang/prometheus"

	"tmi.dev/function-tmicomponent/nats"
	"tmi.dev/function-tmicomponent/test/natsserver"
)

func tlsOf(ca *authority) natsgo.Option {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.pem)
	return natsgo.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
}

// A tenancy is a server in operator mode with one account.
type tenancy struct {
	t       *testing.T
	account nkeys.KeyPair
	config  string
}

func newTenancy(t *testing.T) *tenancy {
	t.Helper()
	operator, account, system := pair(t, nkeys.CreateOperator), pair(t, nkeys.CreateAccount), pair(t, nkeys.CreateAccount)
	accountClaims := jwt.NewAccountClaims(public(t, account))
	accountClaims.Name = "PLATFORM"
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	systemClaims := jwt.NewAccountClaims(public(t, system))
	systemClaims.Name = "SYS"
	operatorClaims := jwt.NewOperatorClaims(public(t, operator))
	operatorClaims.Name = "test"
	operatorClaims.SystemAccount = public(t, system)
	return &tenancy{t: t, account: account, config: fmt.Sprintf(
		"operator: %s\nresolver: MEMORY\nresolver_preload: { %s: %s, %s: %s }\n",
		encode(t, operatorClaims, operator),
		public(t, account), encode(t, accountClaims, operator),
		public(t, system), encode(t, systemClaims, operator))}
}

// creds returns a .creds file of a new user, which expires after d if d is not
// zero.
func (ten *tenancy) creds(d time.Duration) []byte {
	ten.t.Helper()
	user := pair(ten.t, nkeys.CreateUser)
	claims := jwt.NewUserClaims(public(ten.t, user))
	claims.Name = "function"
	if d != 0 {
		claims.Expires = time.Now().Add(d).Unix()
	}
	seed, err := user.Seed()
	if err != nil {
		ten.t.Fatal(err)
	}
	creds, err := jwt.FormatUserConfig(encode(ten.t, claims, ten.account), seed)
	if err != nil {
		ten.t.Fatal(err)
	}
	return creds
}

func pair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	k, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t *testing.T, c jwt.Claims, signer nkeys.KeyPair) string {
	t.Helper()
	text, err := c.Encode(signer)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestLogin: every way to log in works, a wrong one is refused, and a rotated
// Secret counts from the next call on, over a connection of its own. No secret
// is in anything that the function says.
func TestLogin(t *testing.T) {
	t.Parallel()
	user, stranger := pair(t, nkeys.CreateUser), pair(t, nkeys.CreateUser)
	seed, strangerSeed := seedOf(t, user), seedOf(t, stranger)
	ten, other := newTenancy(t), newTenancy(t)
	dir := t.TempDir()

	cases := map[string]struct {
		config       string
		wrong, right nats.Settings
		secrets      []string
	}{
		"Token": {
			config:  "authorization { token: right-token-3141 }\n",
			wrong:   nats.Settings{Credentials: nats.Credentials{Token: "wrong-token-2718"}},
			right:   nats.Settings{Credentials: nats.Credentials{Token: "right-token-3141"}},
			secrets: []string{"wrong-token-2718", "right-token-3141"},
		},
		"User": {
			config:  "authorization { user: function, password: right-password-3141 }\n",
			wrong:   nats.Settings{Credentials: nats.Credentials{Username: "function", Password: "wrong-password-2718"}},
			right:   nats.Settings{Credentials: nats.Credentials{Username: "function", Password: "right-password-3141"}},
			secrets: []string{"wrong-password-2718", "right-password-3141"},
		},
		"URL": {
			config:  "authorization { user: function, password: right-password-3141 }\n",
			wrong:   nats.Settings{URL: "function:wrong-password-2718@"},
			right:   nats.Settings{URL: "function:right-password-3141@"},
			secrets: []string{"wrong-password-2718", "right-password-3141"},
		},
		"NKey": {
			config:  fmt.Sprintf("authorization { users: [ { nkey: %s } ] }\n", public(t, user)),
			wrong:   nats.Settings{Credentials: nats.Credentials{NKey: strangerSeed}},
			right:   nats.Settings{Credentials: nats.Credentials{NKey: append(seed, '\n')}},
			secrets: []string{string(seed), string(strangerSeed)},
		},
		"Creds": {
			config:  ten.config,
			wrong:   nats.Settings{Credentials: nats.Credentials{Creds: other.creds(0)}},
			right:   nats.Settings{Credentials: nats.Credentials{Creds: ten.creds(0)}},
			secrets: []string{"eyJ0eX", "SUA"},
		},
		"CredsFile": {
			config:  ten.config,
			wrong:   nats.Settings{CredsFile: write(t, dir, "wrong.creds", other.creds(0))},
			right:   nats.Settings{CredsFile: write(t, dir, "right.creds", ten.creds(0))},
			secrets: []string{"eyJ0eX", "SUA"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natsserver.Start(t, natsserver.Options{Config: tc.config})
			var log safeBuffer
			registry := prometheus.NewRegistry()
			p := newProvisioner(t, nats.WithLogger(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))), nats.WithMetrics(registry))
			with := func(settings nats.Settings) nats.Request {
				settings.URL = "nats://" + settings.URL + strings.TrimPrefix(s.URL, "nats://")
				return request("", "login", func(r *nats.Request) { r.Settings = settings })
			}
			var said strings.Builder
			for range 3 {
				e := failsAtOnce(t, p, with(tc.wrong), nats.Unauthorized)
				fmt.Fprintln(&said, e.Message, e.Cause)
				if !strings.Contains(e.Message, "at "+s.URL+" refuses the login") {
					t.Errorf("message: %s", e.Message)
				}
			}
			must(t, p, with(tc.right))
			s.Stop()
			e := failsAtOnce(t, p, with(tc.right), nats.Unreachable)
			fmt.Fprintln(&said, e.Message, e.Cause)

			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&said, families)
			said.WriteString(log.String())
			for _, secret := range tc.secrets {
				if strings.Contains(said.String(), secret) {
					t.Errorf("%q is in what the function says:\n%s", secret, said.String())
				}
			}
		})
	}
}

// TestRotatedCredsFile: a creds file is read anew at each reconnect, and one
// whose JWT expired is renewed without a restart of the function.
func TestRotatedCredsFile(t *testing.T) {
	t.Parallel()
	ten := newTenancy(t)
	s := natsserver.Start(t, natsserver.Options{Config: ten.config})
	dir := t.TempDir()
	p := newProvisioner(t, untilBack)
	r := request(s.URL, "rotated", func(r *nats.Request) { r.Settings.CredsFile = dir + "/function.creds" })

	e := failsAtOnce(t, p, r, nats.Unreachable)
	if !strings.Contains(e.Message, "function.creds cannot be read") {
		t.Errorf("message: %s", e.Message)
	}
	const valid = 5 * time.Second
	expired := time.Now().Add(valid + time.Second) // Expiry is in whole seconds.
	write(t, dir, "function.creds", ten.creds(valid))
	must(t, p, r)
	time.Sleep(time.Until(expired))
	for range 3 {
		failsAtOnce(t, p, r, nats.Unauthorized)
	}
	write(t, dir, "function.creds", ten.creds(0))
	must(t, p, r)
	write(t, dir, "function.creds", []byte("junk"))
	s.Stop()
	s.Start()
	e = failsAtOnce(t, p, r, nats.Unreachable)
	if !strings.Contains(e.Message, "function.creds is no NATS credentials file") {
		t.Errorf("message: %s", e.Message)
	}
}

func seedOf(t *testing.T, k nkeys.KeyPair) []byte {
	t.Helper()
	seed, err := k.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// A safeBuffer is written by many.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
