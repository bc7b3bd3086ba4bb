package fuzz

import (
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"tmi.dev/function-tmicomponent/nats"
)

// FuzzSubjects holds what we say about two subjects against what a nats-server
// says, by the functions that it uses itself.
func FuzzSubjects(f *testing.F) {
	for _, s := range [][2]string{
		{"a.b", "a.b"}, {"a.*", "a.b"}, {"a.>", "a.b.c"}, {"a.>", "a"}, {"a.*.c", "a.b.*"}, {"a.*.c", "*.b.d"}, {"*.*", "a.>"}, {">", "*"},
		{"a.b*", "a.bc"}, {"a.>b", "a.b"}, {"a.*b.>", "a.*.>"}, {"*", ">"}, {"größe.*", "größe.日本"}, {"a\u00a0", "a.\ufffd"}, {"a.\xff", "a.*"}, {"", "."}, {"a..b", "a b"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			if nats.ValidateSubject(s) == nil && !server.IsValidSubject(s) {
				t.Errorf("%q is valid for us, and not for a server", s)
			}
		}
		if nats.ValidateSubject(a) != nil || nats.ValidateSubject(b) != nil {
			return
		}
		want := server.SubjectsCollide(a, b)
		if got := nats.SubjectsOverlap(a, b); got != want {
			t.Errorf("SubjectsOverlap(%q, %q): got %t, a server says %t", a, b, got, want)
		}
		if got := nats.SubjectsOverlap(b, a); got != want {
			t.Errorf("SubjectsOverlap(%q, %q): got %t, a server says %t", b, a, got, want)
		}
		var tree nats.SubjectTree
		tree.Add(a)
		if other, added := tree.Add(b); added == want || !added && other != a {
			t.Errorf("SubjectTree with %q, Add(%q): got added %t, overlapping %q; a server says that they overlap: %t", a, b, added, other, want)
		}
		if got, want := nats.SubjectCovers(a, b), server.SubjectMatchesFilter(b, a); got != want {
			t.Errorf("SubjectCovers(%q, %q): got %t, a server says %t", a, b, got, want)
		}
	})
}

// FuzzSubjectTree holds a set of subjects in the tree against comparing each
// with each. The set is one string, its subjects separated by spaces.
func FuzzSubjectTree(f *testing.F) {
	f.Add("a.b a.c a.*")
	f.Add("a.*.c b.> a.b.> a.b")
	f.Add("*.b a.> x.y.z x.*.z >")
	f.Add("a a.b a.b.c a.b.c.d")
	f.Fuzz(func(t *testing.T, set string) {
		var tree nats.SubjectTree
		var added []string
		for s := range strings.FieldsSeq(set) {
			if nats.ValidateSubject(s) != nil {
				continue
			}
			want := slices.ContainsFunc(added, func(other string) bool { return server.SubjectsCollide(s, other) })
			other, ok := tree.Add(s)
			if ok == want {
				t.Fatalf("SubjectTree with %q, Add(%q): got added %t, a server says that it overlaps one: %t", added, s, ok, want)
			}
			if !ok && (!slices.Contains(added, other) || !server.SubjectsCollide(s, other)) {
				t.Fatalf("SubjectTree with %q, Add(%q): it overlaps no %q", added, s, other)
			}
			if ok {
				added = append(added, s)
			}
		}
	})
}
