package testkit

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
)

// Values that nobody should believe without a look, by kind.
var (
	oddFloats = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64, 0}
	oddInts   = []int64{math.MinInt64, -1 << 40, -1, 0, 1 << 20, math.MaxInt32, 1 << 40, math.MaxInt64}
	oddUints  = []uint64{0, 7, math.MaxUint32, math.MaxUint64}
)

// oddStrings are likewise; one is a megabyte, which only those who ask for it make.
var oddStrings = sync.OnceValue(func() []string {
	return []string{"", "\x00", "a\x00b\r\nc", "\xff\xfe", "../../etc/passwd", "?", "http://[::1", strings.Repeat("é", 300), strings.Repeat("a", 1<<20)}
})

// Mutate changes the nth field of what v points to into something odd, counting every field of every struct in it, every
// element of slices and maps, and every odd value of its kind. It returns what it changed; false: there is no nth.
func Mutate(v any, n int) (what string, ok bool) {
	m := &mutator{left: n}
	m.walk(reflect.ValueOf(v).Elem(), "")
	return m.what, m.what != ""
}

type mutator struct {
	left int
	what string
}

// turn reports whether it is this change that is wanted.
func (m *mutator) turn(path string, value any) bool {
	if m.left--; m.left != -1 {
		return false
	}
	text := fmt.Sprint(value) // it may be a megabyte
	m.what = fmt.Sprintf("%s = %q", strings.TrimPrefix(path, "."), text[:min(len(text), 60)])
	return true
}

func (m *mutator) walk(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		m.walk(v.Elem(), path)
		if m.turn(path, "nil") {
			v.SetZero()
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if m.what == "" && v.Type().Field(i).IsExported() {
				m.walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if m.what == "" {
				m.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
			}
		}
	case reflect.Slice:
		m.slice(v, path)
	case reflect.Map:
		m.table(v, path)
	default:
		m.leaf(v, path)
	}
}

func (m *mutator) slice(v reflect.Value, path string) {
	for i := range v.Len() {
		if m.what == "" {
			m.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	}
	if m.turn(path, "nil") {
		v.SetZero()
		return
	}
	many := 70_000
	if k := v.Type().Elem().Kind(); k == reflect.Struct {
		many = 5_000
	}
	if v.Len() > 0 && m.turn(path, fmt.Sprint(many, " times the first")) {
		first := v.Index(0)
		many = min(many, max(1, mostBytes/weight(first)))
		out := reflect.MakeSlice(v.Type(), many, many)
		for i := range many {
			out.Index(i).Set(first)
		}
		v.Set(out)
	}
}

// mostBytes is what a list becomes at most, some times what a message may hold: where another change has made its item long, as many of them
// as otherwise would be gigabytes.
const mostBytes = 64 << 20

// weight is about how many bytes a value has, at least one.
func weight(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return 1 + v.Len()
	case reflect.Pointer:
		if v.IsNil() {
			return 1
		}
		return weight(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			n += weight(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			n += weight(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			n += weight(k) + weight(v.MapIndex(k))
		}
	default:
		return 8
	}
	return max(1, n)
}

func (m *mutator) table(v reflect.Value, path string) {
	set := func(k, e reflect.Value) { v.SetMapIndex(k.Convert(v.Type().Key()), e) }
	for _, k := range v.MapKeys()[:min(1, v.Len())] {
		e := reflect.New(v.Type().Elem()).Elem()
		e.Set(v.MapIndex(k))
		m.walk(e, path+"[]")
		if m.what != "" {
			v.SetMapIndex(k, e)
			return
		}
		for _, s := range oddStrings() {
			if m.turn(path+"[key]", s) {
				set(reflect.ValueOf(s), e)
			}
		}
		if m.turn(path, "5000 entries") {
			for i := range 5000 {
				set(reflect.ValueOf(fmt.Sprint("k", i)), e)
			}
		}
	}
}

func (m *mutator) leaf(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Bool:
		if m.turn(path, !v.Bool()) {
			v.SetBool(!v.Bool())
		}
	case reflect.String:
		for _, s := range oddStrings() {
			if m.turn(path, s) {
				v.SetString(s)
			}
		}
	case reflect.Float32, reflect.Float64:
		for _, x := range oddFloats {
			if m.turn(path, x) {
				v.SetFloat(x)
			}
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		for _, x := range oddInts {
			if !v.OverflowInt(x) && m.turn(path, x) {
				v.SetInt(x)
			}
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		for _, x := range oddUints {
			if !v.OverflowUint(x) && m.turn(path, x) {
				v.SetUint(x)
			}
		}
	default:
		panic(fmt.Sprintf("%s: fields of kind %s are not mutated", path, v.Kind()))
	}
}
