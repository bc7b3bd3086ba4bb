package protostruct

import (
	"maps"
	"reflect"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Unknown returns an error for each field in v that the type of the struct that
// like points to does not have: what Decode passes over. It is for what no API
// server has looked at.
func Unknown(v *structpb.Value, like any, path *field.Path) field.ErrorList {
	return unknown(v, reflect.TypeOf(like), path)
}

func unknown(v *structpb.Value, t reflect.Type, path *field.Path) field.ErrorList {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	var errs field.ErrorList
	switch t.Kind() { //nolint:exhaustive // No other kind has fields.
	case reflect.Slice:
		for i, e := range v.GetListValue().GetValues() {
			errs = append(errs, unknown(e, t.Elem(), path.Index(i))...)
		}
	case reflect.Struct:
		fields := fieldsOf(t)
		values := v.GetStructValue().GetFields()
		// In the order of the names, so that the same input always gets the
		// same message.
		for _, name := range slices.Sorted(maps.Keys(values)) {
			i := slices.IndexFunc(fields, func(f structField) bool { return f.name == name })
			if i < 0 {
				errs = append(errs, field.Forbidden(path.Child(Truncated(name)), "there is no such field; look for a misspelling"))
				continue
			}
			errs = append(errs, unknown(values[name], t.FieldByIndex(fields[i].index).Type, path.Child(name))...)
		}
	}
	return errs
}
