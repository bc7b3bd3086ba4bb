package nats

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nkeys"
)

// Settings say how to reach NATS, and as whom. Calls with equal Settings share
// one connection.
type Settings struct {
	// URL of the server, or several separated by commas:
	// nats://host:port, or tls://, ws:// or wss://. Port 4222 if it has none.
	URL string

	// TLSServerName that the server's certificate must be for, if it is not the
	// host of the URL.
	TLSServerName string

	// JetStreamDomain to speak to. Empty means that of the server.
	JetStreamDomain string

	// Files, read anew each time a connection is made: the CA certificates to
	// trust instead of the system's, a client certificate and its key, and a
	// .creds file. Each excludes its counterpart in Credentials.
	CAFile, CertFile, KeyFile, CredsFile string

	// Credentials held in memory.
	Credentials Credentials
}

// Credentials are what a Secret may hold. At most one way to log in is
// allowed: Creds, or NKey, or Token, or Username and Password.
type Credentials struct {
	// Creds is the content of a .creds file: a user JWT and its seed.
	Creds []byte

	// NKey is the seed of a user nkey.
	NKey []byte

	Token, Username, Password string

	// CA holds the certificates to trust, instead of the system's; Cert and
	// Key are the client certificate. All PEM.
	CA, Cert, Key []byte
}

// Validate returns what is wrong with the settings, naming each setting but
// never its value. It looks at nothing outside them, so not into files.
func (s Settings) Validate() error {
	var texts []string
	for _, err := range append(s.validateTLS(), s.validateURLs(), s.validateLogin(), s.validateDomain()) {
		if err != nil {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; "))
}

func (s Settings) validateDomain() error {
	d := s.JetStreamDomain
	if d != "" && (ValidateSubject(d) != nil || strings.ContainsAny(d, subjectSeparator+wildcardOne+wildcardRest)) {
		return errors.New("jetStreamDomain: must be one word, without a dot, a wildcard or a space")
	}
	return nil
}

func (s Settings) validateURLs() error {
	scheme := ""
	for _, raw := range s.urls() {
		u, err := parseURL(raw)
		if err != nil {
			return err
		}
		if scheme != "" && websocket(scheme) != websocket(u.Scheme) {
			return errors.New("url: websocket addresses do not mix with others")
		}
		scheme = u.Scheme
	}
	return nil
}

// parseURL returns errors of its own, since those of url.Parse repeat the URL,
// which may hold a password.
func parseURL(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("url: must not be empty; use nats://host:port")
	}
	if !strings.Contains(raw, "://") {
		raw = "nats://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("url: is not an address such as nats://host:port")
	}
	switch u.Scheme {
	case "nats", "tls", "ws", "wss":
	default:
		return nil, errors.New("url: the scheme must be nats, tls, ws or wss")
	}
	if u.Hostname() == "" {
		return nil, errors.New("url: has no host; use nats://host:port")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return nil, errors.New("url: the port must be between 1 and 65535")
		}
	}
	if !websocket(u.Scheme) && strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("url: must have no path, query or fragment")
	}
	return u, nil
}

func websocket(scheme string) bool {
	return scheme == "ws" || scheme == "wss"
}

func (s Settings) validateLogin() error {
	c := s.Credentials
	var ways []string
	for _, way := range []struct {
		name  string
		given bool
	}{
		{"a user in the url", s.userInURL()},
		{"a creds file", s.CredsFile != ""},
		{"creds", len(c.Creds) > 0},
		{"nkey", len(c.NKey) > 0},
		{"token", c.Token != ""},
		{"username and password", c.Username != "" || c.Password != ""},
	} {
		if way.given {
			ways = append(ways, way.name)
		}
	}
	if len(ways) > 1 {
		return fmt.Errorf("credentials: several ways to log in (%s); keep one", strings.Join(ways, ", "))
	}
	switch {
	case c.Username != "" && c.Password == "":
		return errors.New("credentials: username without password")
	case c.Username == "" && c.Password != "":
		return errors.New("credentials: password without username")
	case len(c.Creds) > 0:
		_, _, err := parseCreds(c.Creds)
		if err != nil {
			return fmt.Errorf("credentials: creds: %w", err)
		}
	case len(c.NKey) > 0:
		if _, err := parseNKey(c.NKey); err != nil {
			return fmt.Errorf("credentials: nkey: %w", err)
		}
	}
	return nil
}

func (s Settings) validateTLS() []error {
	c := s.Credentials
	var errs []error
	if s.CAFile != "" && len(c.CA) > 0 {
		errs = append(errs, errors.New("credentials: ca.crt is given both as a file and in the Secret; keep one"))
	}
	if (s.CertFile != "" || s.KeyFile != "") && (len(c.Cert) > 0 || len(c.Key) > 0) {
		errs = append(errs, errors.New("credentials: the client certificate is given both as files and in the Secret; keep one"))
	}
	switch {
	case s.CertFile != "" && s.KeyFile == "":
		errs = append(errs, errors.New("the client certificate's file has no file for its key"))
	case s.CertFile == "" && s.KeyFile != "":
		errs = append(errs, errors.New("the client key's file has no file for its certificate"))
	}
	switch {
	case len(c.Cert) > 0 && len(c.Key) == 0:
		errs = append(errs, errors.New("credentials: tls.crt without tls.key"))
	case len(c.Cert) == 0 && len(c.Key) > 0:
		errs = append(errs, errors.New("credentials: tls.key without tls.crt"))
	case len(c.Cert) > 0:
		if _, err := tls.X509KeyPair(c.Cert, c.Key); err != nil {
			errs = append(errs, errors.New("credentials: tls.crt and tls.key are not a PEM certificate and its key"))
		}
	}
	if len(c.CA) > 0 && !x509.NewCertPool().AppendCertsFromPEM(c.CA) {
		errs = append(errs, errors.New("credentials: ca.crt holds no PEM certificate"))
	}
	return errs
}

// parseCreds returns the user JWT and the key pair of a .creds file.
func parseCreds(content []byte) (jwt string, key nkeys.KeyPair, err error) {
	jwt, err = nkeys.ParseDecoratedJWT(content)
	if err != nil || strings.Count(jwt, ".") != 2 {
		return "", nil, errors.New("holds no user JWT")
	}
	key, err = nkeys.ParseDecoratedUserNKey(content)
	if err != nil {
		return "", nil, errors.New("holds no user seed")
	}
	return jwt, key, nil
}

// parseNKey returns the key pair of a user's seed.
func parseNKey(seed []byte) (nkeys.KeyPair, error) {
	key, err := nkeys.ParseDecoratedUserNKey(bytes.TrimSpace(seed))
	if err != nil {
		return nil, errors.New("is not the seed of a user nkey (SU...)")
	}
	return key, nil
}

// urls returns the addresses in the URL.
func (s Settings) urls() []string {
	urls := strings.Split(s.URL, ",")
	for i := range urls {
		urls[i] = strings.TrimSpace(urls[i])
	}
	return urls
}

func (s Settings) userInURL() bool {
	for _, raw := range s.urls() {
		if u, err := parseURL(raw); err == nil && u.User != nil {
			return true
		}
	}
	return false
}

// address returns the URL as it may be shown: without a user or a password.
func (s Settings) address() string {
	var shown []string
	for _, raw := range s.urls() {
		u, err := parseURL(raw)
		if err != nil {
			return "an address that is not valid"
		}
		port := u.Port()
		if port == "" {
			port = "4222"
			if websocket(u.Scheme) {
				port = map[string]string{"ws": "80", "wss": "443"}[u.Scheme]
			}
		}
		shown = append(shown, u.Scheme+"://"+net.JoinHostPort(u.Hostname(), port))
	}
	return strings.Join(shown, ", ")
}
