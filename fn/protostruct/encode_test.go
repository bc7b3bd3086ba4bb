package protostruct

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// written has a field of every kind that our manifests have.
type written struct {
	Inline  inlined `json:",inline"`
	String  string  `json:"string,omitempty"`
	Named   name    `json:"named"`
	Bool    bool    `json:"bool"`
	Int32   int32   `json:"int32"`
	Int64   int64   `json:"int64"`
	PtrBool *bool   `json:"ptrBool"`
	PtrInt  *int64  `json:"ptrInt"`
	PtrStr  *string `json:"ptrString"`

	Ptr      *nested                                   `json:"ptr"`
	Struct   nested                                    `json:"struct"`
	Strings  []string                                  `json:"strings"`
	Structs  []nested                                  `json:"structs"`
	Map      map[string]string                         `json:"map"`
	Quantity resource.Quantity                         `json:"quantity"`
	PtrQty   *resource.Quantity                        `json:"ptrQuantity"`
	Limits   map[corev1.ResourceName]resource.Quantity `json:"limits"`
	Port     intstr.IntOrString                        `json:"port"`
	PtrPort  *intstr.IntOrString                       `json:"ptrPort"`
	Manifest *structpb.Struct                          `json:"manifest"`
	Any      any                                       `json:"any"`
	Pods     *corev1.PodSpec                           `json:"pods"`
	Time     metav1.Time                               `json:"time"`
	Ignored  string                                    `json:"-"`
	hidden   string
}

func TestEncode(t *testing.T) {
	t.Parallel()

	manifest := &structpb.Struct{Fields: map[string]*structpb.Value{"empty": structpb.NewStringValue("")}}

	cases := map[string]struct {
		reason string
		args   any
		want   string
	}{
		"Zero": {
			reason: "A zero value should say nothing.",
			args:   &written{},
			want:   `{}`,
		},
		"Unexported": {
			reason: "What is not for JSON should not be said.",
			args:   &written{Ignored: "x", hidden: "x"},
			want:   `{}`,
		},
		"EmptyContainers": {
			reason: "An empty list or map should say nothing.",
			args:   &written{Strings: []string{}, Structs: []nested{}, Map: map[string]string{}, Limits: corev1.ResourceList{}},
			want:   `{}`,
		},
		"StructOfNothing": {
			reason: "A struct in which nothing is said should not be said, also if it is not quite its zero value.",
			args:   &written{Struct: nested{Ports: []int32{}}},
			want:   `{}`,
		},
		"PointersToZero": {
			reason: "What a pointer points to should be said even if it is zero, since somebody meant it.",
			args:   &written{PtrBool: new(bool), PtrInt: new(int64), PtrStr: new(string), PtrQty: &resource.Quantity{}},
			want:   `{"ptrBool": false, "ptrInt": 0, "ptrString": "", "ptrQuantity": "0"}`,
		},
		"PointerToEmptyStruct": {
			reason: "An empty struct that is pointed to should be said, as an emptyDir: {} must be.",
			args:   &written{Ptr: &nested{}},
			want:   `{"ptr": {}}`,
		},
		"ZeroElements": {
			reason: "Elements of lists and maps should be said, zero or not.",
			args:   &written{Strings: []string{"", "a"}, Map: map[string]string{"k": ""}, Structs: []nested{{}, {Name: "x"}}, Limits: corev1.ResourceList{"cpu": {}}},
			want:   `{"strings": ["", "a"], "map": {"k": ""}, "structs": [{}, {"name": "x"}], "limits": {"cpu": "0"}}`,
		},
		"Everything": {
			reason: "Every kind of field should be encoded, those of inlined structs too.",
			args: &written{
				Inline: inlined{Inlined: "i"}, String: "s", Named: "n", Bool: true, Int32: -1, Int64: 1 << 40,
				PtrBool: ptr.To(true), PtrInt: ptr.To[int64](65532), Ptr: &nested{Name: "p", Deep: &nested{Ports: []int32{443}}}, Struct: nested{Name: "n"},
				Quantity: resource.MustParse("1000m"), PtrQty: ptr.To(resource.MustParse("512Mi")),
				Limits: corev1.ResourceList{"cpu": resource.MustParse("0.5")},
				Port:   intstr.FromInt32(8080), PtrPort: ptr.To(intstr.FromString("http")),
				Any: map[string]any{"k": int64(1), "l": []any{"a", true}},
			},
			want: `{"inlined": "i", "string": "s", "named": "n", "bool": true, "int32": -1, "int64": 1099511627776,
				"ptrBool": true, "ptrInt": 65532, "ptr": {"name": "p", "deep": {"ports": [443]}}, "struct": {"name": "n"},
				"quantity": "1", "ptrQuantity": "512Mi", "limits": {"cpu": "500m"},
				"port": 8080, "ptrPort": "http", "any": {"k": 1, "l": ["a", true]}}`,
		},
		"StructAsItIs": {
			reason: "A protobuf struct should be taken as it is.",
			args:   &written{Manifest: manifest},
			want:   `{"manifest": {"empty": ""}}`,
		},
		"Deployment": {
			reason: "What server-side apply would take for ours must not leak from a typed object.",
			args: &appsv1.Deployment{
				TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
				ObjectMeta: metav1.ObjectMeta{Name: "d"},
				Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}},
			},
			want: `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := &structpb.Struct{}
			if err := protojson.Unmarshal([]byte(tc.want), want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, Encode(tc.args), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nEncode(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEncodeDoesNotCopyStructs(t *testing.T) {
	t.Parallel()

	manifest := &structpb.Struct{}
	if got := Encode(&written{Manifest: manifest}).GetFields()["manifest"].GetStructValue(); got != manifest {
		t.Error("want the same struct, which is as large as a whole manifest")
	}
}

func TestEncodeMap(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   map[string]any
		want   string
	}{
		"Empty":   {"An empty object should be an empty struct.", map[string]any{}, `{}`},
		"Zeros":   {"What is there is meant, zero or not.", map[string]any{"s": "", "i": int64(0), "b": false, "m": map[string]any{}, "l": []any{}}, `{"s": "", "i": 0, "b": false, "m": {}, "l": []}`},
		"Nesting": {"Objects and lists should nest.", map[string]any{"l": []any{map[string]any{"k": "v"}, int64(5)}, "s": map[string]string{"a": "b"}}, `{"l": [{"k": "v"}, 5], "s": {"a": "b"}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := &structpb.Struct{}
			if err := protojson.Unmarshal([]byte(tc.want), want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, EncodeMap(tc.args), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nEncodeMap(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEncodeUnsupported(t *testing.T) {
	t.Parallel()

	defer func() {
		if p := recover(); p == nil {
			t.Error("want a panic for a type that is a fault of ours")
		}
	}()
	Encode(&struct {
		F float64 `json:"f"`
	}{F: 1.5})
}

func TestEncodeDecode(t *testing.T) {
	t.Parallel()

	want := nested{Name: "a", Deep: &nested{Name: "b", Ports: []int32{1, 2, 3}}}
	got := nested{}
	if errs := Decode(structpb.NewStructValue(Encode(&want)), &got, nil); len(errs) > 0 {
		t.Fatal(errs)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode(Encode(...)): -want, +got:\n%s", diff)
	}
}
