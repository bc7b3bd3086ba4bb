package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// publicCAs are the certificates of the public CAs, in PEM, for NATS servers
// with a certificate from one. They come from a module, not from this machine,
// so that the image is the same everywhere. CAs that are trusted only within
// limits are left out: PEM cannot say the limits.
func publicCAs() []byte {
	certificates := &bytes.Buffer{}
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		// Writing to a buffer does not fail.
		_ = pem.Encode(certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
	}
	return certificates.Bytes()
}
