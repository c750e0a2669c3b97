package crawl

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"argosy/internal/testkit/seeds"
)

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

// report is an entry of a node with chance values, of which there are few from a depth of 3 on, and what a crawl that has no topic and asks no
// search says.
func report(rng *rand.Rand, depth int) *Entry {
	e := &Entry{Version: WireVersion, Kind: EntryParts, Node: "n", Incarnation: "i"}
	fill(reflect.ValueOf(&e.Parts).Elem(), rng, depth)
	fill(reflect.ValueOf(&e.Refills).Elem(), rng, depth)
	if rng.IntN(3) == 0 {
		fill(reflect.ValueOf(&e.Leases).Elem(), rng, depth)
	}
	for i := range e.Parts {
		for k := range e.Parts[i].Outcomes {
			o := &e.Parts[i].Outcomes[k]
			o.Owner, o.Gen, o.Again, o.Walled, o.Answered = 0, 0, nil, nil, nil
		}
		for k := range e.Parts[i].Found {
			for n := range e.Parts[i].Found[k].Links {
				l := &e.Parts[i].Found[k].Links[n]
				l.Next, l.Counted = false, false
			}
		}
	}
	for i := range e.Refills {
		e.Refills[i].Again, e.Refills[i].Got = false, 0
		for k := range e.Refills[i].Targets {
			t := &e.Refills[i].Targets[k]
			t.Owner, t.Gen, t.Off, t.Score, t.Whole, t.Chain, t.Again = 0, 0, 0, 0, false, nil, false
		}
	}
	return e
}

// readsAlike reports whether an entry is read without the library, and fails if that is not what the library reads.
func readsAlike(t *testing.T, b []byte) bool {
	t.Helper()
	got, quick := quickEntry(b)
	if !quick {
		return false
	}
	var want Entry
	if err := UnmarshalOfNode(b, &want); err != nil {
		t.Fatalf("%x is read as\n%+v, and the library says %v", b, got, err)
	}
	as, err := Marshal(got)
	if is, bad := Marshal(want); err != nil || bad != nil || !bytes.Equal(as, is) { // a figure that is no number is not equal to itself
		t.Fatalf("%x is read as\n%+v, want\n%+v, %v, %v", b, got, want, err, bad)
	}
	return true
}

// What is read without the library is what the library reads, whatever of a message was changed, and what nodes report most is read so.
func TestReportsAreReadAsTheLibraryReadsThem(t *testing.T) {
	for seed := range seeds.Of(12, 2000) {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		e := report(rng, 1+2*rng.IntN(2))
		b, err := Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if !readsAlike(t, b) {
			t.Fatalf("seed %d: the library has to read\n%+v", seed, e)
		}
		var want Entry
		if err := UnmarshalOfNode(b, &want); err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeEntry(b); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %+v was read as\n%+v, want\n%+v, %v", seed, e, got, want, err)
		}
		for range 100 {
			odd := bytes.Clone(b[:len(b)-rng.IntN(2)*rng.IntN(len(b))])
			for range rng.IntN(3) {
				odd[rng.IntN(len(odd))] = byte(rng.Uint32())
			}
			readsAlike(t, odd)
		}
		any := &Entry{}
		fill(reflect.ValueOf(any).Elem(), rng, 0)
		if b, err = Marshal(any); err != nil {
			t.Fatal(err)
		}
		readsAlike(t, b)
	}
}

func FuzzQuick(f *testing.F) {
	for seed := range uint64(16) {
		b, err := Marshal(report(rand.New(rand.NewPCG(seed, 2)), 3))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readsAlike(t, b) })
}
