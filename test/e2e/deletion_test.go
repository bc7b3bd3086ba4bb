//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"tmi.dev/function-tmicomponent/test/lab"
)

// A deleted component's workers go first and its NetworkPolicy after them,
// then all the rest. Its stream stays, with every job.
func testDeletion(t *testing.T) {
	t.Parallel()
	const jobs, workers = 8, 2
	c := newComponent(t, "leaving")
	c.waitReady()
	c.hurry()
	c.publish(jobs)
	eventually(t, later, func() error { return c.hasReplicas(workers) })
	r := record(t, c)

	c.delete()
	eventually(t, soon, func() error {
		return errors.Join(
			isGone(c.key(), &appsv1.Deployment{})(),
			isGone(c.key(), &networkingv1.NetworkPolicy{})(),
			isGone(c.key(), lab.Object("keda.sh/v1alpha1", "ScaledObject"))(),
			isGone(c.key(), c.empty())(),
		)
	})

	var lastPod, policy change
	pods := 0
	eventually(t, soon, func() error {
		lastPod, policy, pods = change{}, change{}, 0
		for _, ch := range r.seen(func(ch change) bool { return ch.event == watch.Deleted }) {
			switch ch.kind {
			case "Pod":
				lastPod, pods = ch, pods+1
			case "NetworkPolicy":
				policy = ch
			}
		}
		if pods < workers || policy.after == nil {
			return fmt.Errorf("the deletion of %d pods and of the NetworkPolicy (%t) was seen", pods, policy.after != nil)
		}
		return nil
	})
	// The version of a deleted object is the store's at its deletion, and so
	// orders what different watches saw.
	if version(t, lastPod) > version(t, policy) {
		t.Errorf("the NetworkPolicy was deleted before a worker was gone")
	}

	stream, err := c.stream()
	if err != nil {
		t.Fatal(err)
	}
	if stream.State.Msgs != jobs {
		t.Errorf("the stream holds %d jobs, want %d", stream.State.Msgs, jobs)
	}
	c.work(jobs)
}

// The namespace of a claim can be deleted, with the claim in it. (That of a
// namespaced composite cannot: provider-kubernetes needs to write there to let
// go. The README says so.)
func testNamespaceDeletion(t *testing.T) {
	t.Parallel()
	c := newComponent(t, "evicted")
	c.waitReady()
	xr, err := c.composite()
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Delete(context.Background(), teamNamespace(c.namespace)); err != nil {
		t.Fatal(err)
	}
	eventually(t, soon, isGone(types.NamespacedName{Name: c.namespace}, &corev1.Namespace{}))
	eventually(t, soon, isGone(types.NamespacedName{Name: xr.GetName()}, xr))
}

func version(t *testing.T, ch change) int64 {
	t.Helper()
	v, err := strconv.ParseInt(ch.after.GetResourceVersion(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
