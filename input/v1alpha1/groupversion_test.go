package v1alpha1

import "testing"

// TestGroupVersion holds the API's names against those in the field: teams'
// claims bear them.
func TestGroupVersion(t *testing.T) {
	t.Parallel()

	if got := GroupVersion.String(); got != "tmi.dev/v1alpha1" {
		t.Errorf("want tmi.dev/v1alpha1, got %s", got)
	}
	if Kind != "TMIComponent" || CompositeKind != "XTMIComponent" {
		t.Errorf("want TMIComponent and XTMIComponent, got %s and %s", Kind, CompositeKind)
	}
}
