package predict

import (
	"bytes"
	"math"
	"testing"
)

// told has a record of four nodes and so many sites hear a probe of each pair, and then a lease of one pair of each site. Each probe has waited.
func told(sites int, wait float64) (rec *Record, truth func(node, site int) float64) {
	rec = NewRecord()
	truth = func(node, site int) float64 { return 1e5 * math.Pow(10, float64((7*node+5*site)%11)/10) }
	for i := range 4 {
		rec.Node(string(rune('a' + i)))
	}
	for j := range sites {
		rec.Site(string(rune('A' + j)))
		for i := range 4 {
			rec.Crawled(i, j, 6e4, 6e4/truth(i, j)+wait, false, 1000)
		}
	}
	for j := range sites {
		rec.Reported(j%4, j, Report{Bits: 4 * truth(j%4, j), Seconds: 4, Good: 20, All: 20}, 3000)
	}
	return rec, truth
}

// What a probe waits is not its pair's slowness: pairs that were only probed are known as those that were crawled are, also
// where the probe came before anybody could know.
func TestProbesWait(t *testing.T) {
	rec, truth := told(12, 0.06)
	b := rec.Book(Config{})
	for j := range 12 {
		for i := range 4 {
			if off := math.Log(math.Exp(rec.lnRate(rec.look(i, j))) / truth(i, j)); math.Abs(off) > 0.05 {
				t.Errorf("pair %d %d is known as %.0f, and has %.0f", i, j, math.Exp(rec.lnRate(rec.look(i, j))), truth(i, j))
			}
			if bc, want := b.Crawl(i, j, 3000).Value, 6e4/(6e4/truth(i, j)+0.06); math.Abs(bc/want-1) > 1e-9 {
				t.Errorf("BC of pair %d %d is %.0f, and was measured as %.0f", i, j, bc, want)
			}
		}
	}
	again, code := restarted(t, rec)
	if x, y := again.lnRate(again.look(3, 0)), rec.lnRate(rec.look(3, 0)); x != y {
		t.Errorf("%v after a restart, %v before", x, y)
	}
	if twice, err := again.Encode(); err != nil || !bytes.Equal(code, twice) {
		t.Errorf("another record after a restart (%v)", err)
	}
}

// Where probes do not wait, and where few pairs have told of it, nothing is taken off.
func TestProbesDoNotWait(t *testing.T) {
	for _, c := range []struct {
		sites int
		wait  float64
	}{{12, 0}, {3, 0.06}} {
		if rec, _ := told(c.sites, c.wait); rec.ProbeWaits() > 1e-6 {
			t.Errorf("%d sites, probes that wait %v s: %v s are taken off", c.sites, c.wait, rec.ProbeWaits())
		}
	}
}

// What a probe takes longer because its node is busy is not what probes wait.
func TestBusyProbesTellNothing(t *testing.T) {
	rec := NewRecord()
	rec.Node("a")
	for j := range 12 {
		rec.Site(string(rune('A' + j)))
		rec.Crawled(0, j, 6e4, 0.06, false, 1000)
		rec.Crawled(0, j, 6e4, 0.30, true, 1000)
		rec.Crawled(0, j, 6e4, 0.30, true, 1000)
	}
	for j := range 12 {
		rec.Reported(0, j, Report{Bits: 4e6, Seconds: 4, Good: 20, All: 20}, 3000)
	}
	if got := rec.ProbeWaits(); got > 1e-6 {
		t.Errorf("%v s are taken off", got)
	}
}

// A busy node's probe that shows more than is known of its pair, without what it waited, counts.
func TestBusyProbesShowMore(t *testing.T) {
	rec, truth := told(12, 0.06)
	j := 1 // its pair with node 0 was only probed
	p := rec.look(0, j)
	was := p.rate.weight
	rec.Crawled(0, j, 6e4, 6e4/(1.05*truth(0, j))+0.06, true, 3000)
	if p.rate.weight == was {
		t.Error("it does not count")
	}
	was = p.rate.weight
	rec.Crawled(0, j, 6e4, 6e4/(0.8*truth(0, j))+0.06, true, 3000)
	if p.rate.weight != was {
		t.Error("one that shows less counts")
	}
}

// A probe's figures stay below what they are made of: some speed is left of one that did nothing but wait.
func TestProbesLeftOver(t *testing.T) {
	rec, _ := told(12, 0.06)
	if got := Worked(0.05, rec.ProbeWaits()); got != 0.05*(1-mostWaited) {
		t.Errorf("a probe of 50 ms has worked for %v s", got)
	}
}

// restarted returns a record as it is after a restart, and how it was written down.
func restarted(t *testing.T, rec *Record) (again *Record, code []byte) {
	t.Helper()
	code, err := rec.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err = DecodeRecord(code); err != nil {
		t.Fatal(err)
	}
	return again, code
}
