//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tmi.dev/function-tmicomponent/test/lab"
)

// A recorder watches everything that components consist of and remembers every
// change, so that a test can tell what happened and not only what is left
// of it.
type recorder struct {
	t      *testing.T
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	changes []change
	last    map[string]*unstructured.Unstructured
}

// A change is one write, as a watch saw it.
type change struct {
	at            time.Time
	kind          string
	event         watch.EventType
	before, after *unstructured.Unstructured // before is nil when created
}

// record begins to watch some components: what their teams applied,
// composites, Objects, Deployments, NetworkPolicies, ScaledObjects and pods.
func record(t *testing.T, components ...*component) *recorder {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &recorder{t: t, cancel: cancel, last: map[string]*unstructured.Unstructured{}}
	t.Cleanup(r.stop)

	namespaces := map[string]bool{}
	composites := map[string]bool{}
	for _, c := range components {
		namespaces[c.namespace] = true
		xr, err := c.composite()
		if err != nil {
			t.Fatal(err)
		}
		composites[xr.GetName()] = true
	}
	inNamespace := func(u *unstructured.Unstructured) bool { return namespaces[u.GetNamespace()] }
	for _, kind := range [][2]string{
		{"tmi.dev/v1alpha1", "TMIComponent"}, {"apps/v1", "Deployment"}, {"v1", "Pod"},
		{"networking.k8s.io/v1", "NetworkPolicy"}, {"keda.sh/v1alpha1", "ScaledObject"},
	} {
		r.watch(ctx, kind[0], kind[1], inNamespace)
	}
	r.watch(ctx, objectList().GetAPIVersion(), "Object", func(u *unstructured.Unstructured) bool {
		return composites[u.GetLabels()["crossplane.io/composite"]]
	})
	if claims() {
		r.watch(ctx, "tmi.dev/v1alpha1", "XTMIComponent", func(u *unstructured.Unstructured) bool { return composites[u.GetName()] })
	}
	return r
}

// watch remembers what happens to the objects of a kind that are of interest.
// It returns once it has seen all that exist.
func (r *recorder) watch(ctx context.Context, apiVersion, kind string, ofInterest func(*unstructured.Unstructured) bool) {
	r.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	if err := cluster.Client.List(ctx, list); err != nil {
		r.t.Fatalf("cannot list %s: %v", kind, err)
	}
	for _, u := range list.Items {
		if ofInterest(&u) {
			r.last[id(&u)] = &u
		}
	}
	w, err := cluster.Client.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		r.t.Fatalf("cannot watch %s: %v", kind, err)
	}
	r.done.Go(func() {
		defer w.Stop()
		for event := range w.ResultChan() {
			u, ok := event.Object.(*unstructured.Unstructured)
			if ctx.Err() != nil {
				return
			}
			if !ok {
				r.t.Errorf("the watch of %s broke: %v", kind, event.Object)
				return
			}
			if ofInterest(u) {
				r.add(event.Type, u)
			}
		}
		if ctx.Err() == nil {
			r.t.Errorf("the watch of %s ended", kind)
		}
	})
}

func (r *recorder) add(event watch.EventType, u *unstructured.Unstructured) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change{at: time.Now(), kind: u.GetKind(), event: event, before: r.last[id(u)], after: u})
	r.last[id(u)] = u
}

// stop ends the watching. What was seen stays.
func (r *recorder) stop() {
	r.cancel()
	r.done.Wait()
}

// seen are the changes so far that are of interest, in their order.
func (r *recorder) seen(ofInterest func(change) bool) []change {
	r.mu.Lock()
	defer r.mu.Unlock()
	var changes []change
	for _, c := range r.changes {
		if ofInterest(c) {
			changes = append(changes, c)
		}
	}
	return changes
}

// wantNone fails the test if there were changes of interest, and shows them.
func (r *recorder) wantNone(what string, ofInterest func(change) bool) {
	r.t.Helper()
	changes := r.seen(ofInterest)
	if len(changes) == 0 {
		return
	}
	r.t.Errorf("%s: %d changes, want none; the first of them:\n%s", what, len(changes), show(changes[:min(len(changes), 3)]))
}

// wantReplicas fails the test if a component's number of workers was ever
// another than this.
func (r *recorder) wantReplicas(c *component, want int64) {
	r.t.Helper()
	r.wantNone(fmt.Sprintf("replicas of %s other than %d", c, want), func(ch change) bool {
		if ch.kind != "Deployment" || ch.after.GetName() != c.name || ch.after.GetNamespace() != c.namespace {
			return false
		}
		got, _, _ := unstructured.NestedInt64(ch.after.Object, "spec", "replicas")
		return got != want
	})
}

func show(changes []change) string {
	var out strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&out, "%s %s %s %s/%s, last written by %s\n%s", c.at.Format("15:04:05.000"), c.event, c.kind,
			c.after.GetNamespace(), c.after.GetName(), lastWriter(c.after), c.diff())
	}
	return out.String()
}

// diff shows what a change changed.
func (c change) diff() string {
	if c.before == nil {
		return ""
	}
	if diff := cmp.Diff(withoutBookkeeping(c.before).Object, withoutBookkeeping(c.after).Object); diff != "" {
		return diff
	}
	return "nothing but who owns which field:\n" + cmp.Diff(c.before.GetManagedFields(), c.after.GetManagedFields())
}

// changedBeside says whether a change changed more than some fields.
func (c change) changedBeside(fields ...string) bool {
	if c.before == nil || c.event != watch.Modified {
		return true
	}
	before, after := withoutBookkeeping(c.before), withoutBookkeeping(c.after)
	for _, field := range fields {
		path := strings.Split(field, ".")
		unstructured.RemoveNestedField(before.Object, path...)
		unstructured.RemoveNestedField(after.Object, path...)
	}
	return !cmp.Equal(before.Object, after.Object)
}

// isAboutListening says whether a change is Crossplane's note that it listens
// to a composite's events again, or no more, and nothing else.
func (c change) isAboutListening() bool {
	if c.before == nil || lab.Condition(c.before, "Responsive") == lab.Condition(c.after, "Responsive") {
		return false
	}
	before, after := withoutBookkeeping(c.before), withoutBookkeeping(c.after)
	for _, u := range []*unstructured.Unstructured{before, after} {
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		conditions = slices.DeleteFunc(conditions, func(condition any) bool {
			m, _ := condition.(map[string]any)
			return m["type"] == "Responsive"
		})
		if err := unstructured.SetNestedSlice(u.Object, conditions, "status", "conditions"); err != nil {
			return false
		}
	}
	return cmp.Equal(before.Object, after.Object)
}

// withoutBookkeeping leaves out what the API server itself writes.
func withoutBookkeeping(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetResourceVersion("")
	u.SetManagedFields(nil)
	return u
}

// lastWriter is who the API server says wrote last.
func lastWriter(u *unstructured.Unstructured) string {
	fields := u.GetManagedFields()
	if len(fields) == 0 {
		return "nobody known"
	}
	last := slices.MaxFunc(fields, func(a, b metav1.ManagedFieldsEntry) int {
		if a.Time == nil || b.Time == nil {
			return 0
		}
		return a.Time.Compare(b.Time.Time)
	})
	return strings.TrimSpace(last.Manager + " " + last.Subresource)
}

func id(u *unstructured.Unstructured) string {
	return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
}
