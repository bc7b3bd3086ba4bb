package fn

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/nats"
)

// Placeholders in the patterns of allowed subjects.
const (
	placeholderNamespace = "{namespace}"
	placeholderName      = "{name}"
)

func validateJobSubjects(subjects []string, allowed [][]string, path *field.Path) field.ErrorList {
	switch {
	case len(subjects) == 0:
		return field.ErrorList{field.Required(path, "name at least one NATS subject whose messages are this component's jobs")}
	case len(subjects) > maxJobSubjects:
		return field.ErrorList{field.TooMany(path, len(subjects), maxJobSubjects)}
	}
	var errs field.ErrorList
	var seen nats.SubjectTree
	for i, s := range subjects {
		if err := nats.ValidateSubject(s); err != nil {
			errs = append(errs, field.Invalid(path.Index(i), protostruct.Truncated(s), err.Error()))
			continue
		}
		if n := strings.Count(s, ".") + 1; n > maxSubjectTokens {
			errs = append(errs, field.Invalid(path.Index(i), protostruct.Truncated(s), fmt.Sprintf("must have at most %d tokens, not %d", maxSubjectTokens, n)))
			continue
		}
		if why := reservedSubject(s); why != "" {
			errs = append(errs, field.Invalid(path.Index(i), protostruct.Truncated(s), why))
			continue
		}
		if !nats.SubjectAllowed(s, allowed) {
			errs = append(errs, field.Forbidden(path.Index(i), fmt.Sprintf("%q is not allowed here: the platform allows %s",
				protostruct.Truncated(s), describeAllowed(allowed))))
		}
		switch other, added := seen.Add(s); {
		case added:
		case other == s:
			errs = append(errs, field.Duplicate(path.Index(i), protostruct.Truncated(s)))
		default:
			errs = append(errs, field.Invalid(path.Index(i), protostruct.Truncated(s),
				fmt.Sprintf("overlaps %q, which is listed too: a job would match both; keep one", protostruct.Truncated(other))))
		}
	}
	return errs
}

// reservedSubject returns why a valid subject cannot be one of jobs.
func reservedSubject(s string) string {
	switch first, _, _ := strings.Cut(s, "."); {
	case strings.HasPrefix(first, "$"):
		return "subjects that begin with $ are reserved for NATS itself"
	case first == inboxToken:
		return "subjects below " + inboxToken + " are reserved for replies"
	case first == "*" || first == ">":
		return "the first token must be literal: a wildcard there would take every other component's jobs"
	}
	return ""
}

// expandAllowed puts the component's namespace and name into the lists of
// allowed subjects, of which those that are empty are left out. A pattern with
// {name} allows nothing to a component whose name has a dot: the name would be
// several tokens, and one that a team chooses could be the tokens of another.
func expandAllowed(c *Component, lists ...[]string) [][]string {
	expand := strings.NewReplacer(placeholderNamespace, c.Namespace, placeholderName, c.Name)
	dotted := strings.Contains(c.Name, ".")

	var allowed [][]string
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		patterns := make([]string, 0, len(list))
		for _, p := range list {
			if dotted && strings.Contains(p, placeholderName) {
				continue
			}
			patterns = append(patterns, expand.Replace(p))
		}
		allowed = append(allowed, patterns)
	}
	return allowed
}

// describeAllowed names the patterns for a team.
func describeAllowed(allowed [][]string) string {
	lists := make([]string, len(allowed))
	for i, patterns := range allowed {
		lists[i] = strings.Join(patterns, ", ")
		if len(patterns) == 0 {
			lists[i] = "nothing to a component whose name has a dot"
		}
	}
	return strings.Join(lists, ", and of these ")
}

// ValidateAllowedSubjects returns an error for each pattern that could allow
// nothing, since it is no subject or has a placeholder that is not known.
func ValidateAllowedSubjects(patterns []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	expand := strings.NewReplacer(placeholderNamespace, "namespace", placeholderName, "name")
	for i, p := range patterns {
		expanded := expand.Replace(p)
		if err := nats.ValidateSubject(expanded); err != nil {
			errs = append(errs, field.Invalid(path.Index(i), protostruct.Truncated(p), err.Error()))
		} else if strings.ContainsAny(expanded, "{}") {
			errs = append(errs, field.Invalid(path.Index(i), protostruct.Truncated(p),
				"has a placeholder that is not known; there are "+placeholderNamespace+" and "+placeholderName))
		}
	}
	return errs
}
