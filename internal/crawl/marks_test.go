package crawl

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// plain are the types that reflection reads.
type (
	plainMarks []uint32
	plainKey   [16]byte
)

// What is read without reflection is what reflection reads, whatever a message holds.
func sameAsPlain(t *testing.T, b []byte) {
	var marks Marks
	if err := UnmarshalOfNode(b, &marks); err == nil {
		var want plainMarks
		if err := UnmarshalOfNode(b, &want); err != nil || !reflect.DeepEqual([]uint32(marks), []uint32(want)) {
			t.Errorf("%x: %v, want %v, %v", b, marks, want, err)
		}
	}
	var key Key
	if err := UnmarshalOfNode(b, &key); err == nil {
		var want plainKey
		if err := UnmarshalOfNode(b, &want); err != nil || plainKey(key) != want {
			t.Errorf("%x: %x, want %x, %v", b, key, want, err)
		}
	}
}

func FuzzMarks(f *testing.F) {
	for _, b := range [][]byte{{0xf6}, {0xf7}, {0x80}, {0x82, 1, 2}, {0x9f, 0xff}, {0x9f, 1, 0x19, 1, 2, 0xff}, {0x81, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0}, {0x81, 0xf6}, {0x98, 1, 0x18, 7}, {0x81, 0x80},
		{0x42, 1, 2}, {0x5f, 0x41, 1, 0xff}, {0x52, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, {0x62, 'a', 'b'}, {0xc2, 0x41, 1}, {0x20}, {0xff}, {}} {
		f.Add(b)
	}
	f.Fuzz(sameAsPlain)
}

// What is written is read.
func TestMarksComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 300 {
		o := Outcome{}
		for _, m := range []*Marks{&o.Sample, &o.Figures, &o.Pictures, &o.Names, &o.Numbers} {
			for range rng.IntN(n + 1) {
				*m = append(*m, rng.Uint32()>>rng.IntN(33))
			}
		}
		for i := range o.Key {
			o.Key[i] = byte(rng.Uint32())
		}
		o.Again = []Key{{}, o.Key}
		b, err := Marshal(&o)
		if err != nil {
			t.Fatal(err)
		}
		var got Outcome
		if err := UnmarshalOfNode(b, &got); err != nil || !reflect.DeepEqual(got, o) {
			t.Fatalf("%+v, want %+v, %v", got, o, err)
		}
		sameAsPlain(t, b[1:])
	}
	for _, b := range [][]byte{{0x81, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0}, {0x81, 0x20}, {0x81, 0x61, 'a'}, {0x61, 'a'}, {0xa0}} {
		if err := Unmarshal(b, &Marks{}); err == nil {
			t.Errorf("%x is read as marks", b)
		}
		if err := Unmarshal(b, &Key{}); err == nil {
			t.Errorf("%x is read as a key", b)
		}
	}
}

// A log of 0.1.0 says of a target only whether a mark is wanted.
func TestMarkOfTheFirstVersion(t *testing.T) {
	type target struct {
		URL  string `cbor:"2,keyasint"`
		Mark bool   `cbor:"8,keyasint"`
	}
	for _, c := range []struct {
		given any
		want  Mark
	}{
		{target{"a", true}, MarkMust}, {target{"a", false}, MarkNone},
		{Target{URL: "a", Mark: MarkTwice}, MarkTwice}, {Target{URL: "a", Mark: 200}, 200},
	} {
		b, err := Marshal(c.given)
		if err != nil {
			t.Fatal(err)
		}
		got := Target{Mark: MarkMay}
		if err := UnmarshalOfNode(b, &got); err != nil || got.URL != "a" || got.Mark != c.want {
			t.Errorf("%+v: %+v, %v", c.given, got, err)
		}
	}
	for _, b := range [][]byte{{0xa1, 8, 0x19, 1, 0}, {0xa1, 8, 0x20}, {0xa1, 8, 0x41, 1}, {0xa1, 8, 0x81, 1}} {
		if err := UnmarshalOfNode(b, new(Target)); err == nil {
			t.Errorf("%x is read", b)
		}
	}
}
