// Package protostruct converts between google.protobuf.Struct, which is how
// Crossplane hands resources to a function, and typed Go values with json
// tags. It goes straight from one to the other: the function SDK's own
// conversion writes and parses JSON text in between, which costs more than all
// the rest of a call, and reports a value of the wrong type without its path.
package protostruct

import (
	"reflect"
	"strings"
	"sync"
)

// A structField is one field of a Go struct, as its json tag names it.
type structField struct {
	name  string
	index []int
}

var structFields sync.Map // reflect.Type -> []structField

// fieldsOf returns the json fields of struct type t in the order of their
// declaration, those of inlined structs included.
func fieldsOf(t reflect.Type) []structField {
	if cached, ok := structFields.Load(t); ok {
		return cached.([]structField) //nolint:forcetypeassert // Only this function stores.
	}
	var fields []structField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case options == "inline" || (f.Anonymous && name == ""):
			for _, inlined := range fieldsOf(f.Type) {
				fields = append(fields, structField{name: inlined.name, index: append([]int{i}, inlined.index...)})
			}
		default:
			fields = append(fields, structField{name: name, index: f.Index})
		}
	}
	structFields.Store(t, fields)
	return fields
}
