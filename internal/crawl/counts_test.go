package crawl

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sums and differences forget no field, and a tally's pending URLs are those of its counts.
func TestCounts(t *testing.T) {
	var one, two, sum Counts
	for i := range reflect.TypeFor[Counts]().NumField() {
		reflect.ValueOf(&one).Elem().Field(i).SetInt(int64(1) << (2 * i))
		reflect.ValueOf(&two).Elem().Field(i).SetInt(int64(3) << (3 * i))
		reflect.ValueOf(&sum).Elem().Field(i).SetInt(int64(1)<<(2*i) + int64(3)<<(3*i))
	}
	if got := one.Add(two); got != sum || sum.Sub(two) != one || sum.Sub(one) != two {
		t.Errorf("%+v and %+v are not %+v", one, two, got)
	}
	reasons := map[string]int64{"scope": 1}
	tally := TallyOf(Counts{Discovered: 5, Excluded: 1, Fetched: 1}, reasons)
	tally.Add(Counts{Discovered: 3, Failed: 1, Excluded: 1}, map[string]int64{"scope": 1, "timeout": 1})
	want := Tally{Counts{Discovered: 8, Excluded: 2, Fetched: 1, Failed: 1}, 4, map[string]int64{"scope": 2, "timeout": 1}}
	if d := cmp.Diff(want, tally); d != "" || len(reasons) != 1 || reasons["scope"] != 1 {
		t.Error(d, reasons)
	}
	// In binary they are the fields of what holds them.
	type holder struct {
		ID uint32 `cbor:"1,keyasint"`
		Counts
	}
	type flat struct {
		ID         uint32 `cbor:"1,keyasint"`
		Discovered int64  `cbor:"5,keyasint"`
		Overflow   int64  `cbor:"13,keyasint"`
	}
	b, err := Marshal(holder{7, Counts{Discovered: 5, Overflow: 2}})
	var got flat
	if err == nil {
		err = Unmarshal(b, &got)
	}
	if err != nil || got != (flat{7, 5, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
}
