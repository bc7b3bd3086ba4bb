package bench

import (
	"fmt"
	"testing"

	"tmi.dev/function-tmicomponent/fn"
)

// BenchmarkSize is BenchmarkInProcess for components of several sizes: the cost
// grows with them, without a step.
func BenchmarkSize(b *testing.B) {
	kinds := []struct {
		name  string
		sizes []int
		spec  func(n int) map[string]any
	}{
		{"subjects", []int{1, 50, 100, 200}, func(n int) map[string]any {
			return map[string]any{"jobSubjects": each(n, func(i int) any { return fmt.Sprintf("jobs.kind-%d.*", i) })}
		}},
		{"config", []int{1, 125, 250, 500}, func(n int) map[string]any {
			config := map[string]any{}
			for i := range n {
				config[fmt.Sprintf("SETTING_%d", i)] = fmt.Sprint(i)
			}
			return map[string]any{"config": config}
		}},
		{"cidrs", []int{1, 25, 50, 100}, func(n int) map[string]any {
			cidrs := each(n, func(i int) any { return fmt.Sprintf("203.0.%d.0/24", i) })
			return map[string]any{"egress": "allowlist", "allowlist": map[string]any{"cidrs": cidrs}}
		}},
	}
	for _, kind := range kinds {
		for _, n := range kind.sizes {
			b.Run(fmt.Sprintf("of=%s/n=%d", kind.name, n), func(b *testing.B) {
				f := fn.New()
				req, err := Converged(b.Context(), f, component(b, "worker", kind.spec(n)), inputOf(b, map[string]any{"provisioning": "Disabled"}))
				if err != nil {
					b.Fatal(err)
				}
				measure(b, 1, inProcess(f, req))
			})
		}
	}
}

func each(n int, element func(i int) any) []any {
	l := make([]any, n)
	for i := range l {
		l[i] = element(i)
	}
	return l
}
