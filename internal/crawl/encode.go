package crawl

import (
	"bytes"
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/fxamacker/cbor/v2"
)

// Rows and messages are written many times for each page, most of them structs of numbers and short texts of which most are not there. How a type
// is written is found out once; what is written is what encMode writes, to the byte. Whatever has rules of its own is left to that.

// shape is how values of a type are written.
type shape struct {
	kind   kindOfShape
	of     reflect.Type
	size   uintptr  // of a value in memory
	fields []member // of a struct, in the order of their keys
	elem   *shape   // of a list, or of what is pointed to
}

type kindOfShape uint8

const (
	shapeOther kindOfShape = iota // as encMode does
	shapeBool
	shapeInt
	shapeUint
	shapeString
	shapeBytes
	shapeList
	shapePointer
	shapeStruct
)

// member is a field of a struct, or of one that is embedded in it.
type member struct {
	key    []byte  // encoded
	offset uintptr // where it is, from the beginning of the whole
	omit   omits   // it is left out if it is empty, or zero
	*shape
}

type omits uint8

const (
	omitsNever omits = iota
	omitsEmpty
	omitsZero
)

// shapes are those that are known, by their types.
var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s, _ := shapes.LoadOrStore(t, newShape(t, nil))
	return s.(*shape)
}

var (
	ownEncoding   = reflect.TypeFor[cbor.Marshaler]()
	binaryWriting = reflect.TypeFor[encoding.BinaryMarshaler]()
	zeroTelling   = reflect.TypeFor[interface{ IsZero() bool }]()
)

// newShape finds out how a type is written that is within others, which may not be within it again.
func newShape(t reflect.Type, within []reflect.Type) *shape {
	if slices.Contains(within, t) || t.PkgPath() == ownEncoding.PkgPath() || reflect.PointerTo(t).Implements(ownEncoding) || reflect.PointerTo(t).Implements(binaryWriting) {
		return &shape{of: t, size: t.Size()}
	}
	within = append(within[:len(within):len(within)], t)
	switch t.Kind() {
	case reflect.Bool:
		return &shape{of: t, size: t.Size(), kind: shapeBool}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &shape{of: t, size: t.Size(), kind: shapeInt}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &shape{of: t, size: t.Size(), kind: shapeUint}
	case reflect.String:
		return &shape{of: t, size: t.Size(), kind: shapeString}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &shape{of: t, size: t.Size(), kind: shapeBytes}
		}
		return &shape{of: t, size: t.Size(), kind: shapeList, elem: newShape(t.Elem(), within)}
	case reflect.Pointer:
		return &shape{of: t, size: t.Size(), kind: shapePointer, elem: newShape(t.Elem(), within)}
	case reflect.Struct:
		if fields, ok := members(t, 0, within); ok && len(fields) > 0 {
			slices.SortFunc(fields, func(x, y member) int { return bytes.Compare(x.key, y.key) })
			for i := range fields[1:] {
				if bytes.Equal(fields[i].key, fields[i+1].key) {
					return &shape{of: t, size: t.Size()} // one hides the other
				}
			}
			return &shape{of: t, size: t.Size(), kind: shapeStruct, fields: fields}
		}
	}
	return &shape{of: t, size: t.Size()}
}

// members are the fields of a struct that stands at a place of another; ok says that all are written in ways that are known here.
func members(t reflect.Type, at uintptr, within []reflect.Type) (all []member, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, offset := f.Tag.Get("cbor"), at+f.Offset
		if tag == "" {
			tag = f.Tag.Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Name == "_" && tag != "-":
			return nil, false // it may say how the whole is written
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			inner, ok := members(f.Type, offset, within)
			if !ok {
				return nil, false
			}
			all = append(all, inner...)
			continue
		case f.Anonymous:
			return nil, false
		}
		m := member{key: appendHead(nil, cborText, uint64(len(name))), offset: offset, shape: newShape(f.Type, within)}
		m.key = append(m.key, name...)
		if name == "" {
			m.key = append(appendHead(nil, cborText, uint64(len(f.Name))), f.Name...)
		}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "":
			case "keyasint":
				n, err := strconv.ParseUint(name, 10, 31)
				if err != nil {
					return nil, false
				}
				m.key = appendHead(nil, cborUint, n)
			case "omitempty":
				m.omit = omitsEmpty
			case "omitzero":
				m.omit = omitsZero
			default:
				return nil, false
			}
		}
		own := m.kind == shapeOther && (f.Type.Kind() == reflect.Struct || reflect.PointerTo(f.Type).Implements(ownEncoding) || reflect.PointerTo(f.Type).Implements(binaryWriting))
		if m.omit == omitsEmpty && (own || m.kind == shapeStruct) || m.omit == omitsZero && reflect.PointerTo(f.Type).Implements(zeroTelling) {
			return nil, false // what is empty has a rule of its own
		}
		all = append(all, m)
	}
	return all, true
}

// left reports whether a field is empty, or zero, that stands at a place and is left out then.
func (m *member) left(at unsafe.Pointer) bool {
	switch m.kind {
	case shapeBool:
		return !*(*bool)(at)
	case shapeInt, shapeUint:
		return m.number(at) == 0
	case shapeString:
		return *(*string)(at) == ""
	case shapePointer:
		return *(*unsafe.Pointer)(at) == nil
	case shapeBytes:
		return len(*(*[]byte)(at)) == 0 && (m.omit == omitsEmpty || *(*[]byte)(at) == nil)
	}
	v := reflect.NewAt(m.of, at).Elem()
	if m.omit == omitsZero {
		return v.IsZero()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return v.Len() == 0
	case reflect.Float32, reflect.Float64:
		return v.Float() == 0
	}
	return v.IsZero()
}

// number reads a number, whose sign is in its highest bit.
func (s *shape) number(at unsafe.Pointer) uint64 {
	signed := s.kind == shapeInt
	switch s.size {
	case 1:
		if signed {
			return uint64(*(*int8)(at))
		}
		return uint64(*(*uint8)(at))
	case 2:
		if signed {
			return uint64(*(*int16)(at))
		}
		return uint64(*(*uint16)(at))
	case 4:
		if signed {
			return uint64(*(*int32)(at))
		}
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// append writes the value of the shape's type that stands at a place.
func (s *shape) append(b []byte, at unsafe.Pointer) ([]byte, error) {
	switch s.kind {
	case shapeBool:
		if *(*bool)(at) {
			return append(b, cborTrue), nil
		}
		return append(b, cborFalse), nil
	case shapeInt:
		if n := int64(s.number(at)); n < 0 {
			return appendHead(b, cborNegative, uint64(-1-n)), nil
		}
		return appendHead(b, cborUint, s.number(at)), nil
	case shapeUint:
		return appendHead(b, cborUint, s.number(at)), nil
	case shapeString:
		text := *(*string)(at)
		return append(appendHead(b, cborText, uint64(len(text))), text...), nil
	case shapeBytes:
		some := *(*[]byte)(at)
		if some == nil {
			return append(b, cborNull), nil
		}
		return append(appendHead(b, cborBytes, uint64(len(some))), some...), nil
	case shapeList:
		return s.appendList(b, at)
	case shapePointer:
		to := *(*unsafe.Pointer)(at)
		if to == nil {
			return append(b, cborNull), nil
		}
		return s.elem.append(b, to)
	case shapeStruct:
		return s.appendStruct(b, at)
	}
	one, err := encMode.Marshal(reflect.NewAt(s.of, at).Interface())
	return append(b, one...), err
}

func (s *shape) appendList(b []byte, at unsafe.Pointer) (_ []byte, err error) {
	list := *(*[]struct{})(at) // of whatever: where it is, and how long
	if list == nil {
		return append(b, cborNull), nil
	}
	b = appendHead(b, cborArray, uint64(len(list)))
	first, size := unsafe.Pointer(unsafe.SliceData(list)), s.elem.size
	for i := 0; i < len(list) && err == nil; i++ {
		b, err = s.elem.append(b, unsafe.Add(first, uintptr(i)*size))
	}
	return b, err
}

func (s *shape) appendStruct(b []byte, at unsafe.Pointer) (_ []byte, err error) {
	head, n := len(b), 0
	b = append(b, 0)
	for i := range s.fields {
		m := &s.fields[i]
		f := unsafe.Add(at, m.offset)
		if m.omit != omitsNever && m.left(f) {
			continue
		}
		n++
		if b, err = m.append(append(b, m.key...), f); err != nil {
			return b, err
		}
	}
	var room [9]byte
	if size := appendHead(room[:0], cborMap, uint64(n)); len(size) == 1 {
		b[head] = size[0]
	} else {
		b = slices.Replace(b, head, head+1, size...)
	}
	return b, nil
}

// appendHead writes the head of an item: its major type, and its length or value.
func appendHead(b []byte, major byte, v uint64) []byte {
	major <<= 5
	switch {
	case v < 24:
		return append(b, major|byte(v))
	case v < 1<<8:
		return append(b, major|24, byte(v))
	case v < 1<<16:
		return append(b, major|25, byte(v>>8), byte(v))
	case v < 1<<32:
		return append(b, major|26, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	return append(b, major|27, byte(v>>56), byte(v>>48), byte(v>>40), byte(v>>32), byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

// buffers are room for what is encoded, which is seldom large.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const largeBuffer = 1 << 20 // bytes of one that is not kept

// Marshal encodes any of the wire types. The same value always gives the same bytes.
func Marshal(v any) ([]byte, error) {
	room := buffers.Get().(*[]byte)
	b, err := Append((*room)[:0], v)
	out := bytes.Clone(b)
	if cap(b) <= largeBuffer {
		*room = b
		buffers.Put(room)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Append is Marshal, and writes behind what is in b.
func Append(b []byte, v any) ([]byte, error) {
	at := reflect.ValueOf(v)
	switch {
	case at.Kind() == reflect.Struct:
		to := reflect.New(at.Type())
		to.Elem().Set(at)
		at = to
	case at.Kind() != reflect.Pointer || at.IsNil() || at.Type().Elem().Kind() != reflect.Struct:
		one, err := encMode.Marshal(v)
		return append(b, one...), err
	}
	return shapeOf(at.Type().Elem()).append(b, at.UnsafePointer())
}
