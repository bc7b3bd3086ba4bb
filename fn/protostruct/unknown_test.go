package protostruct

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestUnknown(t *testing.T) {
	t.Parallel()

	type Inlined struct {
		Known string `json:"known"`
	}
	type like struct {
		Inlined `json:",inline"`

		List     []Inlined         `json:"list"`
		Pointer  *Inlined          `json:"pointer"`
		Map      map[string]string `json:"map"`
		Duration *metav1.Duration  `json:"duration"`
	}

	cases := map[string]struct {
		reason string
		arg    map[string]any
		want   []string
	}{
		"AllKnown": {
			reason: "What the type has is known, also in a list, behind a pointer and inlined; a map's keys are no fields.",
			arg: map[string]any{
				"known": "x", "list": []any{map[string]any{"known": "x"}}, "pointer": map[string]any{"known": "x"},
				"map": map[string]any{"any": "x"}, "duration": "3s",
			},
		},
		"Unknown": {
			reason: "All that is unknown is named, with its path and in order.",
			arg: map[string]any{
				"knwon": "x", "list": []any{map[string]any{}, map[string]any{"b": 1, "a": 1}}, "pointer": map[string]any{"c": nil},
			},
			want: []string{"knwon", "list[1].a", "list[1].b", "pointer.c"},
		},
		"WrongTypes": {
			reason: "A value of the wrong type has no fields; Decode reports it.",
			arg:    map[string]any{"list": "x", "pointer": []any{1}, "duration": map[string]any{"a": 1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := structpb.NewStruct(tc.arg)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range Unknown(structpb.NewStructValue(s), &like{}, nil) {
				if e.Type != field.ErrorTypeForbidden {
					t.Errorf("\n%s\nUnknown: want an error of type %s, got %v", tc.reason, field.ErrorTypeForbidden, e)
				}
				got = append(got, e.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nUnknown: -want fields, +got fields:\n%s", tc.reason, diff)
			}
		})
	}
}
