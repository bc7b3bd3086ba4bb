package protostruct

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Encode returns the struct that v points to as a google.protobuf.Struct. It
// holds only what v says: a field with its type's zero value is left out, and
// so is a struct with nothing in it, a nil pointer, and an empty list or map.
// What a pointer points to is said even if it is zero. This is what server-side
// apply needs: a zero value that nobody meant, such as a Deployment's
// `strategy: {}` or `status: {}`, would claim the field for us.
//
// A *structpb.Struct within v is taken as it is, not copied.
func Encode(v any) *structpb.Struct {
	return encodeStruct(reflect.ValueOf(v).Elem()).GetStructValue()
}

// EncodeMap returns the content of an unstructured object, in which what is
// there is meant, zero or not.
func EncodeMap(m map[string]any) *structpb.Struct {
	return encodeMap(reflect.ValueOf(m)).GetStructValue()
}

func encodeStruct(v reflect.Value) *structpb.Value {
	// Of the many fields that Kubernetes' types have, few are set.
	value, s := newStruct(0)
	for _, f := range fieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.index)
		if fv.IsZero() {
			continue
		}
		if ev := encode(fv); said(fv, ev) {
			s.Fields[f.name] = ev
		}
	}
	return value
}

// said reports whether the field with value v, encoded as ev, says anything.
func said(v reflect.Value, ev *structpb.Value) bool {
	switch v.Kind() { //nolint:exhaustive // All other kinds that are not zero say something.
	case reflect.Struct:
		s, isStruct := ev.GetKind().(*structpb.Value_StructValue)
		return !isStruct || len(s.StructValue.GetFields()) > 0
	case reflect.Map, reflect.Slice:
		return v.Len() > 0
	default:
		return true
	}
}

var (
	quantityType    = reflect.TypeFor[resource.Quantity]()
	intOrStringType = reflect.TypeFor[intstr.IntOrString]()
)

// encode looks at types rather than at values where it can: to take a struct
// out of a reflect.Value is to copy it.
func encode(v reflect.Value) *structpb.Value {
	switch v.Kind() { //nolint:exhaustive // An API type has no other kinds.
	case reflect.Pointer:
		if s, is := reflect.TypeAssert[*structpb.Struct](v); is {
			return structpb.NewStructValue(s)
		}
		return encode(v.Elem())
	case reflect.Interface:
		return encode(v.Elem())
	case reflect.Struct:
		switch v.Type() {
		case quantityType:
			q := v.Interface().(resource.Quantity) //nolint:forcetypeassert // It is of that type.
			return newString(q.String())
		case intOrStringType:
			x := v.Interface().(intstr.IntOrString) //nolint:forcetypeassert // It is of that type.
			if x.Type == intstr.String {
				return newString(x.StrVal)
			}
			return structpb.NewNumberValue(float64(x.IntVal))
		}
		return encodeStruct(v)
	case reflect.Map:
		return encodeMap(v)
	case reflect.Slice:
		value, l := newList(v.Len())
		for i := range l.GetValues() {
			l.Values[i] = encode(v.Index(i))
		}
		return value
	case reflect.String:
		return newString(v.String())
	case reflect.Bool:
		return structpb.NewBoolValue(v.Bool())
	case reflect.Int32, reflect.Int64:
		return structpb.NewNumberValue(float64(v.Int()))
	default:
		// Only a manifest of ours can be at fault here, not what a user wrote.
		panic(fmt.Sprintf("protostruct cannot encode %s", v.Type()))
	}
}

// encodeMap encodes the two types of maps that manifests are full of without
// reflection.
func encodeMap(v reflect.Value) *structpb.Value {
	value, s := newStruct(v.Len())
	switch m := v.Interface().(type) {
	case map[string]string:
		for k, text := range m {
			s.Fields[k] = newString(text)
		}
	case map[string]any:
		for k, e := range m {
			s.Fields[k] = encode(reflect.ValueOf(e))
		}
	default:
		for iter := v.MapRange(); iter.Next(); {
			s.Fields[iter.Key().String()] = encode(iter.Value())
		}
	}
	return value
}
