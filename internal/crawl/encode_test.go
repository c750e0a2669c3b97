package crawl

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"argosy/internal/testkit/seeds"
)

// odd has every kind of field that a row or a message may have, and some that none has yet.
type odd struct {
	oddInner
	Bool    bool    `cbor:"1,keyasint"`
	Int     int     `cbor:"30,keyasint"`
	Small   int8    `cbor:"2,keyasint,omitempty"`
	Uint    uint64  `cbor:"300,keyasint,omitempty"`
	Float   float32 `cbor:"70000,keyasint,omitempty"`
	Float64 float64 `cbor:"24,keyasint"`
	Text    string  `cbor:"text,omitempty"`
	Named   string
	Bytes   []byte            `cbor:"4,keyasint"`
	Some    []byte            `cbor:"5,keyasint,omitempty"`
	Key     Key               `cbor:"6,keyasint,omitempty"`
	Times   [3]int32          `cbor:"7,keyasint,omitempty"`
	Marks   Marks             `cbor:"8,keyasint,omitempty"`
	Flags   []Mark            `cbor:"9,keyasint"`
	Map     map[string]int64  `cbor:"10,keyasint,omitempty"`
	Whole   map[uint32]string `cbor:"11,keyasint"`
	Deep    *odd              `cbor:"12,keyasint,omitempty"`
	Always  *Location         `cbor:"13,keyasint"`
	Places  []Location        `cbor:"14,keyasint,omitempty"`
	Inner   Location          `cbor:"15,keyasint,omitzero"`
	Beside  Location          `cbor:"16,keyasint"`
	Gone    string            `cbor:"-"`
	JSON    int64             `json:"of_json,omitempty"`
}

type oddInner struct {
	Within uint32 `cbor:"17,keyasint,omitempty"`
	Kind   Kind   `cbor:"18,keyasint"`
}

type packed struct {
	_ struct{} `cbor:",toarray"`
	A int
	B string
}

type holds struct {
	Empty  packed   `cbor:"1,keyasint"`
	List   []packed `cbor:"2,keyasint,omitempty"`
	Struct Location `cbor:"3,keyasint,omitempty"`
}

type hides struct {
	oddInner
	Within string `cbor:"17,keyasint"`
}

// fill gives a value, and all that is in it, chance values; many of them are zero, or empty.
func fill(v reflect.Value, rng *rand.Rand, depth int) {
	if rng.IntN(4) == 0 || !v.CanSet() {
		return
	}
	size := []int{0, 1, 3, 23, 24, 60, 300}[rng.IntN(7)]
	if depth > 2 {
		size = min(size, 2)
	}
	number := rng.Uint64() >> rng.IntN(64)
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(number))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(number)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(rng.NormFloat64() * float64(rng.IntN(3)))
	case reflect.String:
		v.SetString(string(bytes.Repeat([]byte("ä"), size)))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), size, size))
		for i := range size {
			fill(v.Index(i), rng, depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), rng, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range min(size, 5) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, rng, depth+1)
			fill(value, rng, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Pointer:
		if depth < 4 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), rng, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), rng, depth+1)
		}
	}
}

// What is written by the shape of its type is what the encoder of CBOR writes, to the byte: rows of older versions are compared with it, and a
// message is signed.
func TestShapesWriteWhatTheEncoderWrites(t *testing.T) {
	for seed := range seeds.Of(40, 4000) {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		for _, of := range []any{odd{}, holds{}, hides{}, packed{}, Entry{}, Lease{}, Job{}, Dispatch{}, Outcome{}, Site{}, NodeInfo{}, Trap{}} {
			v := reflect.New(reflect.TypeOf(of))
			fill(v.Elem(), rng, 0)
			want, err := encMode.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			for _, as := range []any{v.Interface(), v.Elem().Interface()} {
				if got, err := Marshal(as); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("seed %d: %T is written as\n%x, want\n%x, error %v", seed, as, got, want, err)
				}
			}
			if got, err := Append([]byte("before"), v.Interface()); err != nil || string(got) != "before"+string(want) {
				t.Fatalf("seed %d: %T behind something else is written as\n%x, want\n%x, error %v", seed, of, got, want, err)
			}
		}
	}
}

// What is written most is written by its shape.
func TestRowsHaveShapes(t *testing.T) {
	for _, of := range []any{Entry{}, Part{}, Outcome{}, Lease{}, Target{}, Site{}, Dispatch{}} {
		if s := shapeOf(reflect.TypeOf(of)); s.kind != shapeStruct {
			t.Errorf("%T is left to the encoder", of)
		}
	}
}

// Values that are no structs, and none at all, are encoded, too.
func TestMarshalOfAnything(t *testing.T) {
	for _, v := range []any{nil, 3, "text", []string{"a"}, map[uint32]bool{1: true}, (*Location)(nil), []Page{{}}} {
		want, _ := encMode.Marshal(v)
		if got, err := Marshal(v); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v is written as %x, want %x, error %v", v, got, want, err)
		}
	}
}
