package protostruct

import (
	"reflect"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsOf(t *testing.T) {
	t.Parallel()

	type inner struct {
		A string `json:"a"`
	}
	type middle struct {
		Inner inner  `json:",inline"`
		B     string `json:"b,omitempty"`
	}

	cases := map[string]struct {
		reason string
		args   reflect.Type
		want   map[string][]int
	}{
		"None": {"A struct without fields has none.", reflect.TypeFor[struct{}](), map[string][]int{}},
		"Inlined": {"Fields of inlined structs should be found however deep they are.", reflect.TypeFor[struct {
			M middle `json:",inline"`
			C string `json:"c"`
		}](), map[string][]int{"a": {0, 0, 0}, "b": {0, 1}, "c": {1}}},
		"Embedded": {"An embedded struct with a name is a field, as encoding/json has it.", reflect.TypeFor[struct {
			Embedded `json:"e"`
		}](), map[string][]int{"e": {0}}},
		"Hidden": {"Fields that are not for JSON are left out.", reflect.TypeFor[struct {
			A string `json:"-"`
			b string
			C string `json:"c"`
		}](), map[string][]int{"c": {2}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var wg sync.WaitGroup
			for range 8 { // The cache is shared by all calls.
				wg.Go(func() {
					got := map[string][]int{}
					for _, f := range fieldsOf(tc.args) {
						got[f.name] = f.index
					}
					if diff := cmp.Diff(tc.want, got); diff != "" {
						t.Errorf("\n%s\nfieldsOf(...): -want, +got:\n%s", tc.reason, diff)
					}
				})
			}
			wg.Wait()
		})
	}
}
