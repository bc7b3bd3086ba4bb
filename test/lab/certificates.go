package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// A certificateAuthority signs the certificates of one circle of parts.
type certificateAuthority struct {
	certificate *x509.Certificate
	key         any
	pem         []byte
}

// A keyPair is a certificate and its key, PEM encoded.
type keyPair struct{ certificate, key []byte }

func newCertificateAuthority(name string) (*certificateAuthority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificateTemplate(name)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &certificateAuthority{certificate: certificate, key: key, pem: encodeCertificate(der)}, nil
}

// loadCertificateAuthority reads one that somebody else made.
func loadCertificateAuthority(certificate, key []byte) (*certificateAuthority, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	return &certificateAuthority{certificate: parsed, key: pair.PrivateKey, pem: certificate}, nil
}

// issue signs a certificate that is good for a server on the loopback
// interface, under these names too, and for a client.
func (ca *certificateAuthority) issue(name string, dnsNames ...string) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	template := certificateTemplate(name)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames = append([]string{"localhost"}, dnsNames...)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, &key.PublicKey, ca.key)
	if err != nil {
		return keyPair{}, err
	}
	keyPEM, err := encodeKey(key)
	return keyPair{certificate: encodeCertificate(der), key: keyPEM}, err
}

// write puts a pair and the authority's own certificate into a directory,
// under the names that Kubernetes uses in Secrets.
func (ca *certificateAuthority) write(dir string, pair keyPair) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": ca.pem} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// issueTo signs a certificate and writes it to a directory.
func (ca *certificateAuthority) issueTo(dir, name string, dnsNames ...string) error {
	pair, err := ca.issue(name, dnsNames...)
	if err != nil {
		return fmt.Errorf("cannot sign a certificate for %s: %w", name, err)
	}
	return ca.write(dir, pair)
}

func certificateTemplate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
	}
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	// Not PKCS #8: the API server takes the public half of its service account
	// key from this file too, and can do so with this form only.
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
