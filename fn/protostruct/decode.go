package protostruct

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxQuoted is how many bytes of a wrong value an error quotes.
const maxQuoted = 64

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// A quantity of more bytes than maxQuantity, as JSON, or with an exponent of more
// than three digits is one that nobody means. resource.ParseQuantity takes
// minutes for 1e-99999999, within which no other call would be answered.
const maxQuantity = 64

var unreasonableExponent = regexp.MustCompile(`[eE][+-]?[0-9]{4}`)

// Decode sets the value that into points to from v. It returns one error, with
// its path below the given one, for each value that is of another type than
// the Go value: all of them, not only the first. What could be decoded is set
// all the same. Fields that the Go type does not have are passed over, and a
// null is taken as absent, as an API server does.
//
// Numbers must be whole and in range for a Go integer. Types that unmarshal
// themselves from JSON, such as resource.Quantity and metav1.Duration, do so.
func Decode(v *structpb.Value, into any, path *field.Path) field.ErrorList {
	errs := decode(v, reflect.ValueOf(into).Elem())
	if path == nil {
		return errs
	}
	return within(path.String(), errs)
}

// decode is Decode. The paths of its errors begin at v, and get longer on the
// way back: most values are right, and need none.
func decode(v *structpb.Value, into reflect.Value) field.ErrorList {
	if isNull(v) {
		return nil
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		return decode(v, into.Elem())
	}
	if into.Addr().Type().Implements(unmarshaler) {
		return decodeItself(v, into)
	}
	switch into.Kind() { //nolint:exhaustive // An API type has no other kinds.
	case reflect.Struct:
		return decodeStruct(v, into)
	case reflect.Map:
		return decodeMap(v, into)
	case reflect.Slice:
		return decodeSlice(v, into)
	case reflect.String:
		if s, ok := v.GetKind().(*structpb.Value_StringValue); ok {
			into.SetString(s.StringValue)
			return nil
		}
		return wrongType(v, "a string")
	case reflect.Bool:
		if b, ok := v.GetKind().(*structpb.Value_BoolValue); ok {
			into.SetBool(b.BoolValue)
			return nil
		}
		return wrongType(v, "true or false")
	case reflect.Int32, reflect.Int64:
		return decodeInteger(v, into)
	default:
		// Only a Go type of ours can be at fault here, not what a user wrote.
		panic(fmt.Sprintf("protostruct cannot decode %s", into.Type()))
	}
}

func decodeStruct(v *structpb.Value, into reflect.Value) field.ErrorList {
	s := v.GetStructValue()
	if s == nil {
		return wrongType(v, "an object")
	}
	var errs field.ErrorList
	for _, f := range fieldsOf(into.Type()) {
		if fv, ok := s.GetFields()[f.name]; ok {
			errs = append(errs, within(f.name, decode(fv, into.FieldByIndex(f.index)))...)
		}
	}
	return errs
}

func decodeMap(v *structpb.Value, into reflect.Value) field.ErrorList {
	s := v.GetStructValue()
	if s == nil {
		return wrongType(v, "an object")
	}
	keys := make([]string, 0, len(s.GetFields()))
	for k := range s.GetFields() {
		keys = append(keys, k)
	}
	// Errors come in the order of the keys, so that the same input always
	// gets the same message.
	slices.Sort(keys)

	var errs field.ErrorList
	t := into.Type()
	into.Set(reflect.MakeMapWithSize(t, len(keys)))
	for _, k := range keys {
		elem := reflect.New(t.Elem()).Elem()
		fv := s.GetFields()[k]
		if isNull(fv) {
			errs = append(errs, withinElement(k, wrongType(fv, "a value"))...)
			continue
		}
		errs = append(errs, withinElement(k, decode(fv, elem))...)
		into.SetMapIndex(reflect.ValueOf(k).Convert(t.Key()), elem)
	}
	return errs
}

func decodeSlice(v *structpb.Value, into reflect.Value) field.ErrorList {
	l, ok := v.GetKind().(*structpb.Value_ListValue)
	if !ok {
		return wrongType(v, "a list")
	}
	values := l.ListValue.GetValues()

	var errs field.ErrorList
	into.Set(reflect.MakeSlice(into.Type(), len(values), len(values)))
	for i, e := range values {
		if isNull(e) {
			errs = append(errs, withinElement(strconv.Itoa(i), wrongType(e, "a value"))...)
			continue
		}
		errs = append(errs, withinElement(strconv.Itoa(i), decode(e, into.Index(i)))...)
	}
	return errs
}

func decodeInteger(v *structpb.Value, into reflect.Value) field.ErrorList {
	n, ok := v.GetKind().(*structpb.Value_NumberValue)
	if !ok {
		return wrongType(v, "a whole number")
	}
	f := n.NumberValue
	// 1<<63 is exact as a float64; the largest int64 is not.
	if f != math.Trunc(f) || f < math.MinInt64 || f >= 1<<63 || into.OverflowInt(int64(f)) {
		return wrongType(v, fmt.Sprintf("a whole number of %d bits", into.Type().Bits()))
	}
	into.SetInt(int64(f))
	return nil
}

// decodeItself lets a type that unmarshals itself do so, from the JSON of one
// value.
func decodeItself(v *structpb.Value, into reflect.Value) field.ErrorList {
	text, err := v.MarshalJSON()
	if err != nil {
		return wrongType(v, "a finite number")
	}
	u := into.Addr().Interface().(json.Unmarshaler) //nolint:forcetypeassert // decode has looked.
	switch u.(type) {
	case *resource.Quantity:
		if len(text) > maxQuantity || unreasonableExponent.Match(text) || u.UnmarshalJSON(text) != nil {
			return wrongType(v, "a quantity such as 500m or 128Mi")
		}
	case *metav1.Duration:
		if u.UnmarshalJSON(text) != nil {
			return wrongType(v, "a duration such as 90s or 2m")
		}
	default:
		if err := u.UnmarshalJSON(text); err != nil {
			return invalid(v, err.Error())
		}
	}
	return nil
}

func wrongType(v *structpb.Value, want string) field.ErrorList {
	return invalid(v, "must be "+want)
}

// invalid is field.Invalid of the value itself, whose path is yet to come.
func invalid(v *structpb.Value, detail string) field.ErrorList {
	return field.ErrorList{{Type: field.ErrorTypeInvalid, BadValue: quoted(v), Detail: detail}}
}

// within puts errors below a parent, whose name their paths have lacked so far.
func within(parent string, errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		separator := "."
		if err.Field == "" || err.Field[0] == '[' {
			separator = ""
		}
		err.Field = parent + separator + err.Field
	}
	return errs
}

// withinElement puts errors below an element of a map or a list.
func withinElement(key string, errs field.ErrorList) field.ErrorList {
	if len(errs) == 0 {
		return nil
	}
	return within("["+key+"]", errs)
}

// quoted is what an error shows of a wrong value: the value itself if it is a
// short scalar, else its beginning or its kind.
func quoted(v *structpb.Value) any {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		return Truncated(k.StringValue)
	case *structpb.Value_NumberValue:
		return k.NumberValue
	case *structpb.Value_BoolValue:
		return k.BoolValue
	case *structpb.Value_StructValue:
		return "object"
	case *structpb.Value_ListValue:
		return "list"
	default:
		return "null"
	}
}

// Truncated returns the beginning of s that an error quotes, so that a message
// stays readable, and fits into a condition, whatever a user wrote.
func Truncated(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	end := maxQuoted
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

func isNull(v *structpb.Value) bool {
	if v.GetKind() == nil {
		return true
	}
	_, null := v.GetKind().(*structpb.Value_NullValue)
	return null
}
