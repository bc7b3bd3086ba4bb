// Package e2e holds the tests of the whole system on a whole cluster: the real
// Kubernetes, Crossplane, provider-kubernetes, KEDA and NATS, which package
// lab puts up. They have the build tag e2e, for they take minutes and need the
// programs of tools/; `make e2e` runs them, once for each of the two
// Configurations.
//
// The tests begin in suite_test.go. component_test.go is the component that
// they act on, recorder_test.go sees what changes, and every other file is
// one subject.
package e2e
