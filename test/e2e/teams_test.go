//go:build e2e

package e2e

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// Two teams give their components one name. Streams are named after components
// alone, so only one can have it: the first works, and the second is told
// whose it is.
func testTwoTeams(t *testing.T) {
	t.Parallel()
	createNamespace(t, "team-red")
	createNamespace(t, "team-blue")
	red := newComponentIn(t, "team-red", "twin")
	red.waitReady()
	blue := newComponentIn(t, "team-blue", "twin", func(spec map[string]any) {
		spec["jobSubjects"] = []any{"jobs.blue.twin"}
	})
	eventually(t, soon, func() error { return blue.hasCondition("JetStreamReady", "False", "NameCollision") })
	message := blue.message("JetStreamReady")
	t.Logf("the second team reads: %s", message)
	if !strings.Contains(message, "team-red/twin") {
		t.Errorf("the message does not name the owner")
	}
	eventually(t, soon, func() error { return blue.hasCondition("DeploymentReady", "False", "WaitingForJetStream") })
	if err := isGone(blue.key(), &appsv1.Deployment{})(); err != nil {
		t.Errorf("without a stream of its own: %v", err)
	}
	if err := red.isReady(); err != nil {
		t.Errorf("the first team is disturbed: %v", err)
	}
}
