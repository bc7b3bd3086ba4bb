package jetstream_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/nats"
)

// theirs takes our metadata away, as the old controller wrote none.
func theirs(c *jetstream.StreamConfig)          { c.Metadata = nil }
func theirConsumer(c *jetstream.ConsumerConfig) { c.Metadata = nil }

// TestEnsure goes through the ensure table: how a stream and a consumer are
// found, and what comes of it.
func TestEnsure(t *testing.T) {
	t.Parallel()
	server, nc := single(t)

	type given func(t *testing.T, r nats.Request)
	stream := func(change func(*jetstream.StreamConfig)) given {
		return func(t *testing.T, r nats.Request) { t.Helper(); makeStream(t, nc, r, change) }
	}
	both := func(change func(*jetstream.StreamConfig), changeConsumer func(*jetstream.ConsumerConfig)) given {
		return func(t *testing.T, r nats.Request) {
			t.Helper()
			makeStream(t, nc, r, change)
			makeConsumer(t, nc, r, changeConsumer)
		}
	}

	cases := map[string]struct {
		reason  string
		given   given
		request func(*nats.Request)

		state     nats.State
		changes   []string
		error     nats.Reason
		message   []string // parts of it
		untouched bool
		check     func(t *testing.T, name string)
	}{
		"absent": {
			reason:  "What is not there is created.",
			state:   nats.Provisioned,
			changes: []string{"Created stream TMI_ABSENT", "Created consumer ABSENT_CONSUMER of stream TMI_ABSENT"},
			check: func(t *testing.T, name string) {
				t.Helper()
				s, c := streamOf(t, nc, name), consumerOf(t, nc, name)
				r := request("", name)
				if s.Retention != jetstream.WorkQueuePolicy || s.Storage != jetstream.FileStorage || !slices.Equal(s.Subjects, r.Component.JobSubjects) || s.Replicas != 1 || !ours(s.Metadata, r) {
					t.Errorf("stream: %+v", s)
				}
				if c.Durable != "ABSENT_CONSUMER" || c.AckPolicy != jetstream.AckExplicitPolicy || c.FilterSubject != "" || c.AckWait != 90*time.Second || c.MaxDeliver != 3 || !ours(c.Metadata, r) {
					t.Errorf("consumer: %+v", c)
				}
			},
		},
		"converged": {
			reason:    "What is as it should be is left alone.",
			given:     both(nil, nil),
			state:     nats.Provisioned,
			untouched: true,
		},
		"consumer-lost": {
			reason:  "A consumer that was lost while its stream lives is made again.",
			given:   stream(nil),
			state:   nats.Provisioned,
			changes: []string{"Created consumer CONSUMER_LOST_CONSUMER of stream TMI_CONSUMER_LOST"},
		},
		"reordered": {
			reason:    "Subjects are a set.",
			given:     both(func(c *jetstream.StreamConfig) { slices.Reverse(c.Subjects) }, nil),
			request:   subjects("jobs.reordered.a", "jobs.reordered.b"),
			state:     nats.Provisioned,
			untouched: true,
		},
		"not-owned": {
			reason: "What we do not own of something that is ours is nobody's drift.",
			given: both(func(c *jetstream.StreamConfig) {
				c.MaxAge, c.MaxMsgs, c.Description, c.Metadata["theirs"] = time.Hour, 1000, "by hand", "kept"
			}, func(c *jetstream.ConsumerConfig) {
				c.MaxAckPending, c.Description, c.Metadata["theirs"] = 7, "by hand", "kept"
			}),
			state:     nats.Provisioned,
			untouched: true,
		},
		"subjects-differ": {
			reason: "Subjects are changed, and nothing else that was set by hand is lost.",
			given: both(func(c *jetstream.StreamConfig) {
				c.Subjects = []string{"jobs.subjects-differ", "jobs.subjects-differ.old"}
				c.MaxAge, c.MaxMsgs, c.Description, c.Metadata["theirs"] = time.Hour, 1000, "by hand", "kept"
				c.DenyDelete, c.Duplicates = true, time.Minute
			}, nil),
			request: subjects("jobs.subjects-differ", "jobs.subjects-differ.new"),
			state:   nats.Provisioned,
			changes: []string{"Updated stream TMI_SUBJECTS_DIFFER: added subject jobs.subjects-differ.new, removed subject jobs.subjects-differ.old"},
			check: func(t *testing.T, name string) {
				t.Helper()
				s := streamOf(t, nc, name)
				if !slices.Equal(s.Subjects, []string{"jobs.subjects-differ", "jobs.subjects-differ.new"}) {
					t.Errorf("subjects: %v", s.Subjects)
				}
				if s.MaxAge != time.Hour || s.MaxMsgs != 1000 || s.Description != "by hand" || s.Metadata["theirs"] != "kept" || !s.DenyDelete || s.Duplicates != time.Minute {
					t.Errorf("something that is not ours was lost: %+v", s)
				}
			},
		},
		"consumer-differs": {
			reason: "Ack wait and deliveries are changed, and nothing else is lost.",
			given: both(nil, func(c *jetstream.ConsumerConfig) {
				c.AckWait, c.MaxDeliver, c.MaxAckPending, c.Metadata["theirs"] = time.Minute, 5, 7, "kept"
			}),
			request: func(r *nats.Request) { r.Component.AckWait = 2 * time.Minute },
			state:   nats.Provisioned,
			changes: []string{"Updated consumer CONSUMER_DIFFERS_CONSUMER of stream TMI_CONSUMER_DIFFERS: changed its ack wait from 1m0s to 2m0s, changed its number of deliveries from 5 to 3"},
			check: func(t *testing.T, name string) {
				t.Helper()
				c := consumerOf(t, nc, name)
				if c.AckWait != 2*time.Minute || c.MaxDeliver != 3 || c.MaxAckPending != 7 || c.Metadata["theirs"] != "kept" {
					t.Errorf("consumer: %+v", c)
				}
			},
		},
		"backoff": {
			reason: "A backoff takes the place of the ack wait, so it has to go, or we would update for ever.",
			given: both(nil, func(c *jetstream.ConsumerConfig) {
				c.BackOff = []time.Duration{time.Second, time.Minute}
			}),
			state:   nats.Provisioned,
			changes: []string{"Updated consumer BACKOFF_CONSUMER of stream TMI_BACKOFF: changed its ack wait from 1s to 1m30s"},
			check: func(t *testing.T, name string) {
				t.Helper()
				if c := consumerOf(t, nc, name); c.AckWait != nats.DefaultAckWait || len(c.BackOff) > 0 {
					t.Errorf("consumer: %+v", c)
				}
			},
		},
		"managed-by-lost": {
			reason: "Our mark is put back.",
			given: both(func(c *jetstream.StreamConfig) { delete(c.Metadata, nats.MetadataManagedBy) }, func(c *jetstream.ConsumerConfig) {
				c.Metadata[nats.MetadataManagedBy] = "someone"
			}),
			state: nats.Provisioned,
			changes: []string{
				"Updated stream TMI_MANAGED_BY_LOST: added tmi.dev/managed-by to its metadata",
				"Updated consumer MANAGED_BY_LOST_CONSUMER of stream TMI_MANAGED_BY_LOST: added tmi.dev/managed-by to its metadata",
			},
		},
		"ours-retention": {
			reason:    "Retention cannot be changed, and nothing is ever recreated.",
			given:     both(func(c *jetstream.StreamConfig) { c.Retention = jetstream.LimitsPolicy }, nil),
			error:     nats.Drifted,
			message:   []string{"Stream TMI_OURS_RETENTION", "retention is Limits and should be WorkQueue", "which the function cannot change"},
			untouched: true,
		},
		"ours-storage-and-subjects": {
			reason: "One thing that cannot be changed keeps the rest from being changed.",
			given: both(func(c *jetstream.StreamConfig) {
				c.Storage, c.Subjects = jetstream.MemoryStorage, []string{"jobs.other-storage"}
			}, nil),
			error:     nats.Drifted,
			message:   []string{"its storage is Memory and should be File, which the function cannot change"},
			untouched: true,
		},
		"ours-filtered": {
			reason:    "Taking the filter off would leave the count of pending jobs stuck.",
			given:     both(nil, func(c *jetstream.ConsumerConfig) { c.FilterSubject = "jobs.ours-filtered" }),
			error:     nats.Drifted,
			message:   []string{"Consumer OURS_FILTERED_CONSUMER", "passes only subject jobs.ours-filtered"},
			untouched: true,
		},
		"old-controller": {
			reason:    "What the old controller made does the job and keeps every byte.",
			given:     both(theirs, theirConsumer),
			state:     nats.Adopted,
			untouched: true,
		},
		"old-controller-wildcard": {
			reason: "A wildcard covers the subjects; limits by hand are no one's business.",
			given: both(func(c *jetstream.StreamConfig) {
				theirs(c)
				c.Subjects, c.MaxBytes, c.Replicas = []string{"jobs.old-controller-wildcard.>", "more.old-controller-wildcard"}, 1<<20, 1
			}, theirConsumer),
			request:   subjects("jobs.old-controller-wildcard.a", "jobs.old-controller-wildcard.b.*"),
			state:     nats.Adopted,
			untouched: true,
		},
		"their-subjects": {
			reason:    "A stream that is not ours and lacks subjects can be taken over, if the platform team says so.",
			given:     both(func(c *jetstream.StreamConfig) { theirs(c); c.Subjects = []string{"jobs.their-subjects.*"} }, theirConsumer),
			request:   subjects("jobs.their-subjects.a", "jobs.their-subjects.b.c"),
			error:     nats.Drifted,
			message:   []string{"was not made by this function", "lacks subject jobs.their-subjects.b.c", "nats.adoptExisting: true"},
			untouched: true,
		},
		"their-retention": {
			reason:    "A stream that is not ours and can never fit cannot be taken over: no such advice.",
			given:     both(func(c *jetstream.StreamConfig) { theirs(c); c.Retention = jetstream.InterestPolicy }, theirConsumer),
			error:     nats.Drifted,
			message:   []string{"retention is Interest and should be WorkQueue", "remove it once its jobs are done"},
			untouched: true,
		},
		"their-retention-adopted": {
			reason:    "Not even if the platform team says so.",
			given:     both(func(c *jetstream.StreamConfig) { theirs(c); c.Retention = jetstream.InterestPolicy }, theirConsumer),
			request:   adopt,
			error:     nats.Drifted,
			message:   []string{"retention is Interest and should be WorkQueue"},
			untouched: true,
		},
		"their-consumer": {
			reason:    "The consumer is judged by itself.",
			given:     both(nil, func(c *jetstream.ConsumerConfig) { theirConsumer(c); c.AckWait, c.MaxDeliver = 30*time.Second, 3 }),
			error:     nats.Drifted,
			message:   []string{"Consumer THEIR_CONSUMER_CONSUMER", "ack wait is 30s and should be 1m30s", "nats.adoptExisting: true"},
			untouched: true,
		},
		"their-consumer-fits": {
			reason:    "Our stream with a consumer that is not ours and fits.",
			given:     both(nil, theirConsumer),
			state:     nats.Adopted,
			untouched: true,
		},
		"their-stream-alone": {
			reason:  "A stream that is not ours and fits gets the consumer that it lacks, and stays as it is.",
			given:   stream(theirs),
			state:   nats.Adopted,
			changes: []string{"Created consumer THEIR_STREAM_ALONE_CONSUMER of stream TMI_THEIR_STREAM_ALONE"},
			check: func(t *testing.T, name string) {
				t.Helper()
				if s := streamOf(t, nc, name); ours(s.Metadata, request("", name)) {
					t.Errorf("the stream was taken over: %v", s.Metadata)
				}
			},
		},
		"their-filtered": {
			reason: "A filtered consumer that is not ours is never unfiltered by us.",
			given: both(nil, func(c *jetstream.ConsumerConfig) {
				theirConsumer(c)
				c.FilterSubjects = []string{"jobs.their-filtered"}
			}),
			request:   adopt,
			error:     nats.Drifted,
			message:   []string{"passes only subject jobs.their-filtered and should have no filter"},
			untouched: true,
		},
		"their-push": {
			reason:    "A consumer that pushes is none that workers pull from.",
			given:     both(nil, func(c *jetstream.ConsumerConfig) { theirConsumer(c); c.DeliverSubject = "deliver.here" }),
			error:     nats.Drifted,
			message:   []string{"pushes jobs and should be pulled from"},
			untouched: true,
		},
		"taken-over": {
			reason: "With adoptExisting it becomes ours, keeps what we do not own, and gets what it lacks.",
			given: both(func(c *jetstream.StreamConfig) {
				c.Metadata, c.Subjects, c.MaxAge = map[string]string{"theirs": "kept"}, []string{"jobs.taken-over", "jobs.taken-over.old"}, time.Hour
			}, func(c *jetstream.ConsumerConfig) { theirConsumer(c); c.AckWait, c.MaxAckPending = 30*time.Second, 7 }),
			request: adopt,
			state:   nats.Provisioned,
			changes: []string{
				"Took over stream TMI_TAKEN_OVER: removed subject jobs.taken-over.old",
				"Took over consumer TAKEN_OVER_CONSUMER of stream TMI_TAKEN_OVER: changed its ack wait from 30s to 1m30s",
			},
			check: func(t *testing.T, name string) {
				t.Helper()
				s, c, r := streamOf(t, nc, name), consumerOf(t, nc, name), request("", name)
				if !ours(s.Metadata, r) || s.Metadata["theirs"] != "kept" || s.MaxAge != time.Hour || !slices.Equal(s.Subjects, r.Component.JobSubjects) {
					t.Errorf("stream: %+v", s)
				}
				if !ours(c.Metadata, r) || c.AckWait != nats.DefaultAckWait || c.MaxAckPending != 7 {
					t.Errorf("consumer: %+v", c)
				}
			},
		},
		"taken-over-as-it-is": {
			reason:  "With adoptExisting, what fits becomes ours as well.",
			given:   both(theirs, theirConsumer),
			request: adopt,
			state:   nats.Provisioned,
			changes: []string{"Took over stream TMI_TAKEN_OVER_AS_IT_IS", "Took over consumer TAKEN_OVER_AS_IT_IS_CONSUMER of stream TMI_TAKEN_OVER_AS_IT_IS"},
		},
		"a.b": {
			reason: "Two names can lead to one stream; the owner keeps it, also with adoptExisting.",
			given: func(t *testing.T, r nats.Request) {
				t.Helper()
				r.Component.Name = "a-b"
				makeStream(t, nc, r, nil)
				makeConsumer(t, nc, r, nil)
			},
			request:   adopt,
			error:     nats.NameCollision,
			message:   []string{"Stream TMI_A_B belongs to the component team/a-b", "rename"},
			untouched: true,
		},
		"two-namespaces": {
			reason: "One name in two namespaces leads to one stream.",
			given: func(t *testing.T, r nats.Request) {
				t.Helper()
				r.Component.Namespace = "other"
				makeStream(t, nc, r, nil)
				makeConsumer(t, nc, r, nil)
			},
			error:     nats.NameCollision,
			message:   []string{"belongs to the component other/two-namespaces"},
			untouched: true,
		},
		"consumer-of-another": {
			reason:    "A consumer can belong to another component as well.",
			given:     both(nil, func(c *jetstream.ConsumerConfig) { c.Metadata[nats.MetadataComponent] = "other/component" }),
			request:   adopt,
			error:     nats.NameCollision,
			message:   []string{"Consumer CONSUMER_OF_ANOTHER_CONSUMER", "belongs to the component other/component"},
			untouched: true,
		},
		"overlap": {
			reason: "Another stream stores the subject already.",
			given: func(t *testing.T, _ nats.Request) {
				t.Helper()
				if _, err := js(t, nc).CreateStream(t.Context(), jetstream.StreamConfig{Name: "FIRST", Subjects: []string{"jobs.overlap.>"}}); err != nil {
					t.Fatal(err)
				}
			},
			request: subjects("jobs.free", "jobs.overlap.here"),
			error:   nats.SubjectOverlap,
			message: []string{"The stream FIRST, with subject jobs.overlap.>, overlaps the component's subject jobs.overlap.here;"},
		},
		"overlap-later": {
			reason: "A change of subjects can run into another stream as well.",
			given: func(t *testing.T, r nats.Request) {
				t.Helper()
				makeStream(t, nc, r, func(c *jetstream.StreamConfig) { c.Subjects = []string{"jobs.overlap-later"} })
				makeConsumer(t, nc, r, nil)
				if _, err := js(t, nc).CreateStream(t.Context(), jetstream.StreamConfig{Name: "SECOND", Subjects: []string{"jobs.overlap-second"}}); err != nil {
					t.Fatal(err)
				}
			},
			request:   subjects("jobs.overlap-later", "jobs.overlap-second"),
			error:     nats.SubjectOverlap,
			message:   []string{"The stream SECOND"},
			untouched: true,
		},
		"observe-absent": {
			reason:    "Observe never creates.",
			request:   observe,
			error:     nats.NotFound,
			message:   []string{"Stream TMI_OBSERVE_ABSENT does not exist", "nats.provisioning"},
			untouched: true,
		},
		"observe-no-consumer": {
			reason:    "Observe never creates.",
			given:     stream(nil),
			request:   observe,
			error:     nats.NotFound,
			message:   []string{"Consumer OBSERVE_NO_CONSUMER_CONSUMER of stream TMI_OBSERVE_NO_CONSUMER does not exist"},
			untouched: true,
		},
		"observe": {
			reason:    "Observe reports what is right.",
			given:     both(nil, nil),
			request:   observe,
			state:     nats.Provisioned,
			untouched: true,
		},
		"observe-theirs": {
			reason:    "Observe takes nothing over.",
			given:     both(theirs, theirConsumer),
			request:   func(r *nats.Request) { observe(r); adopt(r) },
			state:     nats.Adopted,
			untouched: true,
		},
		"observe-drift": {
			reason:    "Observe never updates.",
			given:     both(nil, func(c *jetstream.ConsumerConfig) { c.AckWait = time.Minute }),
			request:   observe,
			error:     nats.Drifted,
			message:   []string{"ack wait is 1m0s and should be 1m30s", "only observes"},
			untouched: true,
		},
		"observe-their-drift": {
			reason:    "The advice names all that it takes.",
			given:     both(theirs, func(c *jetstream.ConsumerConfig) { theirConsumer(c); c.AckWait = time.Minute }),
			request:   observe,
			error:     nats.Drifted,
			message:   []string{"set nats.adoptExisting: true and nats.provisioning: Ensure in"},
			untouched: true,
		},
		"replicas-unsaid": {
			reason:    "Without a wish the number of replicas is nobody's drift.",
			given:     both(nil, nil),
			request:   replicas(0),
			state:     nats.Provisioned,
			untouched: true,
		},
		"replicas-beyond": {
			reason:  "A single server has no replicas.",
			request: replicas(3),
			error:   nats.InsufficientResources,
			message: []string{"single server", "nats.streamReplicas"},
		},
		"replicas-beyond-later": {
			reason:    "Nor does it get any.",
			given:     func(t *testing.T, r nats.Request) { t.Helper(); r.Replicas = 1; both(nil, nil)(t, r) },
			request:   replicas(3),
			error:     nats.InsufficientResources,
			message:   []string{"nats.streamReplicas"},
			untouched: true,
		},
		"rejected": {
			reason:  "What the server refuses for another reason is repeated in its words.",
			request: subjects("jobs.rejected.*", "jobs.rejected.a"),
			error:   nats.Rejected,
			message: []string{"JetStream refuses the request about stream TMI_REJECTED", "overlap"},
		},
	}
	for name, tc := range cases {
		// One after the other: they count the requests of one server.
		t.Run(name, func(t *testing.T) {
			p := newProvisioner(t)
			r := request(server.URL, name)
			if tc.request != nil {
				tc.request(&r)
			}
			if tc.given != nil {
				tc.given(t, r)
			}
			before, n := look(t, nc, name), server.Requests.Count()

			out, err := p.EnsureStreamAndConsumer(t.Context(), r)

			var e *nats.Error
			if errors.As(err, &e) != (tc.error != "") || e != nil && e.Reason != tc.error {
				t.Fatalf("%s\nwant error %q, got %v (cause: %v)", tc.reason, tc.error, err, errors.Unwrap(err))
			}
			if e != nil {
				for _, part := range tc.message {
					if !strings.Contains(e.Message, part) {
						t.Errorf("%s\nthe message lacks %q: %s", tc.reason, part, e.Message)
					}
				}
			}
			want := nats.Outcome{State: tc.state, Stream: nats.StreamName(name), Consumer: nats.ConsumerName(name), Changes: tc.changes}
			if diff := cmp.Diff(want, out); diff != "" {
				t.Errorf("%s\noutcome, -want +got:\n%s", tc.reason, diff)
			}
			after, writes := look(t, nc, name), server.Requests.Writes(n)
			if tc.untouched {
				if diff := cmp.Diff(before, after); diff != "" && tc.error != nats.SubjectOverlap {
					t.Errorf("%s\nconfigs, -before +after:\n%s", tc.reason, diff)
				}
				if len(writes) > 0 && e == nil {
					t.Errorf("%s\nwrites: %v", tc.reason, writes)
				}
			}
			if tc.check != nil {
				tc.check(t, name)
			}

			// Whatever came of it, it comes to rest.
			n = server.Requests.Count()
			again, err := p.EnsureStreamAndConsumer(t.Context(), r)
			if tc.error == "" {
				if err != nil {
					t.Fatalf("%s\nthe second time: %v", tc.reason, err)
				}
				if got := server.Requests.Since(n); len(got) != 2 || len(again.Changes) > 0 {
					t.Errorf("%s\nthe second time: want two requests and no change, got %v and %v", tc.reason, got, again.Changes)
				}
			} else if second := (*nats.Error)(nil); !errors.As(err, &second) || second.Reason != e.Reason || second.Message != e.Message {
				t.Errorf("%s\nthe second time: want the same error, got %v", tc.reason, err)
			}
			if diff := cmp.Diff(after, look(t, nc, name)); diff != "" {
				t.Errorf("%s\nthe second time, configs, -before +after:\n%s", tc.reason, diff)
			}
		})
	}
}
