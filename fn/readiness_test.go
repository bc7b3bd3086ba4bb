package fn

import (
	"maps"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestReadiness(t *testing.T) {
	t.Parallel()

	// Parts of an observed Object.
	object := func(generation, conditions, manifest string) string {
		return "metadata: {generation: " + generation + "}\nstatus: {conditions: [" + conditions + "], atProvider: {manifest: " + manifest + "}}"
	}
	const (
		synced    = `{type: Synced, status: "True", observedGeneration: 2}`
		notSynced = `{type: Synced, status: "False", reason: ReconcileError, message: "forbidden: no rights"}`
		ready     = `{type: Ready, status: "True"}`

		lostConnection = `{type: Synced, status: "False", message: "cannot apply: read tcp 10.244.0.7:43214->10.96.0.1:443: connection reset by peer"}`
		waitsForPolicy = `{type: Synced, status: "False", message: "observe failed: cannot resolve resource references: cannot get referenced resource: networkpolicies \"x\" not found"}`
		unready        = `{type: Ready, status: "False"}`
		policy         = `{kind: NetworkPolicy, metadata: {generation: 1}}`
		available      = `{metadata: {generation: 4}, status: {observedGeneration: 4, conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True"}]}}`
		kedaReady      = `{metadata: {generation: 1}, status: {conditions: [{type: Ready, status: "True"}, {type: Active, status: "False"}, {type: Fallback, status: "True"}, {type: Paused, status: "True"}]}}`
	)
	both := synced + ", " + ready

	type args struct {
		resource string
		observed string
	}
	type want struct {
		status  string
		reason  string
		message string // A part of it.
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"NetworkPolicyAvailable":   {"It has no status: what is there is available.", args{"network-policy", object("2", both, policy)}, want{"TRUE", "Available", ""}},
		"NetworkPolicyNotSynced":   {"What the provider cannot apply should say why.", args{"network-policy", object("2", notSynced+", "+ready, policy)}, want{"FALSE", "NotSynced", "forbidden: no rights"}},
		"NetworkPolicyCreating":    {"What the provider has yet to look at is being created.", args{"network-policy", `{metadata: {generation: 1}}`}, want{"FALSE", "Creating", ""}},
		"NetworkPolicyNoManifest":  {"What the provider has not seen is being created.", args{"network-policy", object("2", both, "{}")}, want{"FALSE", "Creating", ""}},
		"NetworkPolicyUnready":     {"So is what the provider does not report ready.", args{"network-policy", object("2", synced+", "+unready, policy)}, want{"FALSE", "Creating", ""}},
		"NetworkPolicyNoReady":     {"So is what the provider has not reported at all.", args{"network-policy", object("2", synced, policy)}, want{"FALSE", "Creating", ""}},
		"NetworkPolicySyncUnknown": {"Sync that is not known is not there yet.", args{"network-policy", object("2", `{type: Synced, status: Unknown}, `+ready, policy)}, want{"FALSE", "Creating", ""}},
		"NetworkPolicyStale":       {"A change that the provider has yet to apply is not in place.", args{"network-policy", object("3", both, policy)}, want{"FALSE", "Creating", "latest change"}},
		"NetworkPolicyNoGeneration": {
			"A provider that tells no generation has seen the current one, as far as can be known.",
			args{"network-policy", object("3", `{type: Synced, status: "True"}, `+ready, policy)},
			want{"TRUE", "Available", ""},
		},

		"DeploymentAvailable": {"Available workers are available.", args{"deployment", object("2", both, available)}, want{"TRUE", "Available", ""}},
		"DeploymentZero": {
			"Zero replicas are available: KEDA has scaled to zero.",
			args{"deployment", object("2", both, `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, conditions: [{type: Available, status: "True"}]}}`)},
			want{"TRUE", "Available", ""},
		},
		"DeploymentCreating":           {"A Deployment that is not there is being created.", args{"deployment", `{}`}, want{"FALSE", "Creating", ""}},
		"DeploymentAfterNetworkPolicy": {"That the Deployment waits for its NetworkPolicy is as it should be.", args{"deployment", object("2", waitsForPolicy, "null")}, want{"FALSE", "Creating", "after its NetworkPolicy"}},
		"DeploymentNotSynced":          {"What the provider cannot apply should say why.", args{"deployment", object("2", notSynced, available)}, want{"FALSE", "NotSynced", "forbidden: no rights"}},
		"DeploymentStale":              {"A change that the provider has yet to apply is progressing.", args{"deployment", object("3", both, available)}, want{"FALSE", "Progressing", "latest change"}},
		"DeploymentNoStatus":           {"A Deployment that Kubernetes has yet to look at is progressing.", args{"deployment", object("2", both, `{metadata: {generation: 1}}`)}, want{"FALSE", "Progressing", "latest change"}},
		"DeploymentGeneration": {
			"One whose latest change Kubernetes has yet to act on is too, however available the last one was.",
			args{"deployment", object("2", both, `{metadata: {generation: 5}, status: {observedGeneration: 4, conditions: [{type: Available, status: "True"}]}}`)},
			want{"FALSE", "Progressing", "latest change"},
		},
		"DeploymentStarting": {
			"Workers that are not available yet are starting.",
			args{"deployment", object("2", both, `{metadata: {generation: 4}, status: {observedGeneration: 4, conditions: [{type: Available, status: "False"}, {type: Progressing, status: "True"}]}}`)},
			want{"FALSE", "Progressing", "starting"},
		},
		"DeploymentStuck": {
			"Workers that do not come up should say why, and what to look at.",
			args{"deployment", object("2", synced, `{metadata: {generation: 4}, status: {observedGeneration: 4, conditions: [
				{type: Available, status: "False"}, {type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: "It timed out."}]}}`)},
			want{"FALSE", "Unavailable", "It timed out."},
		},
		"DeploymentRolloutStuck": {
			"A rollout that is stuck should be told while the old workers are still available.",
			args{"deployment", object("2", both, `{metadata: {generation: 4}, status: {observedGeneration: 4, conditions: [
				{type: Available, status: "True"}, {type: Progressing, status: "False", message: "It timed out."}]}}`)},
			want{"FALSE", "Unavailable", "It timed out."},
		},
		"DeploymentQuota": {
			"Pods that cannot be created should be told with the cause.",
			args{"deployment", object("2", both, `{metadata: {generation: 4}, status: {observedGeneration: 4, conditions: [
				{type: ReplicaFailure, status: "True", message: "exceeded quota"}, {type: Available, status: "True"}]}}`)},
			want{"FALSE", "Unavailable", "exceeded quota"},
		},
		"DeploymentUnready": {"The provider may be behind what it has copied.", args{"deployment", object("2", synced+", "+unready, available)}, want{"FALSE", "Progressing", "provider-kubernetes"}},

		"ScaledObjectAvailable": {"KEDA's Ready counts; Active, Fallback and Paused do not.", args{"scaled-object", object("2", both, kedaReady)}, want{"TRUE", "Available", ""}},
		"ScaledObjectCreating":  {"A ScaledObject that is not there is being created.", args{"scaled-object", `{}`}, want{"FALSE", "Creating", ""}},
		"ScaledObjectNotSynced": {"What the provider cannot apply should say why.", args{"scaled-object", object("2", notSynced, kedaReady)}, want{"FALSE", "NotSynced", "forbidden: no rights"}},
		"ScaledObjectStale":     {"A change that the provider has yet to apply is not in place.", args{"scaled-object", object("3", both, kedaReady)}, want{"FALSE", "Creating", "latest change"}},
		"ScaledObjectFailing": {
			"What KEDA cannot scale by should say why.",
			args{"scaled-object", object("2", synced, `{status: {conditions: [{type: Ready, status: "False", message: "no such trigger"}]}}`)},
			want{"FALSE", "NotReady", "no such trigger"},
		},
		"ScaledObjectUnknown":  {"What KEDA does not know yet is not ready.", args{"scaled-object", object("2", both, `{status: {conditions: [{type: Ready, status: Unknown}]}}`)}, want{"FALSE", "NotReady", "has yet to look"}},
		"ScaledObjectNoStatus": {"What KEDA has not looked at is not ready: the operator may not run.", args{"scaled-object", object("2", both, `{metadata: {generation: 1}}`)}, want{"FALSE", "NotReady", "has yet to look"}},
		"ScaledObjectUnready":  {"The provider may be behind what it has copied.", args{"scaled-object", object("2", synced, kedaReady)}, want{"FALSE", "NotReady", "provider-kubernetes"}},
	}
	for _, r := range composedResources {
		cases[r.conditionType+"Nothing"] = struct {
			reason string
			args   args
			want   want
		}{"What is not observed is being created.", args{resource: r.name}, want{"FALSE", "Creating", "being created"}}
	}

	readiness := map[string]func(*structpb.Struct) Condition{}
	types := map[string]string{"network-policy": "NetworkPolicyReady", "deployment": "DeploymentReady", "scaled-object": "ScaledObjectReady"}
	for _, r := range composedResources {
		readiness[r.name] = r.readiness
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var observed *structpb.Struct
			if tc.args.observed != "" {
				observed = fromYAML(t, tc.args.observed)
			}
			got := readiness[tc.args.resource](observed)
			if got.Type != types[tc.args.resource] || got.Status != fnv1.Status(fnv1.Status_value["STATUS_CONDITION_"+tc.want.status]) || got.Reason != tc.want.reason {
				t.Errorf("\n%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
			if !strings.Contains(got.Message, tc.want.message) || (got.Message == "") != (tc.want.status == "TRUE") {
				t.Errorf("\n%s\nwant a message with %q, got %q", tc.reason, tc.want.message, got.Message)
			}
		})
	}
}

// TestReadinessIgnoresWhatChanges shows that depths, counts and times are not
// in a condition, where they would make a reconcile loop.
func TestReadinessIgnoresWhatChanges(t *testing.T) {
	t.Parallel()

	for _, r := range composedResources {
		first := r.readiness(fromYAML(t, working[r.name]))
		changed := fromYAML(t, working[r.name])
		status := value(changed, "status", "atProvider", "manifest", "status").GetStructValue()
		if status == nil {
			continue
		}
		more := fromYAML(t, `{replicas: 7, readyReplicas: 3, lastActiveTime: "2026-01-01T00:00:00Z", externalMetricNames: [a]}`)
		maps.Copy(status.GetFields(), more.GetFields())
		if second := r.readiness(changed); second != first {
			t.Errorf("%s: %v became %v", r.name, first, second)
		}
	}
}
