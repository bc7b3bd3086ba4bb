//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A hundred components, applied at once, all become Ready.
func testHundred(t *testing.T) {
	const count, limit = 100, 15 * time.Minute // On two cores, of which the API server wants more than one.
	const namespace = "team-crowd"
	createNamespace(t, namespace)
	t.Logf("the function's memory before: %s", functionMemory())

	begin := time.Now()
	var creating sync.WaitGroup
	for i := range count {
		creating.Go(func() {
			c := &component{t: t, namespace: namespace, name: fmt.Sprintf("crowd-%d", i)}
			if err := c.create(); err != nil {
				t.Errorf("cannot create %s: %v", c, err)
			}
		})
	}
	creating.Wait()
	t.Logf("%d components were applied in %s", count, time.Since(begin).Round(pollInterval))

	var half time.Duration
	eventually(t, limit, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("tmi.dev/v1alpha1")
		list.SetKind("TMIComponentList")
		if err := cluster.Client.List(context.Background(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		isReady, why := 0, error(nil)
		for _, u := range list.Items {
			if err := ready(&u); err != nil {
				why = fmt.Errorf("%s: %w", u.GetName(), err)
				continue
			}
			isReady++
		}
		if isReady >= count/2 && half == 0 {
			half = time.Since(begin)
		}
		if isReady < count {
			return fmt.Errorf("%d of %d are Ready; one that is not: %w", isReady, count, why)
		}
		return nil
	})
	t.Logf("%d components at once: half were Ready after %s, all after %s", count,
		half.Round(pollInterval), time.Since(begin).Round(pollInterval))
	t.Logf("the function's memory with %d components: %s", count, functionMemory())
}

// functionMemory is what the kernel says of the function: its memory now and
// the most it ever had.
func functionMemory() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cluster.Function.PID()))
	if err != nil {
		return "unknown (" + err.Error() + ")"
	}
	field := func(name string) string {
		match := regexp.MustCompile(name + `:\s*(.*)`).FindSubmatch(status)
		if match == nil {
			return "unknown"
		}
		return string(match[1])
	}
	return field("VmRSS") + ", at most " + field("VmHWM")
}
