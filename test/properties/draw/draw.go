package draw

import (
	"maps"
	"math"
	"slices"

	"pgregory.net/rapid"
)

// flip is true half of the time. It shrinks to false.
func (d *drawer) flip() bool {
	return rapid.Bool().Draw(d.T, "flip")
}

// number is below n. Other than rapid's own ranges, which look for edges, it
// does not prefer small ones: most of what is drawn is to be different.
func (d *drawer) number(n int) int {
	number := 0
	for size := 1; size < 4*n; size *= 2 {
		number *= 2
		if d.flip() {
			number++
		}
	}
	return number % n
}

// wrong says whether the next value is to be a wrong one.
func (d *drawer) wrong() bool {
	return d.faults > 0 && d.number(100) >= 100-d.faults
}

// one is any of the values.
func one[T any](d *drawer, values []T) T {
	return values[d.number(len(values))]
}

// text is one of the good texts or, if it is to be wrong, of the bad ones.
func (d *drawer) text(good, bad []string) string {
	if d.wrong() {
		return one(d, bad)
	}
	return one(d, good)
}

// integer is one of the good numbers or, if it is to be wrong, of the bad ones.
func (d *drawer) integer(good, bad []float64) float64 {
	if d.wrong() {
		return one(d, bad)
	}
	return one(d, good)
}

// list has from low to high elements, or none at all if it is to be wrong.
func (d *drawer) list(low, high int, element func() any) []any {
	n := low + d.number(high-low+1)
	if d.wrong() {
		n = 0
	}
	l := make([]any, n)
	for i := range l {
		l[i] = element()
	}
	return l
}

// labelled is a map of up to so many keys to values. Without bad values, the
// good ones are all there are.
func (d *drawer) labelled(most int, keys, badKeys, values, badValues []string) object {
	o := object{}
	for range 1 + d.number(most) {
		if badValues == nil {
			badValues = values
		}
		o[d.text(keys, badKeys)] = d.text(values, badValues)
	}
	return o
}

// set sets a field that is needed. If it is to be wrong, it is left out, null,
// or of another type.
func (d *drawer) set(o object, name string, v any) {
	switch {
	case !d.wrong():
		o[name] = v
	case d.flip():
		o[name] = d.anything()
	}
}

// maybe sets a field that is not needed, or does not.
func (d *drawer) maybe(o object, name string, v any) {
	if d.flip() {
		d.set(o, name, v)
	}
}

// anything is a value of any type.
func (d *drawer) anything() any {
	return one(d, []any{
		nil, true, 0, -1, 1.5, 1e300, math.NaN(), math.Inf(1), "", " ", "text", "\x00",
		[]any{}, []any{nil}, []any{[]any{}}, []any{"text", 1}, object{}, object{"": nil}, object{"name": object{}}, object{"key": "text"},
	})
}

// breakUp replaces a value somewhere below o by another one.
func (d *drawer) breakUp(o object) {
	keys := slices.Sorted(maps.Keys(o))
	if len(keys) == 0 {
		o["surprise"] = d.anything()
		return
	}
	key := one(d, keys)
	switch v := o[key].(type) {
	case object:
		if d.number(4) > 0 {
			d.breakUp(v)
			return
		}
	case []any:
		if len(v) > 0 && d.flip() {
			v[d.number(len(v))] = d.anything()
			return
		}
	}
	o[key] = d.anything()
}
