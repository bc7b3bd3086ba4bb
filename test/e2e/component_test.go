//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tmi.dev/function-tmicomponent/test/lab"
)

const (
	pollInterval = 100 * time.Millisecond
	// soon is how long something may take that happens by itself: far longer
	// than it takes, which on a busy machine is no failure. It is longer, too,
	// than Crossplane takes to look at a component that it does not listen to,
	// as it does for five minutes after one changed a lot, at its creation: the
	// steady TTL.
	soon = 90 * time.Second
	// later is for what happens in two such steps.
	later = 180 * time.Second
)

// The conditions that the function sets.
var componentConditions = []string{
	"SpecValid", "JetStreamReady", "NetworkPolicyReady", "DeploymentReady", "ScaledObjectReady",
}

// A component under test, as its team sees it, with methods that look at what
// came of it. They fail the test when what they look at is not there.
type component struct {
	t               *testing.T
	namespace, name string
}

// newComponent applies a component in a team's namespace of its own.
func newComponent(t *testing.T, name string) *component {
	t.Helper()
	namespace := "team-" + name
	createNamespace(t, namespace)
	return newComponentIn(t, namespace, name)
}

// newComponentIn applies a component. Its spec is a small one, which the
// functions given may change.
func newComponentIn(t *testing.T, namespace, name string, changes ...func(spec map[string]any)) *component {
	t.Helper()
	c := &component{t: t, namespace: namespace, name: name}
	if err := c.create(changes...); err != nil {
		t.Fatalf("cannot create %s: %v", c, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.report()
		}
	})
	return c
}

func (c *component) create(changes ...func(spec map[string]any)) error {
	u := c.empty()
	spec := map[string]any{
		"image":       "registry.example.com/worker:1",
		"jobSubjects": []any{"jobs." + c.name + ".>"},
		"config":      map[string]any{"TMI_COMPONENT_NAME": c.name, "TMI_JOB_ACK_WAIT": "30s"},
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "10m", "memory": "16Mi"},
			"limits":   map[string]any{"memory": "32Mi"},
		},
		"scaling": map[string]any{"minReplicas": int64(0), "maxReplicas": int64(10), "queueDepthTarget": int64(5)},
	}
	for _, change := range changes {
		change(spec)
	}
	u.Object["spec"] = spec
	return cluster.Client.Create(context.Background(), u)
}

func (c *component) String() string { return "TMIComponent " + c.namespace + "/" + c.name }

func (c *component) key() types.NamespacedName {
	return types.NamespacedName{Namespace: c.namespace, Name: c.name}
}

func (c *component) empty() *unstructured.Unstructured {
	u := lab.Object("tmi.dev/v1alpha1", "TMIComponent")
	u.SetNamespace(c.namespace)
	u.SetName(c.name)
	return u
}

// get reads what the team applied: the claim, or the namespaced composite.
func (c *component) get() (*unstructured.Unstructured, error) {
	u := c.empty()
	return u, cluster.Client.Get(context.Background(), c.key(), u)
}

// composite reads the composite, which is what the team applied unless that
// is a claim.
func (c *component) composite() (*unstructured.Unstructured, error) {
	u, err := c.get()
	if err != nil || !claims() {
		return u, err
	}
	name, _, _ := unstructured.NestedString(u.Object, "spec", "resourceRef", "name")
	if name == "" {
		return nil, fmt.Errorf("%s has no composite yet", c)
	}
	xr := lab.Object("tmi.dev/v1alpha1", "XTMIComponent")
	return xr, cluster.Client.Get(context.Background(), types.NamespacedName{Name: name}, xr)
}

// objects reads the provider-kubernetes Objects that were composed.
func (c *component) objects() ([]unstructured.Unstructured, error) {
	xr, err := c.composite()
	if err != nil {
		return nil, err
	}
	list := objectList()
	err = cluster.Client.List(context.Background(), list, client.InNamespace(xr.GetNamespace()),
		client.MatchingLabels{"crossplane.io/composite": xr.GetName()})
	return list.Items, err
}

func objectList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	if claims() {
		list.SetAPIVersion("kubernetes.crossplane.io/v1alpha2")
	} else {
		list.SetAPIVersion("kubernetes.m.crossplane.io/v1alpha1")
	}
	list.SetKind("ObjectList")
	return list
}

// change changes the spec that the team applied.
func (c *component) change(change func(spec map[string]any)) {
	c.t.Helper()
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		u, err := c.get()
		if err != nil {
			return err
		}
		change(u.Object["spec"].(map[string]any))
		return cluster.Client.Update(context.Background(), u)
	}); err != nil {
		c.t.Fatalf("cannot change %s: %v", c, err)
	}
}

// delete deletes what the team applied, and does not wait.
func (c *component) delete() {
	c.t.Helper()
	if err := cluster.Client.Delete(context.Background(), c.empty()); err != nil {
		c.t.Fatalf("cannot delete %s: %v", c, err)
	}
}

// isReady says why a component is not, or nil: Ready and every condition of
// the function True, for the spec as it is now.
func (c *component) isReady() error {
	u, err := c.get()
	if err != nil {
		return err
	}
	return ready(u)
}

func ready(u *unstructured.Unstructured) error {
	var errs []error
	for _, conditionType := range append([]string{"Synced", "Ready"}, componentConditions...) {
		if condition := lab.Condition(u, conditionType); condition.Status != "True" {
			errs = append(errs, errors.New(condition.String()))
		}
	}
	return errors.Join(errs...)
}

func (c *component) waitReady() {
	c.t.Helper()
	eventually(c.t, soon, c.isReady)
}

// hasCondition says whether a condition has a status and a reason.
func (c *component) hasCondition(conditionType, status, reason string) error {
	u, err := c.get()
	if err != nil {
		return err
	}
	got := lab.Condition(u, conditionType)
	if got.Status != status || got.Reason != reason {
		return fmt.Errorf("%s: got %s, want %s %s", c, got, status, reason)
	}
	return nil
}

// message of a condition.
func (c *component) message(conditionType string) string {
	u, err := c.get()
	if err != nil {
		return err.Error()
	}
	return lab.Condition(u, conditionType).Message
}

func (c *component) deployment() (*appsv1.Deployment, error) {
	d := &appsv1.Deployment{}
	return d, cluster.Client.Get(context.Background(), c.key(), d)
}

func (c *component) networkPolicy() (*networkingv1.NetworkPolicy, error) {
	p := &networkingv1.NetworkPolicy{}
	return p, cluster.Client.Get(context.Background(), c.key(), p)
}

func (c *component) scaledObject() (*unstructured.Unstructured, error) {
	u := lab.Object("keda.sh/v1alpha1", "ScaledObject")
	return u, cluster.Client.Get(context.Background(), c.key(), u)
}

// hasReplicas says whether the Deployment asks for a number of workers, and has them.
func (c *component) hasReplicas(want int32) error {
	d, err := c.deployment()
	if err != nil {
		return err
	}
	if d.Spec.Replicas == nil || *d.Spec.Replicas != want || d.Status.ReadyReplicas != want {
		return fmt.Errorf("%s has %d ready of %d replicas, want %d", c, d.Status.ReadyReplicas, value(d.Spec.Replicas), want)
	}
	return nil
}

// isAsleep says whether a component has no worker, and none that is still
// stopping. A Deployment that says nothing of replicas begins with one; KEDA,
// which they are left to, takes it away when it first looks at the queue.
func (c *component) isAsleep() error {
	if err := c.hasReplicas(0); err != nil {
		return err
	}
	pods, err := c.pods()
	if err == nil && len(pods) > 0 {
		return fmt.Errorf("%s still has the pod %s", c, pods[0].Name)
	}
	return err
}

func (c *component) pods() ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := cluster.Client.List(context.Background(), list, client.InNamespace(c.namespace),
		client.MatchingLabels{"tmi.dev/component": c.name})
	return list.Items, err
}

// hurry has KEDA look at this component's queue each few seconds, and wait a
// few before the last worker goes, where its defaults are 30 s and 5 min. The
// function says nothing about either, so they are the platform's to set, and
// are not put back.
func (c *component) hurry() {
	c.t.Helper()
	c.setPace("2", "5")
}

// calm takes hurry back. KEDA notes each look at a queue with jobs in the
// ScaledObject; a few seconds apart, that is more than Crossplane follows:
// past a budget of about one change a second it stops to react to changes for
// minutes.
func (c *component) calm() {
	c.t.Helper()
	c.setPace("null", "null")
}

func (c *component) setPace(pollingInterval, cooldownPeriod string) {
	c.t.Helper()
	u, err := c.scaledObject()
	if err == nil {
		err = cluster.Client.Patch(context.Background(), u, client.RawPatch(types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"pollingInterval":%s,"cooldownPeriod":%s}}`, pollingInterval, cooldownPeriod)),
			client.FieldOwner("platform"))
	}
	if err != nil {
		c.t.Fatalf("cannot change the ScaledObject of %s: %v", c, err)
	}
}

// streamName and consumerName are what workers and KEDA derive too.
func (c *component) streamName() string {
	return "TMI_" + strings.NewReplacer(".", "_", "-", "_", " ", "_").Replace(strings.ToUpper(c.name))
}

func (c *component) consumerName() string {
	return strings.TrimPrefix(c.streamName(), "TMI_") + "_CONSUMER"
}

func (c *component) stream() (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	stream, err := js.Stream(ctx, c.streamName())
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", c.streamName(), err)
	}
	return stream.CachedInfo(), nil
}

func (c *component) consumer() (*jetstream.ConsumerInfo, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	consumer, err := js.Consumer(ctx, c.streamName(), c.consumerName())
	if err != nil {
		return nil, fmt.Errorf("consumer %s: %w", c.consumerName(), err)
	}
	return consumer.CachedInfo(), nil
}

// publish publishes jobs.
func (c *component) publish(count int) {
	c.t.Helper()
	for i := range count {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := js.Publish(ctx, "jobs."+c.name+".test", fmt.Appendf(nil, "job %d", i))
		cancel()
		if err != nil {
			c.t.Fatalf("cannot publish a job of %s: %v", c, err)
		}
	}
}

// work does what the workers would, whose pods only pretend to run: it
// takes this number of jobs and acknowledges each.
func (c *component) work(count int) []string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	consumer, err := js.Consumer(ctx, c.streamName(), c.consumerName())
	if err != nil {
		c.t.Fatalf("consumer of %s: %v", c, err)
	}
	var jobs []string
	for len(jobs) < count {
		batch, err := consumer.Fetch(count-len(jobs), jetstream.FetchMaxWait(2*time.Second))
		if err != nil {
			c.t.Fatalf("cannot fetch jobs of %s: %v", c, err)
		}
		for m := range batch.Messages() {
			if err := m.DoubleAck(ctx); err != nil {
				c.t.Fatalf("cannot acknowledge a job of %s: %v", c, err)
			}
			jobs = append(jobs, string(m.Data()))
		}
		if ctx.Err() != nil {
			c.t.Fatalf("%s delivered %d jobs, want %d", c, len(jobs), count)
		}
	}
	return jobs
}

// report logs what a person would look at first after a failure.
func (c *component) report() {
	var out strings.Builder
	show := func(what string, u *unstructured.Unstructured, err error) {
		if err != nil {
			fmt.Fprintf(&out, "  %s: %v\n", what, err)
			return
		}
		fmt.Fprintf(&out, "  %s %s (generation %d)\n", what, u.GetName(), u.GetGeneration())
		for _, condition := range lab.Conditions(u) {
			fmt.Fprintf(&out, "    %s\n", condition)
		}
	}
	names := []string{c.name}
	u, err := c.get()
	show("component", u, err)
	if claims() {
		u, err := c.composite()
		show("composite", u, err)
		if err == nil {
			names = append(names, u.GetName())
		}
	}
	objects, err := c.objects()
	if err != nil {
		fmt.Fprintf(&out, "  Objects: %v\n", err)
	}
	for _, o := range objects {
		show("Object of "+o.GetAnnotations()["crossplane.io/composition-resource-name"], &o, nil)
		names = append(names, o.GetName())
	}
	if d, err := c.deployment(); err != nil {
		fmt.Fprintf(&out, "  %v\n", err)
	} else {
		fmt.Fprintf(&out, "  Deployment: generation %d, observed %d, %d of %d replicas ready\n",
			d.Generation, d.Status.ObservedGeneration, d.Status.ReadyReplicas, value(d.Spec.Replicas))
	}
	if info, err := c.stream(); err != nil {
		fmt.Fprintf(&out, "  %v\n", err)
	} else {
		fmt.Fprintf(&out, "  stream %s: %d jobs, subjects %v\n", info.Config.Name, info.State.Msgs, info.Config.Subjects)
	}
	events := &corev1.EventList{}
	if err := cluster.Client.List(context.Background(), events); err != nil {
		fmt.Fprintf(&out, "  events: %v\n", err)
	}
	slices.SortFunc(events.Items, func(a, b corev1.Event) int { return eventTime(a).Compare(eventTime(b)) })
	for _, e := range events.Items {
		if slices.Contains(names, e.InvolvedObject.Name) {
			fmt.Fprintf(&out, "  event %s %s %s %s (%d times): %s\n", eventTime(e).Format(time.TimeOnly),
				e.InvolvedObject.Kind, e.Type, e.Reason, max(e.Count, 1), e.Message)
		}
	}
	c.t.Logf("%s, after the failure:\n%s  logs: %s", c, out.String(), cluster.Logs())
}

// eventTime is when an event happened last, for both APIs of events.
func eventTime(e corev1.Event) time.Time {
	if e.LastTimestamp.IsZero() {
		return e.EventTime.Time
	}
	return e.LastTimestamp.Time
}

// createNamespace creates a team's namespace, which enforces the restricted
// Pod Security Standard.
func createNamespace(t *testing.T, name string) {
	t.Helper()
	if err := cluster.Client.Create(context.Background(), teamNamespace(name)); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("cannot create namespace %s: %v", name, err)
	}
}

func teamNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
}

// eventually waits until a check returns nil, and fails the test with what the
// check said last when it does not in time.
func eventually(t *testing.T, limit time.Duration, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("after %s", limit))
	defer cancel()
	if err := lab.Eventually(ctx, func(context.Context) error { return check() }); err != nil {
		t.Fatal(err)
	}
}

// isGone is a check: an object does not exist.
func isGone(key types.NamespacedName, object client.Object) func() error {
	return func() error {
		err := cluster.Client.Get(context.Background(), key, object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("%T %s still exists", object, key)
	}
}

func value(p *int32) int32 {
	if p == nil {
		return -1
	}
	return *p
}
