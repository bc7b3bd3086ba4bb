package nats

import (
	"errors"
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
