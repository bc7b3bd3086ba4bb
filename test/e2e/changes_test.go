//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Every change of a spec arrives where it belongs, and what a hand changes on
// the live objects is put back. None of it touches the number of workers,
// which is watched all the while.
func testChanges(t *testing.T) {
	t.Parallel()
	const jobs, workers = 23, 5
	c := newComponent(t, "changing")
	c.waitReady()
	c.hurry()
	c.publish(jobs)
	eventually(t, later, func() error { return c.hasReplicas(workers) })
	c.calm()
	r := record(t, c)

	t.Run("Image", func(t *testing.T) {
		c := c.in(t)
		c.change(func(spec map[string]any) { spec["image"] = newImage })
		eventually(t, soon, func() error { return c.hasNewImage() })
	})
	t.Run("Subjects", func(t *testing.T) {
		c := c.in(t)
		subjects := []string{"jobs.changing.>", "more.changing"}
		c.change(func(spec map[string]any) { spec["jobSubjects"] = []any{subjects[0], subjects[1]} })
		eventually(t, soon, func() error {
			stream, err := c.stream()
			if err != nil {
				return err
			}
			if got := stream.Config.Subjects; !slices.Equal(got, subjects) {
				return fmt.Errorf("the stream's subjects are %v, want %v", got, subjects)
			}
			if got := stream.State.Msgs; got != jobs {
				return fmt.Errorf("the stream holds %d jobs, want %d", got, jobs)
			}
			return nil
		})
	})
	t.Run("AckWait", func(t *testing.T) {
		c := c.in(t)
		c.change(func(spec map[string]any) { spec["config"].(map[string]any)["TMI_JOB_ACK_WAIT"] = "45s" })
		eventually(t, soon, func() error {
			consumer, err := c.consumer()
			if err != nil {
				return err
			}
			if got, want := consumer.Config.AckWait, 45*time.Second; got != want {
				return fmt.Errorf("the consumer waits %s for an ack, want %s", got, want)
			}
			d, err := c.deployment()
			if err != nil {
				return err
			}
			if got := d.Spec.Template.Spec.TerminationGracePeriodSeconds; got == nil || *got != 45 {
				return fmt.Errorf("the workers are not given 45 s to finish a job")
			}
			return nil
		})
	})
	t.Run("Egress", func(t *testing.T) {
		c := c.in(t)
		c.change(func(spec map[string]any) {
			spec["egress"] = "allowlist"
			spec["allowlist"] = map[string]any{"cidrs": []any{"203.0.113.0/24"}}
		})
		eventually(t, soon, func() error { return c.allows("203.0.113.0/24") })
	})
	t.Run("Bounds", func(t *testing.T) {
		c := c.in(t)
		c.change(func(spec map[string]any) { spec["scaling"].(map[string]any)["maxReplicas"] = int64(12) })
		eventually(t, soon, func() error {
			s, err := c.scaledObject()
			if err != nil {
				return err
			}
			if got, _, _ := unstructured.NestedInt64(s.Object, "spec", "maxReplicaCount"); got != 12 {
				return fmt.Errorf("the ScaledObject allows %d workers, want 12", got)
			}
			return nil
		})
	})
	t.Run("HandOnDeployment", func(t *testing.T) {
		c := c.in(t)
		d, err := c.deployment()
		if err != nil {
			t.Fatal(err)
		}
		patch := client.MergeFrom(d.DeepCopy())
		d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/other:1"
		if err := cluster.Client.Patch(context.Background(), d, patch, client.FieldOwner("kubectl-edit")); err != nil {
			t.Fatal(err)
		}
		eventually(t, soon, func() error { return c.hasNewImage() })
	})
	t.Run("HandOnNetworkPolicy", func(t *testing.T) {
		c := c.in(t)
		p, err := c.networkPolicy()
		if err != nil {
			t.Fatal(err)
		}
		rules := len(p.Spec.Egress)
		patch := client.MergeFrom(p.DeepCopy())
		p.Spec.Egress = append(p.Spec.Egress, networkingv1.NetworkPolicyEgressRule{}) // to anywhere
		begin := time.Now()
		if err := cluster.Client.Patch(context.Background(), p, patch, client.FieldOwner("kubectl-edit")); err != nil {
			t.Fatal(err)
		}
		eventually(t, soon, func() error {
			p, err := c.networkPolicy()
			if err != nil {
				return err
			}
			if got := len(p.Spec.Egress); got != rules {
				return fmt.Errorf("the NetworkPolicy has %d rules, want %d", got, rules)
			}
			return nil
		})
		t.Logf("a NetworkPolicy widened by hand was put back in %s", time.Since(begin).Round(pollInterval))
	})

	c.waitReady()
	eventually(t, soon, func() error { return c.hasReplicas(workers) })
	r.stop()
	r.wantReplicas(c, workers)
	c.work(jobs)
}

// in is the same component in a subtest.
func (c *component) in(t *testing.T) *component {
	t.Helper()
	return &component{t: t, namespace: c.namespace, name: c.name}
}

// newImage is what a component's image is changed to.
const newImage = "registry.example.com/worker:2"

func (c *component) hasNewImage() error {
	d, err := c.deployment()
	if err != nil {
		return err
	}
	if got := d.Spec.Template.Spec.Containers[0].Image; got != newImage {
		return fmt.Errorf("%s runs %s, want %s", c, got, newImage)
	}
	return nil
}

// allows says whether the NetworkPolicy lets workers reach a range.
func (c *component) allows(cidr string) error {
	p, err := c.networkPolicy()
	if err != nil {
		return err
	}
	for _, rule := range p.Spec.Egress {
		for _, to := range rule.To {
			if to.IPBlock != nil && to.IPBlock.CIDR == cidr {
				return nil
			}
		}
	}
	return fmt.Errorf("the NetworkPolicy does not allow %s", cidr)
}
