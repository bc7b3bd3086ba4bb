package protostruct

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

type name string

type inlined struct {
	Inlined string `json:"inlined"`
}

type Embedded struct {
	Embedded string `json:"embedded"`
}

type nested struct {
	Name  string  `json:"name"`
	Deep  *nested `json:"deep,omitempty"`
	Ports []int32 `json:"ports,omitempty"`
}

// every has a field of every kind that the API types have.
type every struct {
	Inline   inlined `json:",inline"`
	Embedded         // Embedded without a tag: inlined, as encoding/json does.

	String   string             `json:"string"`
	Named    name               `json:"named"`
	Bool     bool               `json:"bool"`
	Int32    int32              `json:"int32"`
	Int64    int64              `json:"int64"`
	PtrInt   *int32             `json:"ptrInt"`
	PtrBool  *bool              `json:"ptrBool"`
	Ptr      *nested            `json:"ptr"`
	Struct   nested             `json:"struct"`
	Strings  []string           `json:"strings"`
	Structs  []nested           `json:"structs"`
	Pointers []*nested          `json:"pointers"`
	Map      map[string]string  `json:"map"`
	Maps     map[name]nested    `json:"maps"`
	Quantity resource.Quantity  `json:"quantity"`
	PtrQty   *resource.Quantity `json:"ptrQuantity"`
	Duration *metav1.Duration   `json:"duration"`
	Time     metav1.Time        `json:"time"`

	Ignored string `json:"-"`
}

func value(t *testing.T, json string) *structpb.Value {
	t.Helper()
	v := &structpb.Value{}
	if err := protojson.Unmarshal([]byte(json), v); err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	return v
}

// object returns a struct that holds one number, which JSON may not be able to
// say.
func object(name string, number float64) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{name: structpb.NewNumberValue(number)}})
}

// byField compares errors by type, field and detail; the value is in both only
// for people.
var byField = []cmp.Option{cmpopts.IgnoreFields(field.Error{}, "BadValue", "Origin"), cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(field.Error{})}

var everyOptions = []cmp.Option{cmpopts.IgnoreTypes(time.Time{})}

func TestDecode(t *testing.T) {
	t.Parallel()

	invalid := func(path, detail string) *field.Error {
		return &field.Error{Type: field.ErrorTypeInvalid, Field: path, Detail: detail}
	}
	root := field.NewPath("root")

	type want struct {
		into every
		errs field.ErrorList
	}
	cases := map[string]struct {
		reason string
		args   *structpb.Value
		want   want
	}{
		"Everything": {
			reason: "Every kind of field should be decoded, those of inlined structs too.",
			args: value(t, `{
				"inlined": "i", "embedded": "e", "string": "s", "named": "n", "bool": true, "int32": -5, "int64": 9007199254740991,
				"ptrInt": 0, "ptrBool": false, "ptr": {"name": "p", "deep": {"name": "d"}}, "struct": {"ports": [1, 2]},
				"strings": ["a", ""], "structs": [{"name": "x"}, {}], "pointers": [{"name": "y"}], "map": {"k": "v", "": ""},
				"maps": {"m": {"name": "z"}}, "quantity": "1500m", "ptrQuantity": 2, "duration": "1m30s"}`),
			want: want{into: every{
				Inline: inlined{Inlined: "i"}, Embedded: Embedded{Embedded: "e"},
				String: "s", Named: "n", Bool: true, Int32: -5, Int64: 9007199254740991,
				PtrInt: ptr.To[int32](0), PtrBool: ptr.To(false), Ptr: &nested{Name: "p", Deep: &nested{Name: "d"}}, Struct: nested{Ports: []int32{1, 2}},
				Strings: []string{"a", ""}, Structs: []nested{{Name: "x"}, {}}, Pointers: []*nested{{Name: "y"}}, Map: map[string]string{"k": "v", "": ""},
				Maps: map[name]nested{"m": {Name: "z"}}, Quantity: resource.MustParse("1500m"), PtrQty: ptr.To(resource.MustParse("2")),
				Duration: &metav1.Duration{Duration: 90 * time.Second},
			}},
		},
		"Absent": {
			reason: "What is not there should stay as it is.",
			args:   value(t, `{}`),
		},
		"NullIsAbsent": {
			reason: "A null should be taken as absent, as an API server does, whatever the field's type.",
			args: value(t, `{"string": null, "bool": null, "int32": null, "ptrInt": null, "ptr": null, "struct": null, "strings": null,
				"map": null, "quantity": null, "ptrQuantity": null, "duration": null, "time": null}`),
		},
		"NoKindIsAbsent": {
			reason: "A value that has no kind, or is nil, should be taken as absent too.",
			args:   structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"string": {}, "ptr": nil, "strings": nil}}),
		},
		"NothingAtAll": {
			reason: "A nil value should decode into nothing.",
			args:   nil,
		},
		"UnknownFields": {
			reason: "Fields that the type does not have should be passed over, and so should those that are not for JSON.",
			args:   value(t, `{"string": "s", "other": {"x": [1]}, "Ignored": "x", "-": "x", "STRING": "x"}`),
			want:   want{into: every{String: "s"}},
		},
		"EmptyContainers": {
			reason: "Empty lists and objects should be decoded as empty, not as absent.",
			args:   value(t, `{"strings": [], "map": {}, "ptr": {}}`),
			want:   want{into: every{Strings: []string{}, Map: map[string]string{}, Ptr: &nested{}}},
		},
		"NotAnObject": {
			reason: "What is no object should be refused for a struct.",
			args:   value(t, `"text"`),
			want:   want{errs: field.ErrorList{invalid("root", "must be an object")}},
		},
		"EveryWrongType": {
			reason: "Every value of a wrong type should be reported, in the order of the fields, and the rest be decoded.",
			args: value(t, `{"inlined": 1, "string": 1, "named": [], "bool": "true", "int32": "1", "ptrBool": 0, "ptr": [], "struct": "x", "strings": "a",
				"map": [], "maps": "m", "quantity": "lots", "duration": "soon", "embedded": "fine"}`),
			want: want{
				into: every{Embedded: Embedded{Embedded: "fine"}, PtrBool: new(bool), Ptr: &nested{}, Duration: &metav1.Duration{}},
				errs: field.ErrorList{
					invalid("root.inlined", "must be a string"),
					invalid("root.string", "must be a string"),
					invalid("root.named", "must be a string"),
					invalid("root.bool", "must be true or false"),
					invalid("root.int32", "must be a whole number"),
					invalid("root.ptrBool", "must be true or false"),
					invalid("root.ptr", "must be an object"),
					invalid("root.struct", "must be an object"),
					invalid("root.strings", "must be a list"),
					invalid("root.map", "must be an object"),
					invalid("root.maps", "must be an object"),
					invalid("root.quantity", "must be a quantity such as 500m or 128Mi"),
					invalid("root.duration", "must be a duration such as 90s or 2m"),
				},
			},
		},
		"WithinContainers": {
			reason: "Errors should have the whole path, and the elements beside a wrong one be decoded.",
			args: value(t, `{"strings": ["a", 1, null, "b"], "structs": [{"name": {}}, [], {"deep": {"ports": [1, "2", 3.5]}}],
				"map": {"z": 1, "a": {}, "k": "v", "n": null}, "maps": {"m": {"name": true}}}`),
			want: want{
				into: every{
					Strings: []string{"a", "", "", "b"},
					Structs: []nested{{}, {}, {Deep: &nested{Ports: []int32{1, 0, 0}}}},
					Map:     map[string]string{"a": "", "k": "v", "z": ""},
					Maps:    map[name]nested{"m": {}},
				},
				errs: field.ErrorList{
					invalid("root.strings[1]", "must be a string"),
					invalid("root.strings[2]", "must be a value"),
					invalid("root.structs[0].name", "must be a string"),
					invalid("root.structs[1]", "must be an object"),
					invalid("root.structs[2].deep.ports[1]", "must be a whole number"),
					invalid("root.structs[2].deep.ports[2]", "must be a whole number of 32 bits"),
					invalid("root.map[a]", "must be a string"),
					invalid("root.map[n]", "must be a value"),
					invalid("root.map[z]", "must be a string"),
					invalid("root.maps[m].name", "must be a string"),
				},
			},
		},
		"LargestInt32":     {reason: "The largest of 32 bits should fit.", args: object("int32", math.MaxInt32), want: want{into: every{Int32: math.MaxInt32}}},
		"SmallestInt32":    {reason: "The smallest of 32 bits should fit.", args: object("int32", math.MinInt32), want: want{into: every{Int32: math.MinInt32}}},
		"AboveInt32":       {reason: "One more should not.", args: object("int32", math.MaxInt32+1), want: want{errs: field.ErrorList{invalid("root.int32", "must be a whole number of 32 bits")}}},
		"BelowInt32":       {reason: "One less should not.", args: object("int32", math.MinInt32-1), want: want{errs: field.ErrorList{invalid("root.int32", "must be a whole number of 32 bits")}}},
		"LargestInt64":     {reason: "The largest float64 of 63 bits should fit.", args: object("int64", 1<<63-1024), want: want{into: every{Int64: 1<<63 - 1024}}},
		"SmallestInt64":    {reason: "The smallest of 64 bits should fit.", args: object("int64", math.MinInt64), want: want{into: every{Int64: math.MinInt64}}},
		"AboveInt64":       {reason: "2^63 should not fit, which is what MaxInt64 is as a float64.", args: object("int64", math.MaxInt64), want: want{errs: field.ErrorList{invalid("root.int64", "must be a whole number of 64 bits")}}},
		"BelowInt64":       {reason: "Far below should not fit.", args: object("int64", -1e19), want: want{errs: field.ErrorList{invalid("root.int64", "must be a whole number of 64 bits")}}},
		"Fraction":         {reason: "A fraction is no whole number.", args: object("int32", 0.5), want: want{errs: field.ErrorList{invalid("root.int32", "must be a whole number of 32 bits")}}},
		"NaN":              {reason: "What is no number is none.", args: object("int32", math.NaN()), want: want{errs: field.ErrorList{invalid("root.int32", "must be a whole number of 32 bits")}}},
		"Infinite":         {reason: "Infinity does not fit.", args: object("int64", math.Inf(1)), want: want{errs: field.ErrorList{invalid("root.int64", "must be a whole number of 64 bits")}}},
		"NegativeInfinite": {reason: "Nor does negative infinity.", args: object("int64", math.Inf(-1)), want: want{errs: field.ErrorList{invalid("root.int64", "must be a whole number of 64 bits")}}},
		"NegativeZero":     {reason: "Negative zero is zero.", args: object("int32", math.Copysign(0, -1))},
		"QuantityNaN":      {reason: "A quantity that JSON cannot say should be refused.", args: object("quantity", math.NaN()), want: want{errs: field.ErrorList{invalid("root.quantity", "must be a finite number")}}},
		"QuantityInf":      {reason: "An infinite quantity should be refused.", args: object("quantity", math.Inf(-1)), want: want{errs: field.ErrorList{invalid("root.quantity", "must be a finite number")}}},
		"QuantityFraction": {reason: "A quantity may be a fraction.", args: object("quantity", 0.25), want: want{into: every{Quantity: resource.MustParse("250m")}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := every{}
			errs := Decode(tc.args, &got, root)
			if diff := cmp.Diff(tc.want.errs, errs, byField...); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want errors, +got errors:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.into, got, everyOptions...); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecodeHugeQuantity(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   string
		wrong  bool
	}{
		"SmallExponent":    {"An exponent is how some quantities are written.", `"1e3"`, false},
		"NegativeExponent": {"A small negative exponent is fine.", `"1e-3"`, false},
		"Float":            {"So is a float64 with an exponent of three digits.", `1e-300`, false},
		"Suffix":           {"A suffix that looks like an exponent is none.", `"1E"`, false},
		"Mebibytes":        {"A usual one is fine.", `"512Mi"`, false},
		"DeepExponent":     {"Kubernetes' parser would divide by ten a billion times.", `"1e-999999999"`, true},
		"DeepUpper":        {"E is the same as e.", `"1E-999999999"`, true},
		"HighExponent":     {"What is too large to be meant should be refused too.", `"1e+999999999"`, true},
		"ManyDigits":       {"Nor should a million digits be parsed.", `"` + strings.Repeat("9", 1000000) + `"`, true},
		"ManyFractions":    {"Nor should a million decimals.", `"0.` + strings.Repeat("1", 1000000) + `"`, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			errs := Decode(value(t, `{"quantity": `+tc.args+`}`), &every{}, nil)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("\n%s\nDecode(...) took %s", tc.reason, took)
			}
			if (len(errs) > 0) != tc.wrong {
				t.Errorf("\n%s\nDecode(...): want an error: %t, got %v", tc.reason, tc.wrong, errs)
			}
			if len(errs) > 0 && (errs[0].Field != "quantity" || len(errs[0].Error()) > 300) {
				t.Errorf("\n%s\nDecode(...): want a short error about quantity, got %.400s", tc.reason, errs[0])
			}
		})
	}
}

func TestDecodeKeepsWhatIsThere(t *testing.T) {
	t.Parallel()

	got := every{String: "before", Strings: []string{"before"}, PtrInt: ptr.To[int32](7)}
	errs := Decode(value(t, `{"string": null, "ptrInt": 8}`), &got, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := every{String: "before", Strings: []string{"before"}, PtrInt: ptr.To[int32](8)}
	if diff := cmp.Diff(want, got, everyOptions...); diff != "" {
		t.Errorf("Decode(...): -want, +got:\n%s", diff)
	}
}

func TestDecodeUnsupported(t *testing.T) {
	t.Parallel()

	defer func() {
		if p := recover(); p == nil {
			t.Error("want a panic for a type that is a fault of ours")
		}
	}()
	Decode(value(t, `{"f": 1}`), &struct {
		F float64 `json:"f"`
	}{}, nil)
}

func TestErrorQuotesLittle(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Short":  {"A short string should be quoted.", `{"int32": "five"}`, `int32: Invalid value: "five": must be a whole number`},
		"Number": {"A number should be quoted.", `{"string": 5}`, `string: Invalid value: 5: must be a string`},
		"Bool":   {"A boolean should be quoted.", `{"string": true}`, `string: Invalid value: true: must be a string`},
		"Object": {"Of an object only the kind should be told.", `{"string": {"password": "x"}}`, `string: Invalid value: "object": must be a string`},
		"List":   {"Of a list only the kind should be told.", `{"string": ["password"]}`, `string: Invalid value: "list": must be a string`},
		"Null":   {"A null in a list should be told as such.", `{"strings": [null]}`, `strings[0]: Invalid value: "null": must be a value`},
		"Long":   {"Of a long string only the beginning should be quoted.", `{"int32": "` + strings.Repeat("x", 1000) + `"}`, `int32: Invalid value: "` + strings.Repeat("x", 64) + `...": must be a whole number`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := Decode(value(t, tc.args), &every{}, nil)
			if len(errs) != 1 {
				t.Fatalf("\n%s\nwant one error, got %v", tc.reason, errs)
			}
			if diff := cmp.Diff(tc.want, errs[0].Error()); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Empty":    {"Nothing stays nothing.", "", ""},
		"Fits":     {"What fits should stay whole.", strings.Repeat("a", 64), strings.Repeat("a", 64)},
		"Long":     {"What does not should be cut, and say so.", strings.Repeat("a", 65), strings.Repeat("a", 64) + "..."},
		"Rune":     {"A rune should not be cut in two.", strings.Repeat("a", 63) + "ü", strings.Repeat("a", 63) + "..."},
		"Euro":     {"Nor should one of three bytes.", strings.Repeat("a", 62) + "€€", strings.Repeat("a", 62) + "..."},
		"NotUTF8":  {"Bytes that begin no rune should all be left out.", strings.Repeat("\x80", 100), "..."},
		"WholeEnd": {"A rune that ends at the limit should stay.", strings.Repeat("a", 62) + "üx", strings.Repeat("a", 62) + "ü..."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Truncated(tc.args)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nTruncated(...): -want, +got:\n%s", tc.reason, diff)
			}
			if utf8.ValidString(tc.args) && !utf8.ValidString(got) {
				t.Errorf("\n%s\nTruncated(...) is no UTF-8: %q", tc.reason, got)
			}
		})
	}
}
