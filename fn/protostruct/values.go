package protostruct

import "google.golang.org/protobuf/types/known/structpb"

// The values that manifests are full of, each in one allocation. structpb's own
// constructors make two for a string, of the value and of its kind, and four
// for an object, which was half of what a call allocates besides gRPC.

func newString(s string) *structpb.Value {
	x := &struct {
		value structpb.Value
		kind  structpb.Value_StringValue
	}{}
	x.kind.StringValue = s
	x.value.Kind = &x.kind
	return &x.value
}

// newStruct returns a value and the struct in it, of which size fields are
// expected.
func newStruct(size int) (*structpb.Value, *structpb.Struct) {
	x := &struct {
		value structpb.Value
		kind  structpb.Value_StructValue
		inner structpb.Struct
	}{}
	x.inner.Fields = make(map[string]*structpb.Value, size)
	x.kind.StructValue = &x.inner
	x.value.Kind = &x.kind
	return &x.value, &x.inner
}

// newList returns a value and the list in it, of the given length.
func newList(length int) (*structpb.Value, *structpb.ListValue) {
	x := &struct {
		value structpb.Value
		kind  structpb.Value_ListValue
		inner structpb.ListValue
	}{}
	x.inner.Values = make([]*structpb.Value, length)
	x.kind.ListValue = &x.inner
	x.value.Kind = &x.kind
	return &x.value, &x.inner
}
