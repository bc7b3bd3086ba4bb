package nats

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// A fileError is a file of the settings that cannot be used.
type fileError struct {
	path, problem string
	err           error
}

func (e *fileError) Error() string {
	return fmt.Sprintf("file %s %s: %v", e.path, e.problem, e.err)
}

func (e *fileError) Unwrap() error {
	return e.err
}

// login makes the options log in as the settings say. Files are read each time
// a connection is made, so a rotated file counts from the next one on.
func login(o *natsgo.Options, s Settings) error {
	c := s.Credentials
	switch {
	case s.CredsFile != "":
		withCreds(o, func() ([]byte, error) { return readFile(s.CredsFile) }, func(err error) error {
			return &fileError{path: s.CredsFile, problem: "is no NATS credentials file", err: err}
		})
	case len(c.Creds) > 0:
		withCreds(o, func() ([]byte, error) { return c.Creds, nil }, func(err error) error { return err })
	case len(c.NKey) > 0:
		key, err := parseNKey(c.NKey)
		if err != nil {
			return err
		}
		public, err := key.PublicKey()
		if err != nil {
			return errors.New("credentials: nkey has no public key")
		}
		o.Nkey, o.SignatureCB = public, key.Sign
	case c.Token != "":
		o.Token = c.Token
	case c.Username != "":
		o.User, o.Password = c.Username, c.Password
	}
	return nil
}

// withCreds logs in with a user JWT and its seed, read when they are needed.
func withCreds(o *natsgo.Options, read func() ([]byte, error), unusable func(error) error) {
	parse := func() (string, nkeys.KeyPair, error) {
		content, err := read()
		if err != nil {
			return "", nil, err
		}
		jwt, key, err := parseCreds(content)
		if err != nil {
			return "", nil, unusable(err)
		}
		return jwt, key, nil
	}
	o.UserJWT = func() (string, error) {
		jwt, key, err := parse()
		if err != nil {
			return "", err
		}
		key.Wipe()
		return jwt, nil
	}
	o.SignatureCB = func(nonce []byte) ([]byte, error) {
		_, key, err := parse()
		if err != nil {
			return nil, err
		}
		defer key.Wipe()
		return key.Sign(nonce)
	}
}

// encrypt makes the options use TLS as the settings say: 1.2 or later, and the
// given CA alone if one is given. Any setting of TLS makes TLS a must; without
// any, the server or the scheme of the URL decides. Files are read each time a
// connection is made.
func encrypt(o *natsgo.Options, s Settings) error {
	c := s.Credentials
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.TLSServerName}
	o.TLSConfig = config
	o.Secure = s.TLSServerName != "" || s.CAFile != "" || s.CertFile != "" || len(c.CA) > 0 || len(c.Cert) > 0

	switch {
	case s.CAFile != "":
		o.RootCAsCB = func() (*x509.CertPool, error) { return readCA(s.CAFile) }
	case len(c.CA) > 0:
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(c.CA) {
			return errors.New("credentials: ca.crt holds no PEM certificate")
		}
	}

	switch {
	case s.CertFile != "":
		o.TLSCertCB = func() (tls.Certificate, error) { return readCertificate(s.CertFile, s.KeyFile) }
	case len(c.Cert) > 0:
		certificate, err := tls.X509KeyPair(c.Cert, c.Key)
		if err != nil {
			return errors.New("credentials: tls.crt and tls.key are not a PEM certificate and its key")
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return nil
}

// CheckFiles reads the files of the settings and returns what is wrong with
// them. They are read again for each connection; this is to be told early.
func (s Settings) CheckFiles() error {
	var errs []error
	if s.CAFile != "" {
		_, err := readCA(s.CAFile)
		errs = append(errs, err)
	}
	if s.CertFile != "" && s.KeyFile != "" {
		_, err := readCertificate(s.CertFile, s.KeyFile)
		errs = append(errs, err)
	}
	if s.CredsFile != "" {
		content, err := readFile(s.CredsFile)
		if err == nil {
			if _, _, err = parseCreds(content); err != nil {
				err = &fileError{path: s.CredsFile, problem: "is no NATS credentials file", err: err}
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func readCA(file string) (*x509.CertPool, error) {
	content, err := readFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, &fileError{path: file, problem: "cannot be used", err: errors.New("it holds no PEM certificate")}
	}
	return pool, nil
}

func readCertificate(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := readFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	certificate, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, &fileError{path: certFile, problem: "and the file of its key cannot be used", err: err}
	}
	return certificate, nil
}

func readFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		// The path once is enough.
		if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, &fileError{path: path, problem: "cannot be read", err: err}
	}
	return content, nil
}
