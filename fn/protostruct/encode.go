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
	return encodeStruct(reflect.ValueOf(v).Elem())
}

// EncodeMap returns the content of an unstructured object, in which what is
// there is meant, zero or not.
func EncodeMap(m map[string]any) *structpb.Struct {
	return encode(reflect.ValueOf(m)).GetStructValue()
}

func encodeStruct(v reflect.Value) *structpb.Struct {
	fields := fieldsOf(v.Type())
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(fields))}
	for _, f := range fields {
		fv := v.FieldByIndex(f.index)
		if fv.IsZero() {
			continue
		}
		if ev := encode(fv); said(fv, ev) {
			s.Fields[f.name] = ev
		}
	}
	return s
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

func encode(v reflect.Value) *structpb.Value {
	switch x := v.Interface().(type) {
	case *structpb.Struct:
		return structpb.NewStructValue(x)
	case resource.Quantity:
		return structpb.NewStringValue(x.String())
	case intstr.IntOrString:
		if x.Type == intstr.String {
			return structpb.NewStringValue(x.StrVal)
		}
		return structpb.NewNumberValue(float64(x.IntVal))
	}
	switch v.Kind() { //nolint:exhaustive // An API type has no other kinds.
	case reflect.Pointer, reflect.Interface:
		return encode(v.Elem())
	case reflect.Struct:
		return structpb.NewStructValue(encodeStruct(v))
	case reflect.Map:
		s := &structpb.Struct{Fields: make(map[string]*structpb.Value, v.Len())}
		for iter := v.MapRange(); iter.Next(); {
			s.Fields[iter.Key().String()] = encode(iter.Value())
		}
		return structpb.NewStructValue(s)
	case reflect.Slice:
		l := &structpb.ListValue{Values: make([]*structpb.Value, v.Len())}
		for i := range v.Len() {
			l.Values[i] = encode(v.Index(i))
		}
		return structpb.NewListValue(l)
	case reflect.String:
		return structpb.NewStringValue(v.String())
	case reflect.Bool:
		return structpb.NewBoolValue(v.Bool())
	case reflect.Int32, reflect.Int64:
		return structpb.NewNumberValue(float64(v.Int()))
	default:
		// Only a manifest of ours can be at fault here, not what a user wrote.
		panic(fmt.Sprintf("protostruct cannot encode %s", v.Type()))
	}
}
