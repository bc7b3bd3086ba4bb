package fn

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestSentence(t *testing.T) {
	t.Parallel()

	many := func(n, size int) field.ErrorList {
		var errs field.ErrorList
		for range n {
			errs = append(errs, field.Required(field.NewPath("a"), strings.Repeat("ü", size)))
		}
		return errs
	}
	cases := map[string]struct {
		reason string
		args   field.ErrorList
		want   func(string) bool
	}{
		"None": {"No error is no word.", nil, func(s string) bool { return s == "" }},
		"One":  {"One error stands alone.", field.ErrorList{field.Required(field.NewPath("a"), "x")}, func(s string) bool { return s == "a: Required value: x" }},
		"Two": {"More are separated.", field.ErrorList{field.Required(field.NewPath("a"), "x"), field.Required(field.NewPath("b"), "y")},
			func(s string) bool { return s == "a: Required value: x; b: Required value: y" }},
		"Hundred":    {"A hundred are told.", many(100, 1), func(s string) bool { return strings.Count(s, "a: ") == 100 && !strings.Contains(s, "more") }},
		"MoreErrors": {"Of more it is told that there are.", many(101, 1), func(s string) bool { return strings.Count(s, "a: ") == 100 && strings.HasSuffix(s, "; and more") }},
		"LongError": {"A long one is cut, not within a letter.", many(1, 10000), func(s string) bool {
			return len(s) < 1100 && strings.HasSuffix(s, "ü...")
		}},
		"LongErrors": {"Many long ones end early.", many(100, 10000), func(s string) bool { return len(s) < 18000 && strings.HasSuffix(s, "; and more") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := sentence(tc.args); !tc.want(got) {
				t.Errorf("\n%s\nsentence(...): got %d bytes: %.2000s", tc.reason, len(got), got)
			}
		})
	}
}

func TestHasWorkers(t *testing.T) {
	t.Parallel()

	there := &fnv1.Resource{Resource: fromYAML(t, `{kind: Object}`)}
	cases := map[string]struct {
		reason string
		args   map[string]*fnv1.Resource
		want   bool
	}{
		"Nothing":       {"A new component has none.", nil, false},
		"NetworkPolicy": {"A NetworkPolicy is no worker.", map[string]*fnv1.Resource{"network-policy": there}, false},
		"Deployment":    {"A Deployment runs them.", map[string]*fnv1.Resource{"deployment": there}, true},
		"ScaledObject":  {"A ScaledObject scales them, so that it must stay.", map[string]*fnv1.Resource{"scaled-object": there}, true},
		"Other":         {"What other steps compose does not count.", map[string]*fnv1.Resource{"other": there}, false},
		"Nil":           {"What is nil is not there.", map[string]*fnv1.Resource{"deployment": nil, "scaled-object": {}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, hasWorkers(tc.args)); diff != "" {
				t.Errorf("\n%s\nhasWorkers(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
