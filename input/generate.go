// Package input holds the types that people write: tmi.dev's TMIComponent and
// the function's Input. What is generated from them is made by
// tools/generate.
package input

//go:generate go run -C ../tools/generate . -root ../..
