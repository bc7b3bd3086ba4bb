package nats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
)

// Most rows of the ensure table are tested against a real server, in
// test/jetstream. These are those that need none, or that none can be brought
// to.

func testRequest() Request {
	return Request{Component: Component{Namespace: "team", Name: "a", JobSubjects: []string{"jobs.a"}}}
}

func TestJudgeStream(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("jobs.a.%04d", i)
	}
	cases := map[string]struct {
		reason  string
		request func(*Request)
		found   func(*jetstream.StreamConfig)

		want    verdict
		message string
	}{
		"Equal": {
			reason: "What the server fills in is nobody's drift.",
			found: func(c *jetstream.StreamConfig) {
				c.MaxMsgs, c.MaxBytes, c.MaxMsgSize, c.Duplicates, c.Replicas = -1, -1, -1, 2*time.Minute, 1
				c.Metadata["_nats.ver"] = "2.15.2"
			},
			want: verdict{state: Provisioned},
		},
		"ManySubjects": {
			reason:  "A message names a few subjects and counts the rest.",
			request: func(r *Request) { r.Component.JobSubjects = many },
			want: verdict{
				action: update,
				state:  Provisioned,
				change: "Updated stream TMI_A: added subjects jobs.a.0000, jobs.a.0001, jobs.a.0002, jobs.a.0003, jobs.a.0004 and 995 more, removed subject jobs.a",
				patch:  patch{set: map[string]any{"subjects": many}},
			},
			found: func(c *jetstream.StreamConfig) { c.Subjects = []string{"jobs.a"} },
		},
		"AnyOrder": {
			reason:  "The message does not depend on the order in which subjects were found.",
			request: func(r *Request) { r.Component.JobSubjects = []string{"z", "y", "x"} },
			found:   func(c *jetstream.StreamConfig) { c.Subjects, c.Metadata = []string{"y"}, nil },
			message: "Stream TMI_A was not made by this function and does not fit: it lacks subjects x, z; change it, or have the platform team set nats.adoptExisting: true in the function's Input so that the function takes it over.",
		},
		"Mirror": {
			reason:  "A mirror has no subjects.",
			found:   func(c *jetstream.StreamConfig) { c.Subjects, c.Metadata = nil, nil },
			message: "Stream TMI_A was not made by this function and does not fit: it lacks subject jobs.a; change it, or have the platform team set nats.adoptExisting: true in the function's Input so that the function takes it over.",
		},
		"ReplicasLess": {
			reason:  "A wish for fewer replicas counts as well.",
			request: func(r *Request) { r.Replicas = 1 },
			found:   func(c *jetstream.StreamConfig) { c.Replicas = 5 },
			want: verdict{
				action: update,
				state:  Provisioned,
				change: "Updated stream TMI_A: changed its replica count from 5 to 1",
				patch:  patch{set: map[string]any{"subjects": []string{"jobs.a"}, "num_replicas": 1}},
			},
		},
		"TheirReplicas": {
			reason:  "The replicas of a stream that is not ours are not our business.",
			request: func(r *Request) { r.Replicas = 3 },
			found:   func(c *jetstream.StreamConfig) { c.Replicas, c.Metadata = 1, nil },
			want:    verdict{state: Adopted},
		},
		"NotAllowed": {
			reason:  "A stream without an owner that holds more than the component may have is not for it, whatever its name.",
			request: func(r *Request) { r.AllowedSubjects = [][]string{{">"}, {"jobs.a", "jobs.b.>"}} },
			found:   func(c *jetstream.StreamConfig) { c.Subjects, c.Metadata = []string{"jobs.>", "jobs.b.c"}, nil },
			message: "Stream TMI_A was not made by this function and does not fit: it has subject jobs.>, which the platform does not allow to this component; change it, or remove it once its jobs are done so that it is made anew.",
		},
		"NotAllowedToTakeOver": {
			reason:  "Nor can it be taken over.",
			request: func(r *Request) { r.AllowedSubjects, r.AdoptExisting = [][]string{{"jobs.a"}}, true },
			found:   func(c *jetstream.StreamConfig) { c.Subjects, c.Metadata = []string{"jobs.a", "jobs.c"}, nil },
			message: "Stream TMI_A is not as it should be: it has subject jobs.c, which the platform does not allow to this component, which the function cannot change; once its jobs are done, ask the platform team to remove it so that it is made anew.",
		},
		"AllowedOfOurs": {
			reason:  "What is ours was allowed once, and is changed as ever.",
			request: func(r *Request) { r.AllowedSubjects = [][]string{{"jobs.a"}} },
			found:   func(c *jetstream.StreamConfig) { c.Subjects = []string{"jobs.a", "jobs.c"} },
			want: verdict{
				action: update,
				state:  Provisioned,
				change: "Updated stream TMI_A: removed subject jobs.c",
				patch:  patch{set: map[string]any{"subjects": []string{"jobs.a"}}},
			},
		},
		"ObserveAndAdopt": {
			reason:  "The advice names what is missing, and only that.",
			request: func(r *Request) { r.ObserveOnly, r.AdoptExisting = true, true },
			found:   func(c *jetstream.StreamConfig) { c.Subjects, c.Metadata = []string{"other"}, nil },
			message: "Stream TMI_A was not made by this function and does not fit: it lacks subject jobs.a; change it, or have the platform team set nats.provisioning: Ensure in the function's Input so that the function takes it over.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := testRequest()
			found := StreamConfigFor(r.Component, 0)
			if tc.request != nil {
				tc.request(&r)
			}
			if r.Replicas == 0 {
				found.Subjects = slices.Clone(r.Component.JobSubjects)
			}
			tc.found(&found)
			got := judgeStream(&found, r)
			if tc.message != "" {
				if got.err == nil || got.err.Reason != Drifted || got.err.Message != tc.message {
					t.Errorf("%s\nwant %s\ngot %v", tc.reason, tc.message, got.err)
				}
				return
			}
			got.patch.metadata = nil // The same in all.
			if tc.want.action == leave {
				got.patch = patch{}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(verdict{}, patch{})); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestJudgeConsumer(t *testing.T) {
	cases := map[string]struct {
		reason string
		found  func(*jetstream.ConsumerConfig)
		unset  []string
		want   string // the change, or the message
	}{
		"BackOffKept": {
			reason: "A backoff that begins with the ack wait is not in the way.",
			found: func(c *jetstream.ConsumerConfig) {
				c.BackOff, c.MaxDeliver = []time.Duration{c.AckWait, time.Hour}, 7
			},
			want: "Updated consumer A_CONSUMER of stream TMI_A: changed its number of deliveries from 7 to 3",
		},
		"BackOffTooLong": {
			reason: "The server wants more deliveries than steps.",
			found: func(c *jetstream.ConsumerConfig) {
				c.BackOff, c.MaxDeliver = []time.Duration{c.AckWait, time.Hour, time.Hour}, 7
			},
			unset: []string{"backoff"},
			want:  "Updated consumer A_CONSUMER of stream TMI_A: changed its number of deliveries from 7 to 3",
		},
		"Everything": {
			reason: "All that is wrong for good is told, and nothing else.",
			found: func(c *jetstream.ConsumerConfig) {
				c.DeliverSubject, c.Durable, c.AckPolicy, c.DeliverPolicy, c.AckWait = "here", "", jetstream.AckNonePolicy, jetstream.DeliverNewPolicy, time.Hour
				c.FilterSubjects = []string{"b", "a"}
			},
			want: "Consumer A_CONSUMER of stream TMI_A is not as it should be: it pushes jobs and should be pulled from, and it is not durable, and its acknowledgement is AckNone and should be AckExplicit, and its deliver policy is new and should be all, and it passes only subjects a, b and should have no filter, which the function cannot change; once its jobs are done, ask the platform team to remove it so that it is made anew.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := testRequest()
			found := ConsumerConfigFor(r.Component)
			tc.found(&found)
			v := judgeConsumer(&found, r)
			got := v.change
			if v.err != nil {
				got = v.err.Message
			}
			if got != tc.want {
				t.Errorf("%s\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
			if diff := cmp.Diff(tc.unset, v.patch.unset); v.err == nil && diff != "" {
				t.Errorf("%s\nunset, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUncovered(t *testing.T) {
	cases := map[string]struct {
		reason             string
		subjects, patterns []string
		want               []string
	}{
		"Same":     {reason: "A subject covers itself.", subjects: []string{"a.b"}, patterns: []string{"a.b"}},
		"Wildcard": {reason: "Wildcards count.", subjects: []string{"a.b", "a.c.d", "a.*"}, patterns: []string{"a.>"}},
		"Narrower": {reason: "A subject with a wildcard is not covered by part of it.", subjects: []string{"a.*", "b"}, patterns: []string{"a.b", "a.c"}, want: []string{"a.*", "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, uncovered(tc.subjects, tc.patterns), cmp.Transformer("text", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
