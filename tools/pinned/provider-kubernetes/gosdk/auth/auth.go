// Package auth stands in for the one of Nebius's SDK.
package auth

// BearerToken is what the provider sends with its requests.
type BearerToken struct {
	Token string
}

// PrivateKeyParser parses nothing.
type PrivateKeyParser struct{}

// NewPrivateKeyParser keeps nothing of the key.
func NewPrivateKeyParser(privateKey []byte, publicKeyID, serviceAccountID string) PrivateKeyParser {
	return PrivateKeyParser{}
}
