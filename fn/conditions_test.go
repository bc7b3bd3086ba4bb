package fn

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/utils/ptr"
)

func TestConditionProto(t *testing.T) {
	t.Parallel()

	both := fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum()
	cases := map[string]struct {
		reason string
		args   Condition
		want   *fnv1.Condition
	}{
		"True": {
			reason: "A true condition needs no message.",
			args:   isTrue("SpecValid", "Valid"),
			want:   &fnv1.Condition{Type: "SpecValid", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "Valid", Target: both},
		},
		"False": {
			reason: "A false one should say why, on composite and claim.",
			args:   isFalse("DeploymentReady", "Creating", "It is being created."),
			want:   &fnv1.Condition{Type: "DeploymentReady", Status: fnv1.Status_STATUS_CONDITION_FALSE, Reason: "Creating", Message: ptr.To("It is being created."), Target: both},
		},
		"Unknown": {
			reason: "So should one that is unknown.",
			args:   isUnknown("JetStreamReady", "Disabled", "It is not looked at."),
			want:   &fnv1.Condition{Type: "JetStreamReady", Status: fnv1.Status_STATUS_CONDITION_UNKNOWN, Reason: "Disabled", Message: ptr.To("It is not looked at."), Target: both},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.args.proto(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nproto(): -want, +got:\n%s", tc.reason, diff)
			}
			if got := tc.args.ready(); got != (tc.want.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE) {
				t.Errorf("\n%s\nready(): got %t", tc.reason, got)
			}
		})
	}
}

func TestObservedCondition(t *testing.T) {
	t.Parallel()

	type want struct {
		c          Condition
		generation int64
	}
	cases := map[string]struct {
		reason string
		args   string
		want   want
	}{
		"True": {
			reason: "The condition of that type should be found among others.",
			args:   `{status: {conditions: [{type: Synced, status: "True"}, {type: Ready, status: "True", reason: Available, message: m, observedGeneration: 3}]}}`,
			want:   want{Condition{Type: "Ready", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "Available", Message: "m"}, 3},
		},
		"False":      {"A false one should be false.", `{status: {conditions: [{type: Ready, status: "False"}]}}`, want{c: Condition{Type: "Ready", Status: fnv1.Status_STATUS_CONDITION_FALSE}}},
		"Unknown":    {"An unknown one should be unknown.", `{status: {conditions: [{type: Ready, status: Unknown}]}}`, want{c: Condition{Type: "Ready", Status: fnv1.Status_STATUS_CONDITION_UNKNOWN}}},
		"Absent":     {"One that is not there has no type.", `{status: {conditions: [{type: Synced, status: "True"}]}}`, want{}},
		"NoStatus":   {"Nothing is there without a status.", `{}`, want{}},
		"BadStatus":  {"Another status is none.", `{status: {conditions: [{type: Ready, status: "true"}]}}`, want{c: Condition{Type: "Ready"}}},
		"BoolStatus": {"A boolean is no status either.", `{status: {conditions: [{type: Ready, status: true}]}}`, want{c: Condition{Type: "Ready"}}},
		"WrongKinds": {"What is of another kind is passed over.", `{status: {conditions: [1, null, [], Ready, {}, {type: 1}]}}`, want{}},
		"NoList":     {"What is no list holds nothing.", `{status: {conditions: {type: Ready, status: "True"}}}`, want{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, generation := observedCondition(fromYAML(t, tc.args), "Ready")
			if diff := cmp.Diff(tc.want, want{c, generation}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nobservedCondition(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if c, _ := observedCondition(nil, "Ready"); c != (Condition{}) {
		t.Errorf("want nothing of nothing, got %v", c)
	}
}

func TestValue(t *testing.T) {
	t.Parallel()

	s := fromYAML(t, `{a: {b: {c: 1}}, l: [1]}`)
	cases := map[string]struct {
		reason string
		args   []string
		want   *structpb.Value
	}{
		"Found":   {"What lies at a path should be found.", []string{"a", "b", "c"}, structpb.NewNumberValue(1)},
		"Absent":  {"What is not there is nil.", []string{"a", "x", "c"}, nil},
		"NotOfIt": {"Nothing lies below a list.", []string{"l", "c"}, nil},
		"Beyond":  {"Nothing lies below a number.", []string{"a", "b", "c", "d"}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, value(s, tc.args...), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nvalue(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
