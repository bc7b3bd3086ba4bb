// Package gosdk stands in for Nebius's SDK: as much of it as
// provider-kubernetes needs to compile. No login to Nebius works with it.
package gosdk

import (
	"context"
	"errors"

	"github.com/nebius/gosdk/auth"
)

var errStub = errors.New("this provider-kubernetes was built without Nebius's SDK")

// SDK cannot be had: New fails always.
type SDK struct{}

// BearerToken fails, to be an auth token source.
func (*SDK) BearerToken(context.Context) (auth.BearerToken, error) {
	return auth.BearerToken{}, errStub
}

// Option of New, which looks at none.
type Option struct{}

// Credentials that are never used.
type Credentials struct{}

// New says that the SDK is left out.
func New(context.Context, ...Option) (*SDK, error) { return nil, errStub }

// WithCredentials does nothing.
func WithCredentials(Credentials) Option { return Option{} }

// ServiceAccountReader does nothing.
func ServiceAccountReader(auth.PrivateKeyParser) Credentials { return Credentials{} }
