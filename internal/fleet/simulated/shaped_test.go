package simulated_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"argosy/internal/plan/lab"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

var shaped = flag.String("sim.shaped", "", "strategies, separated by spaces, that crawl a shaped web and are held against the simulator in the same world")

var (
	shapes  = flag.String("sim.shapes", "", "strategies, separated by spaces, under which fleets of many shapes are recorded and replayed, as recorded and under them")
	replays = flag.String("sim.replay", "", "strategies, separated by spaces, each of which is recorded in a shaped web and replayed under the others, and held against their own crawls")
	paired  = flag.String("sim.paired", "", "strategies, separated by spaces, each of which crawls the same small shaped webs, and is held against the first")
	lucky   = flag.String("sim.lucky", "", "strategies, separated by spaces, each of which crawls the same shaped webs several times: how far such crawls lie apart")
	chosen  = flag.String("sim.webs", "5 6 7", "seeds, separated by spaces, of the webs that are recorded for -sim.replay, -sim.lucky and -sim.advise")
	advised = flag.String("sim.advise", "", "strategies, separated by spaces: advice from the first half of a shaped crawl under each is held against its second half")
)

// shapedSeeds are the webs that strategies are compared in.
var shapedSeeds = []int{5, 6, 7}

// Strategies by their bare names crawl the same twenty sites with four nodes over links that differ tenfold and change midway,
// in simulated time, and the simulator runs them in the same worlds, and in those of the recordings: the rates are printed beside each
// other, as means over three such webs. It takes half a minute a strategy and runs when asked for.
func TestLiveAgainstSimulator(t *testing.T) {
	if *shaped == "" {
		t.Skip("asked for by -sim.shaped 'flow random'")
	}
	for _, spec := range strings.Fields(*shaped) {
		live, simulated, again, probes, delays := 0.0, 0.0, 0.0, 0, 0
		each := ""
		for _, seed := range shapedSeeds {
			w := shapedWeb{sites: 20, pages: 200, turn: 25 * time.Second, seed: seed}
			r := w.record(t, spec)
			bits, seconds := r.Reached()
			x := w.simulate(t, r, spec)
			live, simulated = live+bits/seconds/float64(len(shapedSeeds)), simulated+x/float64(len(shapedSeeds))
			again += replayed(t, r, spec) / float64(len(shapedSeeds))
			each += fmt.Sprintf(" %.1f/%.1f", bits/seconds/1e6, x/1e6)
			for i := range r.Facts {
				switch r.Facts[i].Kind {
				case learn.Crawl:
					probes++
				case learn.Delay:
					delays++
				}
			}
		}
		t.Logf("%-20s live %6.2f Mbit/s, simulated %6.2f, ratio %.2f, replayed %6.2f, ratio %.2f (each%s; %d probes, %d delays a crawl)", spec, live/1e6, simulated/1e6,
			simulated/live, again/1e6, again/live, each, probes/len(shapedSeeds), delays/len(shapedSeeds))
	}
}

// delays are what a recording measured of each pair's delay before or after its links changed, ms, the median.
func (w shapedWeb) delays(r sim.Recording, later bool) map[[2]string]float64 {
	start := int64(math.MaxInt64)
	for i := range r.Leases {
		start = min(start, r.Leases[i].Started)
	}
	all := map[[2]string][]float64{}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Delay && (f.At-start > w.turn.Milliseconds()-shapedBegan) == later {
			all[[2]string{f.Node, f.Site}] = append(all[[2]string{f.Node, f.Site}], 1000*f.Seconds)
		}
	}
	out := map[[2]string]float64{}
	for pair, ms := range all {
		out[pair] = netcoord.Median(ms)
	}
	return out
}

// shapedBegan is about how many ms after the beginning of a shaped web its first lease is.
const shapedBegan = 1500

// simulate is how fast a strategy is in the simulator where the links are as they were in truth, bits/s on average.
func (w shapedWeb) simulate(t *testing.T, r sim.Recording, spec string) (rate float64) {
	t.Helper()
	st, err := strategy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const runs = 8
	for seed := range uint64(runs) {
		world, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		links := func(later bool) func(x *sim.World) {
			delays := w.delays(r, later)
			return func(x *sim.World) {
				for i := range x.Nodes {
					for j := range x.Sites {
						x.Speed[i][j] = w.speed(x.Nodes[i].ID, x.Sites[j].Name, later)
						if ms, ok := delays[[2]string{x.Nodes[i].ID, x.Sites[j].Name}]; ok {
							x.Delay[i][j] = ms
						}
					}
				}
			}
		}
		links(false)(&world)
		world.Changes, world.Drifts = []sim.Change{{At: w.turn.Milliseconds() - shapedBegan, Apply: links(true)}}, true
		x, err := sim.Replay(world, st)
		if err != nil {
			t.Fatal(err)
		}
		rate += x.Rate / runs
	}
	return rate
}

// chosenWebs are the webs that recordings are made of.
func chosenWebs(t *testing.T) (out []shapedWeb) {
	t.Helper()
	for _, text := range strings.Fields(*chosen) {
		seed, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("-sim.webs: %v", err)
		}
		out = append(out, shapedWeb{sites: 12, pages: 150, turn: 12 * time.Second, seed: seed, light: 4})
	}
	return out
}

// Crawls of the same webs under the same strategy differ by chance: by how much says how near a replay can come. It runs when asked for.
func TestCrawlsOfLuck(t *testing.T) {
	const crawls = 4
	specs := strings.Fields(*lucky)
	if len(specs) == 0 {
		t.Skip("asked for by -sim.lucky 'flow random'")
	}
	for _, spec := range specs {
		square, each := 0.0, ""
		all := chosenWebs(t)
		for _, w := range all {
			var ln []float64
			for luck := range uint64(crawls) {
				w.luck = luck
				r := w.record(t, spec)
				bits, seconds := r.Reached()
				ln = append(ln, math.Log(bits/seconds))
				each += fmt.Sprintf(" %.3f", bits/seconds/1e6)
			}
			mean := 0.0
			for _, x := range ln {
				mean += x / crawls
			}
			for _, x := range ln {
				square += (x - mean) * (x - mean) / (crawls - 1) / float64(len(all))
			}
			each += ";"
		}
		off := math.Sqrt(square)
		t.Logf("%-16s one crawl is %.1f %% off the web's mean (standard deviation), two differ by %.1f %%; of means over %d webs %.1f %%:%s",
			spec, 100*off, 100*off*math.Sqrt2, len(all), 100*off*math.Sqrt2/math.Sqrt(float64(len(all))), each)
	}
}

// Every strategy's crawl of a shaped web is replayed under every other one, which has crawled the same web: rates are printed beside each
// other for each pair, as means over the webs (three, if nothing else is asked for). It runs when asked for.
func TestReplayOfOthers(t *testing.T) {
	specs := strings.Fields(*replays)
	if len(specs) < 2 {
		t.Skip("asked for by -sim.replay 'flow random'")
	}
	was, is := map[string]float64{}, map[[2]string]float64{}
	all := chosenWebs(t)
	for _, w := range all {
		for _, spec := range specs {
			r := w.record(t, spec)
			bits, seconds := r.Reached()
			was[spec] += bits / seconds / float64(len(all))
			for _, other := range specs {
				is[[2]string{spec, other}] += replayed(t, r, other) / float64(len(all))
			}
		}
	}
	held, pairs := 0, 0
	for _, spec := range specs {
		for _, other := range specs {
			ratio := is[[2]string{spec, other}] / was[other]
			t.Logf("recorded under %-16s replayed under %-16s %6.3f Mbit/s, crawled under it %6.3f, ratio %.2f", spec, other, is[[2]string{spec, other}]/1e6, was[other]/1e6, ratio)
			if other != spec {
				pairs++
				if math.Abs(ratio-1) <= 0.2 {
					held++
				}
			}
		}
	}
	t.Logf("%d of %d pairs of different strategies are within 20 %%", held, pairs)
}

// Strategies crawl the same smaller webs, more of them than are replayed, and are held against the first of them web by web. It
// runs when asked for.
func TestCrawlsPaired(t *testing.T) {
	const webs = 16
	specs := strings.Fields(*paired)
	if len(specs) == 0 {
		t.Skip("asked for by -sim.paired 'flow greedy'")
	}
	rates := make([][]float64, len(specs))
	for seed := range webs {
		for k, spec := range specs {
			r := shapedWeb{sites: 12, pages: 150, turn: 12 * time.Second, seed: seed, light: 4}.record(t, spec)
			bits, seconds := r.Reached()
			rates[k] = append(rates[k], bits/seconds/1e6)
		}
	}
	for k, spec := range specs {
		apart := make([]float64, webs)
		for i := range apart {
			apart[i] = rates[k][i] - rates[0][i]
		}
		mean, off := interval(rates[k])
		more, offMore := interval(apart)
		t.Logf("%-20s %.3f ± %.3f Mbit/s, %+.3f ± %.3f against %s", spec, mean, off, more, offMore, specs[0])
	}
}

// interval is the mean of sixteen figures, and half the width of its 95 % interval by Student's t.
func interval(of []float64) (mean, half float64) {
	const student = 2.131 // 15 degrees of freedom
	square := 0.0
	for _, x := range of {
		mean += x / float64(len(of))
	}
	for _, x := range of {
		square += (x - mean) * (x - mean) / float64(len(of)-1)
	}
	return mean, student * math.Sqrt(square/float64(len(of)))
}

// Advice from the first half of a crawl over links that stay as they are is held against its second half, and against crawls: of the same web under each of
// the strategies that it is about, and without each node. It runs when asked for.
func TestAdviceAgainstSecondHalf(t *testing.T) {
	specs := strings.Fields(*advised)
	if len(specs) == 0 {
		t.Skip("asked for by -sim.advise 'flow random'")
	}
	for _, w := range chosenWebs(t) {
		w.sites, w.pages, w.turn = 20, 250, time.Hour
		real := map[string]float64{} // by strategies, and by strategies and nodes that are left out
		crawled := func(spec, without string) float64 {
			key := spec + " " + without
			if real[key] == 0 {
				other := w
				other.without = without
				r := other.record(t, spec)
				bits, seconds := r.Reached()
				real[key] = bits / seconds
			}
			return real[key]
		}
		for _, spec := range specs {
			first, second := halves(w.record(t, spec))
			a, err := lab.Advise(t.Context(), &first, 4, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			b, err := lab.Advise(t.Context(), &second, 4, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			name, best := a.Strategies[0].Strategy, a.Strategies[0].Strategy
			for _, x := range a.Strategies {
				if crawled(x.Strategy, "") > crawled(best, "") {
					best = x.Strategy
				}
			}
			top, _ := b.Strategies[0].Rate()
			in, _ := b.Strategies[slices.IndexFunc(b.Strategies, func(x lab.Replays) bool { return x.Strategy == name })].Rate()
			t.Logf("%s, web %d: advised %s, which has %.2f of the best (%s) in the second half; crawled under it %.2f of the best (%s), %.2f of what ran", spec, w.seed,
				name, in/top, b.Strategies[0].Strategy, crawled(name, "")/crawled(best, ""), best, crawled(name, "")/crawled(spec, ""))
			lost := func(node string) float64 { return 1 - crawled(name, node)/crawled(name, "") }
			least := a.Drops[0].Node
			for _, d := range a.Drops {
				if lost(d.Node) < lost(least) {
					least = d.Node
				}
			}
			drop := b.Drops[slices.IndexFunc(b.Drops, func(d lab.Drop) bool { return d.Node == a.Drops[0].Node })]
			t.Logf("  without %s, which is missed least, it loses %.0f ± %.0f %%, in the second half %.0f %%, in crawls %.0f %%; there %s is missed least, %.0f %%; %d of 4 nodes, in the second half %d",
				drop.Node, 100*a.Drops[0].Loss, 200*a.Drops[0].Spread, 100*drop.Loss, 100*lost(drop.Node), least, 100*lost(least), a.Reserved(), b.Reserved())
		}
	}
}

// The halves of a recording have what it had, each in the sites that it still works on: who replays the second one can reach what it had.
func TestHalvesAreWhole(t *testing.T) {
	r := shapedWeb{sites: 6, pages: 60, turn: time.Hour, seed: 3, light: 8}.record(t, "roundrobin")
	first, second := halves(r)
	sum := func(r sim.Recording) (leases, facts float64) {
		for i := range r.Leases {
			leases += r.Leases[i].Bits
		}
		for i := range r.Facts {
			if r.Facts[i].Kind == learn.Report {
				facts += r.Facts[i].Bits
			}
		}
		return leases, facts
	}
	for name, half := range map[string]sim.Recording{"first": first, "second": second} {
		leases, facts := sum(half)
		_, all := sum(r)
		if math.Abs(facts/all-0.5) > 0.1 || math.Abs(leases/facts-1) > 0.1 {
			t.Errorf("the %s half has %.2f of what was told of, and leases that had %.2f of that", name, facts/all, leases/facts)
		}
		bits, seconds := half.Reached()
		if ratio := replayed(t, half, sim.AsRecorded) * seconds / bits; math.Abs(ratio-1) > 0.35 {
			t.Errorf("the %s half is replayed as recorded at %.2f of its rate", name, ratio)
		}
	}
}

// Second halves of crawls under flow replay themselves at their own rate: what the first half has measured is known in them, and pairs that were
// left for it are as slow as they were. By day it is one web, at night six.
func TestLongSecondHalves(t *testing.T) {
	off, webs := 0.0, of(1, 6)
	for k := range webs {
		w := shapedWeb{sites: 20, pages: 250, turn: time.Hour, seed: []int{404, 401, 402, 403, 405, 406}[k], light: 4}
		_, second := halves(w.record(t, "flow"))
		bits, seconds := second.Reached()
		ratio := replayed(t, second, "flow") * seconds / bits
		t.Logf("web %d: replayed at %.2f of its rate", w.seed, ratio)
		if off += (ratio - 1) / float64(webs); math.Abs(ratio-1) > 0.2 {
			t.Errorf("web %d: the second half is replayed at %.2f of its rate", w.seed, ratio)
		}
	}
	if math.Abs(off) > 0.1 {
		t.Errorf("second halves are replayed at %.2f of their rates", 1+off)
	}
}

// halves cuts a recording when half of its pages' bits have been had. What is had in the second half is left in the first, and what the first has
// measured is known in the second.
func halves(r sim.Recording) (first, second sim.Recording) {
	bits, had, mid := 0.0, 0.0, int64(0)
	for i := range r.Facts {
		if r.Facts[i].Kind == learn.Report {
			bits += r.Facts[i].Bits
		}
	}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Report && had < bits/2 {
			had, mid = had+f.Bits, f.At
		}
	}
	first, second = r, r
	first.Facts, second.Facts, first.Leases, second.Leases, first.Looks, second.Looks = nil, nil, nil, nil, nil, nil
	second.Before = slices.Clone(r.Before)
	first.Left = map[string]float64{}
	for site, n := range r.Left {
		first.Left[site] = n
	}
	for i := range r.Facts {
		f := &r.Facts[i]
		if f.At < mid {
			first.Facts, second.Before = append(first.Facts, *f), append(second.Before, *f)
		} else if f.Kind == learn.Report {
			first.Left[f.Site] += f.All
		}
		if f.At >= mid || f.Kind == learn.Store || f.Kind == learn.Distance {
			second.Facts = append(second.Facts, *f)
		}
	}
	for _, l := range r.Looks {
		if l.Ended < mid {
			first.Looks = append(first.Looks, l)
		} else if l.Started >= mid {
			second.Looks = append(second.Looks, l)
		}
	}
	for _, l := range r.Leases {
		if before := hadBefore(r, &l, mid); before > 0 {
			x := parted(l, before)
			x.Ended = min(l.Ended, mid)
			first.Leases = append(first.Leases, x)
		}
		if after := 1 - hadBefore(r, &l, mid); after > 0 {
			x := parted(l, after)
			x.Started = max(l.Started, mid)
			second.Leases = append(second.Leases, x)
		}
	}
	return first, second
}

// hadBefore is the share of a lease's requests that were told of before a time.
func hadBefore(r sim.Recording, l *sim.RecordedLease, mid int64) float64 {
	switch {
	case l.Ended <= mid:
		return 1
	case l.Started >= mid:
		return 0
	}
	before, all := 0.0, 0.0
	for i := range r.Facts {
		f := &r.Facts[i]
		if f.Kind != learn.Report || f.Node != l.Node || f.Site != l.Site || f.At <= l.Started || f.At > l.Ended {
			continue
		}
		if all += f.All; f.At < mid {
			before += f.All
		}
	}
	if all == 0 {
		return 0
	}
	return before / all
}

// parted is a share of what a lease did.
func parted(l sim.RecordedLease, share float64) sim.RecordedLease {
	for _, x := range []*float64{&l.Worked, &l.Given, &l.Asked, &l.Good, &l.Bits} {
		*x *= share
	}
	return l
}
