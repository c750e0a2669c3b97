package sim

import "testing"

// The same seed gives the same counts; repetitions are impossible with one queue; shares are shares.
func TestFocus(t *testing.T) {
	for seed := range uint64(5) {
		for _, mode := range []FocusMode{Alone, Paper, Lots, Central} {
			f := DefaultFocus(seed)
			a, err := f.Run(mode)
			if err != nil {
				t.Fatal(err)
			}
			b, err := f.Run(mode)
			if err != nil || a != b {
				t.Errorf("two runs differ: %+v, %+v (%v)", a, b, err)
			}
			if a.Visited == 0 || a.OnTopic > a.Visited || a.Distinct != a.Saved || a.Saved+a.Repeated != a.OnTopic || a.Distinct > a.Relevant {
				t.Errorf("mode %d: %+v", mode, a)
			}
			if mode == Central && a.Repeated > 0 || mode == Alone && a.Trades > 0 {
				t.Errorf("mode %d: %+v", mode, a)
			}
		}
	}
}

// Over many webs the market helps the crawlers to use what ability they have left, and lots more so.
func TestMarketHelps(t *testing.T) {
	found := map[FocusMode]int{}
	trades := 0
	for seed := range uint64(40) {
		for _, mode := range []FocusMode{Alone, Paper, Lots} {
			r, err := DefaultFocus(seed).Run(mode)
			if err != nil {
				t.Fatal(err)
			}
			found[mode] += r.Distinct
			if mode == Paper {
				trades += r.Trades
			}
		}
	}
	t.Logf("distinct relevant pages: alone %d, market %d, lots %d; %d trades", found[Alone], found[Paper], found[Lots], trades)
	if trades == 0 {
		t.Error("nothing was ever traded")
	}
}
