// Package render renders components on this machine alone: with the real
// Crossplane CLI and core, this repository's function, and a real nats-server.
//
// `make render` uses it by way of cmd/render, and this package's tests use it
// to hold what is rendered against golden files.
package render
