package v1beta1

import "testing"

// TestGroupVersion holds the Input's names against those in the field:
// Compositions bear them.
func TestGroupVersion(t *testing.T) {
	t.Parallel()

	if got := GroupVersion.String() + " " + Kind; got != "tmi.fn.crossplane.io/v1beta1 Input" {
		t.Errorf("want tmi.fn.crossplane.io/v1beta1 Input, got %s", got)
	}
}
