package nats

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokens of a subject with a meaning of their own.
const (
	subjectSeparator = "."
	wildcardOne      = "*"
	wildcardRest     = ">"
)

// Reasons why a string is no subject.
var (
	ErrSubjectEmpty      = errors.New("a subject must not be empty")
	ErrSubjectEmptyToken = errors.New("a subject must have no empty token: no dot at either end, and no two in a row")
	ErrSubjectSpace      = errors.New("a subject must hold no white space, no control character, and only valid UTF-8")
	ErrSubjectRest       = errors.New("the wildcard > must be a subject's last token")
	ErrSubjectWildcard   = errors.New("a token that begins with a wildcard must be nothing but that wildcard")
)

// ValidateSubject returns why a NATS server would not take s as the subject of
// a stream or a subscription, or nil. Wildcards are valid.
func ValidateSubject(s string) error {
	if s == "" {
		return ErrSubjectEmpty
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return ErrSubjectSpace
	}
	tokens := strings.Split(s, subjectSeparator)
	for i, t := range tokens {
		switch {
		case t == "":
			return ErrSubjectEmptyToken
		case t == wildcardRest && i < len(tokens)-1:
			return ErrSubjectRest
		// Parts of nats-server take such a token for a wildcard, and others not.
		case len(t) > 1 && (strings.HasPrefix(t, wildcardOne) || strings.HasPrefix(t, wildcardRest)):
			return ErrSubjectWildcard
		}
	}
	return nil
}

// SubjectsOverlap reports whether there is a subject that both a and b match.
// A server stores the messages of a subject in one stream only, so it refuses
// a stream whose subjects overlap another's, or each other.
func SubjectsOverlap(a, b string) bool {
	at, bt := strings.Split(a, subjectSeparator), strings.Split(b, subjectSeparator)
	for i := range min(len(at), len(bt)) {
		if at[i] == wildcardRest || bt[i] == wildcardRest {
			return true
		}
		if at[i] != bt[i] && at[i] != wildcardOne && bt[i] != wildcardOne {
			return false
		}
	}
	return len(at) == len(bt)
}

// A SubjectTree finds the overlaps within a set of subjects without comparing
// each with each.
type SubjectTree struct {
	children map[string]*SubjectTree
	// subject that ends at this node, if one does.
	subject string
}

// Add adds a subject. If it overlaps one that is in the tree already it is not
// added, and that other subject is returned.
func (t *SubjectTree) Add(subject string) (overlaps string, ok bool) {
	tokens := strings.Split(subject, subjectSeparator)
	if other, found := t.find(tokens); found {
		return other, false
	}
	for _, token := range tokens {
		if t.children == nil {
			t.children = make(map[string]*SubjectTree)
		}
		if t.children[token] == nil {
			t.children[token] = &SubjectTree{}
		}
		t = t.children[token]
	}
	t.subject = subject
	return "", true
}

// find returns a subject at or below t that overlaps the tokens that are left
// of another.
func (t *SubjectTree) find(tokens []string) (string, bool) {
	if len(tokens) == 0 {
		return t.subject, t.subject != ""
	}
	if rest := t.children[wildcardRest]; rest != nil {
		return rest.subject, true
	}
	switch token := tokens[0]; token {
	case wildcardRest:
		return t.first()
	case wildcardOne:
		// The least of them, since a map has no order; and without sorting,
		// since this may be the whole tree, for each subject of wildcards.
		least := ""
		for _, child := range t.children {
			if s, found := child.find(tokens[1:]); found && (least == "" || s < least) {
				least = s
			}
		}
		return least, least != ""
	default:
		for _, name := range []string{token, wildcardOne} {
			if child := t.children[name]; child != nil {
				if s, found := child.find(tokens[1:]); found {
					return s, true
				}
			}
		}
	}
	return "", false
}

// first returns the first subject below t, which every node but an empty root
// has.
func (t *SubjectTree) first() (string, bool) {
	if len(t.children) == 0 {
		return "", false
	}
	child := t.children[slices.Min(slices.Collect(maps.Keys(t.children)))]
	if child.subject != "" {
		return child.subject, true
	}
	return child.first()
}

// SubjectCovers reports whether pattern matches every subject that s matches.
func SubjectCovers(pattern, s string) bool {
	pt, st := strings.Split(pattern, subjectSeparator), strings.Split(s, subjectSeparator)
	for i, p := range pt {
		switch {
		case i >= len(st):
			return false
		case p == wildcardRest:
			return true
		case st[i] == wildcardRest:
			return false
		case p != wildcardOne && p != st[i]:
			return false
		}
	}
	return len(pt) == len(st)
}

// SubjectAllowed reports whether each of the lists has a pattern that covers the
// subject. With no list every subject is allowed; an empty list allows none.
func SubjectAllowed(s string, allowed [][]string) bool {
	for _, patterns := range allowed {
		if !slices.ContainsFunc(patterns, func(p string) bool { return SubjectCovers(p, s) }) {
			return false
		}
	}
	return true
}
