package schedule

import (
	"fmt"
	"reflect"
	"testing"
)

// full is a decision of which every field is set, over so many candidates.
func full(candidates int) *Decision {
	d := &Decision{
		At: 1_700_000_000_000, Job: 2, Task: 3, Lease: 1<<32 | 4, Attempt: 5, Site: "s.test", Strategy: "flow", Cost: "seconds", Unit: "s", Solver: "flow",
		Node: "n1", Waits: ReasonCapacity, Probe: ProbeDelay, Why: WhyWorth, Omitted: 7, Passed: &Passed{Node: "n0", Places: 4, Taken: 4, Held: []string{"x.test"}, By: []string{"y.test"}, Place: .5, Bandwidth: .25},
		Filtered: []Filtered{{"n9", "type", ReasonType, "x"}},
		Measured: &Measured{Bandwidth: 1}, Known: []Known{{Node: "n1"}}, Shadow: &Shadowed{Strategy: "random", Node: "n2"},
	}
	for i := range candidates {
		c := Candidate{Node: fmt.Sprint("n", i)}
		if cost := float64(i) * 1.1; i > 0 {
			c.Cost = &cost
		}
		for _, name := range []string{"rate", "load", "latency", "loss", "price"} {
			c.Parts = append(c.Parts, Part{name, "Mbit/s", float64(i) / 3, .7, "predicted"})
		}
		d.Candidates = append(d.Candidates, c)
	}
	return d
}

// A decision that is packed comes back but for what is known otherwise, and takes little.
func TestPackedDecisionsComeBack(t *testing.T) {
	want := full(keepCandidates)
	for i, v := 0, reflect.ValueOf(*want); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Fatalf("%s is not set here: it must come back, or be among those that do not", v.Type().Field(i).Name)
		}
	}
	b, err := want.Pack()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(b)
	want.Measured, want.Known, want.Shadow = nil, nil, nil
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if len(b) > 3000 {
		t.Errorf("%d bytes of %d candidates", len(b), keepCandidates)
	}
	for n := range b {
		_, _ = Unpack(b[:n]) // which must not panic
	}
}

func BenchmarkPack(b *testing.B) {
	d := full(8)
	for range b.N {
		if p, err := d.Pack(); err != nil || len(p) == 0 {
			b.Fatal(err)
		}
	}
	p, _ := d.Pack()
	b.ReportMetric(float64(len(p)), "B/decision")
}
