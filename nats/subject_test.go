package nats

import (
	"errors"
	"testing"
)

func TestValidateSubject(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		arg    string
		want   error
	}{
		"Literal":       {"A literal subject is valid.", "jobs.extract.pdf", nil},
		"OneToken":      {"One token is enough.", "jobs", nil},
		"Wildcards":     {"Wildcards are valid where NATS has them.", "jobs.*.page.>", nil},
		"PartOfToken":   {"A wildcard's character within a token is literal.", "jobs.a*b.c>d", nil},
		"Unicode":       {"Tokens may hold any letters.", "jobs.größe", nil},
		"Empty":         {"Nothing is no subject.", "", ErrSubjectEmpty},
		"LeadingDot":    {"The first token must not be empty.", ".jobs", ErrSubjectEmptyToken},
		"TrailingDot":   {"The last token must not be empty.", "jobs.", ErrSubjectEmptyToken},
		"DoubleDot":     {"A token between must not be empty.", "jobs..x", ErrSubjectEmptyToken},
		"Space":         {"The protocol separates by spaces.", "jobs.x y", ErrSubjectSpace},
		"Tab":           {"A tab is white space too.", "jobs.x\ty", ErrSubjectSpace},
		"LineBreak":     {"A line break would end the protocol's line.", "jobs.x\r\nPUB y", ErrSubjectSpace},
		"Null":          {"Control characters are refused.", "jobs.\x00", ErrSubjectSpace},
		"InvalidUTF8":   {"What is no UTF-8 cannot be sent as JSON.", "jobs.\xff", ErrSubjectSpace},
		"StarGoesOn":    {"A token is a wildcard or is none: server.SubjectsCollide takes *0 for one, and delivery does not.", "jobs.*0.x", ErrSubjectWildcard},
		"RestGoesOn":    {"The same goes for >.", "jobs.>0", ErrSubjectWildcard},
		"RestNotLast":   {"Nothing comes after >.", "jobs.>.pdf", ErrSubjectRest},
		"RestAndNoMore": {"> alone is valid; whether it is allowed is another matter.", ">", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ValidateSubject(tc.arg); !errors.Is(got, tc.want) {
				t.Errorf("\n%s\nValidateSubject(%q): want %v, got %v", tc.reason, tc.arg, tc.want, got)
			}
		})
	}
}

func TestSubjectsOverlap(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		a, b   string
		want   bool
	}{
		"Same":             {"A subject overlaps itself.", "a.b", "a.b", true},
		"Different":        {"Other literals do not.", "a.b", "a.c", false},
		"Prefix":           {"A shorter subject is no parent.", "a", "a.b", false},
		"Star":             {"* matches one token.", "a.*", "a.b", true},
		"StarDepth":        {"* matches no more than one.", "a.*", "a.b.c", false},
		"Rest":             {"> matches one token and more.", "a.>", "a.b.c", true},
		"RestNeedsOne":     {"> matches at least one token.", "a.>", "a", false},
		"StarsCross":       {"Wildcards in different places can meet.", "a.*.c", "a.b.*", true},
		"StarsMiss":        {"Wildcards do not help where literals differ.", "a.*.c", "*.b.d", false},
		"RestAgainstStars": {"Two wildcards meet.", "*.*", "a.>", true},
		"PartOfToken":      {"A wildcard's character within a token is literal.", "a.b*", "a.bc", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := SubjectsOverlap(tc.a, tc.b); got != tc.want {
				t.Errorf("\n%s\nSubjectsOverlap(%q, %q): want %t, got %t", tc.reason, tc.a, tc.b, tc.want, got)
			}
			if got := SubjectsOverlap(tc.b, tc.a); got != tc.want {
				t.Errorf("\n%s\nSubjectsOverlap(%q, %q): want %t, got %t", tc.reason, tc.b, tc.a, tc.want, got)
			}
			var tree SubjectTree
			tree.Add("x.subject.longer.than.any.other")
			tree.Add(tc.a)
			if other, added := tree.Add(tc.b); added == tc.want || tc.want && other != tc.a {
				t.Errorf("\n%s\nSubjectTree with %q, Add(%q): want added %t, got %t, overlapping %q", tc.reason, tc.a, tc.b, !tc.want, added, other)
			}
		})
	}
}

func TestSubjectCovers(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason     string
		pattern, s string
		want       bool
	}{
		"Same":            {"A pattern covers itself.", "a.*.>", "a.*.>", true},
		"Star":            {"* covers a literal token.", "a.*", "a.b", true},
		"StarCoversStar":  {"* covers *.", "*.*", "a.*", true},
		"StarNotRest":     {"* does not cover >, which may be more tokens.", "a.*", "a.>", false},
		"RestCoversAll":   {"> covers whatever follows.", "a.>", "a.*.c.>", true},
		"RestNeedsOne":    {"> covers at least one token.", "a.>", "a", false},
		"LiteralNotStar":  {"A literal does not cover *.", "a.b", "a.*", false},
		"Longer":          {"A longer subject is not covered.", "a.b", "a.b.c", false},
		"Shorter":         {"Nor is a shorter one.", "a.b.c", "a.b", false},
		"EverythingOfAll": {"> covers every subject.", ">", "a.b", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := SubjectCovers(tc.pattern, tc.s); got != tc.want {
				t.Errorf("\n%s\nSubjectCovers(%q, %q): want %t, got %t", tc.reason, tc.pattern, tc.s, tc.want, got)
			}
		})
	}
}
