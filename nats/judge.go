package nats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// An action is what to do with a stream or a consumer.
type action int

const (
	leave action = iota
	create
	update
)

// A verdict is what follows from how a stream or a consumer was found.
type verdict struct {
	action action
	// state once the action is done.
	state State
	// patch to update with, and the sentence for it.
	patch  patch
	change string
	// err, if it is not as it should be and stays so.
	err *Error
}

// A patch is the part of a config that is ours to change. What it does not name
// stays as it was found.
type patch struct {
	// set and unset are fields of the config in JSON.
	set   map[string]any
	unset []string
	// metadata to add.
	metadata map[string]string
}

// A difference is one thing in which something found is not as it should be.
type difference struct {
	// problem ends the sentence "stream X is not as it should be: ...".
	problem string
	// fix ends the sentence "Updated stream X: ...".
	fix string
	// immutable: the server refuses to change it, or we must not.
	immutable bool
}

// A finding is a stream or a consumer that was found, compared with the wanted
// one in what we own.
type finding struct {
	// thing is "stream X" or "consumer X".
	thing string
	// owner in its metadata; empty if it was not made by us.
	owner string
	// asOurs are the differences that matter if it is ours, or becomes so.
	asOurs []difference
	// asTheirs are those that matter if it is not, and is only to do the job.
	asTheirs []difference
	// patch that removes the differences that can be removed.
	patch patch
}

// judge decides what to do about what was found. It is the ensure table.
func judge(f finding, r Request) verdict {
	if f.owner != "" && f.owner != r.Component.owner() {
		return verdict{err: collision(f)}
	}
	if f.owner == "" && (!r.AdoptExisting || r.ObserveOnly) {
		if len(f.asTheirs) > 0 {
			return verdict{err: driftOfTheirs(f, r)}
		}
		return verdict{state: Adopted}
	}
	if fixed := forGood(f.asOurs); len(fixed) > 0 {
		return verdict{err: driftForGood(f, fixed)}
	}
	switch {
	case f.owner == "":
		return verdict{action: update, state: Provisioned, patch: f.patch, change: sentence("Took over "+f.thing, fixes(f.asOurs))}
	case len(f.asOurs) == 0:
		return verdict{state: Provisioned}
	case r.ObserveOnly:
		return verdict{err: driftObserved(f)}
	}
	return verdict{action: update, state: Provisioned, patch: f.patch, change: sentence("Updated "+f.thing, fixes(f.asOurs))}
}

// judgeStream decides what to do about a stream, which is nil if there is none.
func judgeStream(found *jetstream.StreamConfig, r Request) verdict {
	want := StreamConfigFor(r.Component, r.Replicas)
	if found == nil {
		if r.ObserveOnly {
			return verdict{err: absent("Stream " + want.Name)}
		}
		return verdict{action: create, state: Provisioned, change: "Created stream " + want.Name}
	}
	f := finding{
		thing: "stream " + want.Name,
		owner: found.Metadata[MetadataComponent],
		patch: patch{set: map[string]any{"subjects": want.Subjects}, metadata: want.Metadata},
	}

	var fixed []difference
	if found.Retention != want.Retention {
		fixed = append(fixed, unlike("retention", found.Retention, want.Retention))
	}
	if found.Storage != want.Storage {
		fixed = append(fixed, unlike("storage", found.Storage, want.Storage))
	}
	if f.owner == "" {
		if beyond := notAllowed(found.Subjects, r.AllowedSubjects); len(beyond) > 0 {
			fixed = append(fixed, difference{problem: "it has " + listed(beyond) + ", which the platform does not allow to this component", immutable: true})
		}
	}
	f.asOurs, f.asTheirs = slices.Clone(fixed), slices.Clone(fixed)

	if lacking := without(want.Subjects, found.Subjects); len(lacking) > 0 {
		f.asOurs = append(f.asOurs, difference{
			problem: "it lacks " + listed(lacking),
			fix:     "added " + listed(lacking),
		})
	}
	if surplus := without(found.Subjects, want.Subjects); len(surplus) > 0 {
		f.asOurs = append(f.asOurs, difference{
			problem: "it has " + listed(surplus) + ", not among the component's jobSubjects",
			fix:     "removed " + listed(surplus),
		})
	}
	if missed := uncovered(want.Subjects, found.Subjects); len(missed) > 0 {
		f.asTheirs = append(f.asTheirs, difference{problem: "it lacks " + listed(missed)})
	}
	if r.Replicas > 0 && found.Replicas != r.Replicas {
		f.asOurs = append(f.asOurs, changed("replica count", found.Replicas, r.Replicas))
		f.patch.set["num_replicas"] = r.Replicas
	}
	f.asOurs = append(f.asOurs, unmanaged(f, found.Metadata)...)
	return judge(f, r)
}

// judgeConsumer decides what to do about a consumer, which is nil if there is
// none.
func judgeConsumer(found *jetstream.ConsumerConfig, r Request) verdict {
	want := ConsumerConfigFor(r.Component)
	if found == nil {
		if r.ObserveOnly {
			return verdict{err: absent("Consumer " + want.Durable + " of stream " + StreamName(r.Component.Name))}
		}
		return verdict{action: create, state: Provisioned, change: "Created consumer " + want.Durable + " of stream " + StreamName(r.Component.Name)}
	}
	f := finding{
		thing: "consumer " + want.Durable + " of stream " + StreamName(r.Component.Name),
		owner: found.Metadata[MetadataComponent],
		patch: patch{
			set:      map[string]any{"ack_wait": want.AckWait, "max_deliver": want.MaxDeliver},
			metadata: want.Metadata,
		},
	}

	// What the server would not change, and the filter, which it would: taking
	// it off leaves the count of pending jobs, which wakes the workers, stuck.
	if found.DeliverSubject != "" {
		f.asOurs = append(f.asOurs, difference{problem: "it pushes jobs and should be pulled from", immutable: true})
	}
	if found.Durable == "" {
		f.asOurs = append(f.asOurs, difference{problem: "it is not durable", immutable: true})
	}
	if found.AckPolicy != want.AckPolicy {
		f.asOurs = append(f.asOurs, unlike("acknowledgement", found.AckPolicy, want.AckPolicy))
	}
	if found.DeliverPolicy != want.DeliverPolicy {
		f.asOurs = append(f.asOurs, unlike("deliver policy", found.DeliverPolicy, want.DeliverPolicy))
	}
	if passed := filters(found); len(passed) > 0 {
		f.asOurs = append(f.asOurs, difference{problem: "it passes only " + listed(passed) + " and should have no filter", immutable: true})
	}

	if found.AckWait != want.AckWait {
		f.asOurs = append(f.asOurs, changed("ack wait", found.AckWait, want.AckWait))
		// The first step of a backoff takes the place of the ack wait, so the
		// ack wait can be ours only without it.
		if len(found.BackOff) > 0 {
			f.patch.unset = append(f.patch.unset, "backoff")
		}
	}
	if found.MaxDeliver != want.MaxDeliver {
		f.asOurs = append(f.asOurs, changed("number of deliveries", found.MaxDeliver, want.MaxDeliver))
		// The server wants more deliveries than steps of a backoff.
		if len(found.BackOff) >= want.MaxDeliver && f.patch.unset == nil {
			f.patch.unset = append(f.patch.unset, "backoff")
		}
	}
	f.asTheirs = slices.Clone(f.asOurs)
	f.asOurs = append(f.asOurs, unmanaged(f, found.Metadata)...)
	return judge(f, r)
}

// unmanaged is the difference of something of ours whose metadata lost the name
// of this program.
func unmanaged(f finding, metadata map[string]string) []difference {
	if f.owner == "" || metadata[MetadataManagedBy] == ManagedBy {
		return nil
	}
	return []difference{{problem: "its metadata lacks " + MetadataManagedBy, fix: "added " + MetadataManagedBy + " to its metadata"}}
}

func unlike(what string, found, want any) difference {
	return difference{problem: fmt.Sprintf("its %s is %v and should be %v", what, found, want), immutable: true}
}

func changed(what string, found, want any) difference {
	return difference{
		problem: fmt.Sprintf("its %s is %v and should be %v", what, found, want),
		fix:     fmt.Sprintf("changed its %s from %v to %v", what, found, want),
	}
}

func collision(f finding) *Error {
	return &Error{Reason: NameCollision, Message: fmt.Sprintf(
		"%s belongs to the component %s, whose name leads to the same one; rename this component, or, if that one is gone for good, ask the platform team to remove what it left.",
		capitalised(f.thing), f.owner)}
}

func absent(thing string) *Error {
	return &Error{Reason: NotFound, Message: thing +
		" does not exist, and the function only observes; create it, or have the platform team set nats.provisioning to Ensure in the function's Input."}
}

func driftOfTheirs(f finding, r Request) *Error {
	advice := "change it, or remove it once its jobs are done so that it is made anew."
	if len(forGood(f.asOurs)) == 0 {
		var input []string
		if !r.AdoptExisting {
			input = append(input, "nats.adoptExisting: true")
		}
		if r.ObserveOnly {
			input = append(input, "nats.provisioning: Ensure")
		}
		advice = "change it, or have the platform team set " + strings.Join(input, " and ") + " in the function's Input so that the function takes it over."
	}
	return &Error{Reason: Drifted, Message: fmt.Sprintf("%s was not made by this function and does not fit: %s; %s",
		capitalised(f.thing), problems(f.asTheirs), advice)}
}

func driftForGood(f finding, fixed []difference) *Error {
	return &Error{Reason: Drifted, Message: fmt.Sprintf(
		"%s is not as it should be: %s, which the function cannot change; once its jobs are done, ask the platform team to remove it so that it is made anew.",
		capitalised(f.thing), problems(fixed))}
}

func driftObserved(f finding) *Error {
	return &Error{Reason: Drifted, Message: fmt.Sprintf(
		"%s is not as it should be: %s, and the function only observes; change it, or have the platform team set nats.provisioning to Ensure in the function's Input.",
		capitalised(f.thing), problems(f.asOurs))}
}

// forGood returns the differences that stay.
func forGood(ds []difference) []difference {
	var fixed []difference
	for _, d := range ds {
		if d.immutable {
			fixed = append(fixed, d)
		}
	}
	return fixed
}

func problems(ds []difference) string {
	texts := make([]string, len(ds))
	for i, d := range ds {
		texts[i] = d.problem
	}
	return strings.Join(texts, ", and ")
}

func fixes(ds []difference) []string {
	texts := make([]string, len(ds))
	for i, d := range ds {
		texts[i] = d.fix
	}
	return texts
}

// sentence says what was done, and the details, if there are any.
func sentence(done string, details []string) string {
	if len(details) == 0 {
		return done
	}
	return done + ": " + strings.Join(details, ", ")
}

func capitalised(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}

// maxListed is how many subjects a message lists.
const maxListed = 5

// listed names the subjects, or the first few of them.
func listed(subjects []string) string {
	switch n := len(subjects); {
	case n == 1:
		return "subject " + subjects[0]
	case n > maxListed:
		return fmt.Sprintf("subjects %s and %d more", strings.Join(subjects[:maxListed], ", "), n-maxListed)
	}
	return "subjects " + strings.Join(subjects, ", ")
}

// without returns, in order, each of the names that the others lack.
func without(names, others []string) []string {
	if slices.Equal(names, others) { // As nearly always.
		return nil
	}
	left := make(map[string]struct{}, len(names))
	for _, n := range names {
		left[n] = struct{}{}
	}
	for _, o := range others {
		delete(left, o)
	}
	return slices.Sorted(maps.Keys(left))
}

// uncovered returns, in order, each of the subjects of which a message may fit
// none of the patterns.
func uncovered(subjects, patterns []string) []string {
	// A subject that is a pattern as well needs no comparison with each.
	rest := without(subjects, patterns)
	return slices.DeleteFunc(rest, func(s string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return SubjectCovers(p, s) })
	})
}

// notAllowed returns, in order, each of the subjects that is not allowed.
func notAllowed(subjects []string, allowed [][]string) []string {
	return slices.DeleteFunc(slices.Sorted(slices.Values(subjects)), func(s string) bool { return SubjectAllowed(s, allowed) })
}

func filters(c *jetstream.ConsumerConfig) []string {
	if c.FilterSubject != "" {
		return []string{c.FilterSubject}
	}
	return slices.Sorted(slices.Values(c.FilterSubjects))
}
