package fn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestExpandAllowed(t *testing.T) {
	t.Parallel()

	type args struct {
		name  string
		lists [][]string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   [][]string
	}{
		"Nothing": {
			reason: "Without patterns there is no list, which allows everything.",
			args:   args{name: "a", lists: [][]string{nil, {}}},
		},
		"Both": {
			reason: "The function's own patterns and the Input's both hold.",
			args:   args{name: "a", lists: [][]string{{"jobs.{namespace}.>"}, {"jobs.{namespace}.{name}", "x"}}},
			want:   [][]string{{"jobs.team-a.>"}, {"jobs.team-a.a", "x"}},
		},
		"DottedName": {
			reason: "A name of several tokens could be the namespace of another team, so that a pattern with it allows nothing.",
			args:   args{name: "x.team-b", lists: [][]string{{"jobs.{name}.{namespace}.>", "jobs.{namespace}.>"}}},
			want:   [][]string{{"jobs.team-a.>"}},
		},
		"DottedNameOnly": {
			reason: "A list of which nothing is left still is one: it allows nothing, not everything.",
			args:   args{name: "x.team-b", lists: [][]string{{"jobs.{name}.>"}}},
			want:   [][]string{{}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := expandAllowed(&Component{Namespace: "team-a", Name: tc.args.name}, tc.args.lists...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nexpandAllowed(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateJobSubjectsAllowed(t *testing.T) {
	t.Parallel()

	const subject = "jobs.team-a.x"
	cases := map[string]struct {
		reason  string
		allowed [][]string
		want    string
	}{
		"Both":    {"Each list must allow a subject.", [][]string{{"jobs.>"}, {"jobs.team-a.>"}}, ""},
		"First":   {"One list is not enough.", [][]string{{"jobs.>"}, {"jobs.team-b.>"}}, `"jobs.team-a.x" is not allowed here: the platform allows jobs.>, and of these jobs.team-b.>`},
		"Nothing": {"An empty list allows nothing, and says why.", [][]string{{}}, `"jobs.team-a.x" is not allowed here: the platform allows nothing to a component whose name has a dot`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			if errs := validateJobSubjects([]string{subject}, tc.allowed, field.NewPath("spec", "jobSubjects")); len(errs) > 0 {
				got = errs[0].Detail
			}
			if got != tc.want {
				t.Errorf("\n%s\nvalidateJobSubjects(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
