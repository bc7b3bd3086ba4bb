package policy

import (
	"testing"

	psa "k8s.io/pod-security-admission/api"
	psapolicy "k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	"tmi.dev/function-tmicomponent/test/properties/draw"
)

// TestRestricted: every worker of every component that is accepted passes the
// strictest Pod Security Standard.
func TestRestricted(t *testing.T) {
	t.Parallel()

	evaluator, err := psapolicy.NewEvaluator(psapolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}

	rapid.Check(t, func(t *rapid.T) {
		_, d := compose(t, draw.Composite().Draw(t, "composite").Struct)
		if d == nil {
			return
		}
		result := psapolicy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &d.Spec.Template.ObjectMeta, &d.Spec.Template.Spec))
		if !result.Allowed {
			t.Errorf("forbidden by the restricted profile: %s", result.ForbiddenDetail())
		}
	})
}
