package frontier

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
	"argosy/internal/testkit/seeds"
)

// script makes a log at random: a job, grants, parts with links and outcomes, repeats, gaps, recalls and restarts. It
// plays the coordinator and the agents against a view, so that what it logs is what they could have logged.
func script(t *testing.T, seed uint64, n int, depth int) []crawl.Entry {
	t.Helper()
	f := open(t, vfs.NewMem())
	defer f.Close()
	rng := rand.New(rand.NewPCG(seed, 0))
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	job.Limits.MaxDepth = depth
	for s := range 3 {
		job.Identity.Seeds = append(job.Identity.Seeds, fmt.Sprintf("http://s%d.test/", s))
	}
	log := []crawl.Entry{{Kind: crawl.EntryTerm, Epoch: 1}, {Kind: crawl.EntrySubmit, Epoch: 1, Job: job}}
	epoch, leaseNo := uint64(1), uint64(0)
	held := map[uint64][]crawl.Target{}
	parts := map[uint64]uint32{}
	secret := func(id uint64) string { return fmt.Sprint("secret", id) }
	apply := func(from int) {
		for i := from; i < len(log); i++ {
			fx, err := f.Apply(uint64(i+1), int64(1000*i), &log[i])
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range fx.Granted {
				held[l.ID] = append(held[l.ID], l.Targets...)
			}
		}
	}
	apply(0)
	for len(log) < n {
		at := len(log)
		switch rng.IntN(11) {
		case 10: // a person tries again what failed, or what is lost
			r := &crawl.Release{Job: 1}
			if rng.IntN(2) == 0 {
				r.Lost = some(t, rng, f)
			}
			log = append(log, crawl.Entry{Kind: crawl.EntryRetry, Epoch: epoch, Release: r})
		case 0, 1, 2: // grant
			for id := uint32(1); id <= 3; id++ {
				if tk := f.Task(id); tk != nil && tk.Leases() == 0 && tk.Queued() > 0 {
					ts, err := f.Next(id, 1+rng.IntN(8))
					if err != nil {
						t.Fatal(err)
					}
					leaseNo++
					l := crawl.Lease{ID: leaseNo, Job: 1, Task: id, Site: tk.Site, Node: "n", Incarnation: "i", Epoch: epoch, Attempt: tk.Attempts + 1, Secret: secret(leaseNo), Quota: 100, Targets: ts}
					log = append(log, crawl.Entry{Kind: crawl.EntryGrant, Epoch: epoch, Leases: []crawl.Lease{l}})
					break
				}
			}
		case 3: // recall
			for id := range leaseNo {
				if f.Lease(id+1) != nil && rng.IntN(3) == 0 {
					log = append(log, crawl.Entry{Kind: crawl.EntryRecall, Epoch: epoch, Recalls: []crawl.Recall{{Lease: id + 1, Reason: "test", Counts: rng.IntN(9) == 0}}})
					break
				}
			}
		case 4: // a new term
			epoch++
			log = append(log, crawl.Entry{Kind: crawl.EntryTerm, Epoch: epoch})
		default: // a part, sometimes of a lease that was recalled
			if leaseNo == 0 {
				continue
			}
			id := 1 + rng.Uint64N(leaseNo)
			log = append(log, crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{part(rng, f, id, secret(id), held, parts)}})
		}
		apply(at)
	}
	return log
}

// some returns a few URLs of a view, in any state, one of them twice.
func some(t *testing.T, rng *rand.Rand, f *Frontier) (out []crawl.Page) {
	t.Helper()
	err := f.URLs(1, func(u URL) error {
		if rng.IntN(4) == 0 {
			out = append(out, crawl.Page{Key: u.Key})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > 0 {
		out = append(out, out[0])
	}
	return out
}

// part makes a part of a lease: some outcomes of its URLs, with links to a few dozen pages a site.
func part(rng *rand.Rand, f *Frontier, id uint64, secret string, held map[uint64][]crawl.Target, parts map[uint64]uint32) crawl.Part {
	l := f.leases[id]
	p := crawl.Part{Lease: id, Secret: secret, No: parts[id] + 1, Site: &crawl.SiteChange{SinceStartMS: int64(rng.IntN(500))}}
	if l != nil {
		p.Attempt, p.Epoch = l.Attempt, l.Epoch
	}
	switch rng.IntN(8) {
	case 0:
		p.No += 1 + uint32(rng.IntN(2)) // a gap: must be ignored
		return p
	case 1:
		p.No = max(1, parts[id]) // a repeat
		return p
	case 2:
		p.Secret = "forged"
		return p
	}
	parts[id]++
	n := min(len(held[id]), rng.IntN(4))
	for _, g := range held[id][:n] {
		found := crawl.Found{Parent: g.Key}
		for range rng.IntN(5) {
			found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://s%d.test/p%c", rng.IntN(4), 'a'+rune(rng.IntN(26))), Redirect: rng.IntN(9) == 0})
		}
		if rng.IntN(4) == 0 {
			found.Omitted = map[crawl.Kind]int64{crawl.ReasonTrapLength: rng.Int64N(3), crawl.ReasonTrapMap: rng.Int64N(3)}
		}
		p.Found = append(p.Found, found)
		o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: rng.IntN(4) > 0, Revisit: rng.IntN(4) == 0, Bytes: rng.Int64N(100), Timing: [6]int32{0, 900, 0, 0, 5000, 70}}
		if g.Mark != crawl.MarkNone {
			o.Shows, o.Sample = 1+rng.Uint64N(20), []uint32{rng.Uint32N(8), rng.Uint32N(30)}
		}
		p.WorkedUS += rng.Int64N(1e6)
		switch rng.IntN(6) {
		case 0:
			o.State, o.Reason = crawl.Failed, crawl.KindReset
		case 1:
			o.State, o.Reason = crawl.Retry, crawl.KindTimeout
		}
		p.Outcomes = append(p.Outcomes, o)
	}
	held[id] = held[id][n:]
	p.Final = len(held[id]) == 0 && rng.IntN(2) == 0
	return p
}

func open(t *testing.T, fs vfs.FS) *Frontier {
	t.Helper()
	return openSmall(t, fs, 1000, 1000)
}

// openSmall opens a view that has few records at hand and commits soon in long walks.
func openSmall(t *testing.T, fs vfs.FS, recent, spill int) *Frontier {
	t.Helper()
	f, err := Open(Config{Dir: "f", FS: fs, Cache: 1 << 20, Recent: recent, Spill: spill})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dump is everything a view says.
func dump(t *testing.T, f *Frontier) (out []string) {
	t.Helper()
	err := f.each(nil, func(k, v []byte) error {
		out = append(out, fmt.Sprintf("%q=%x", k, v))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// check proves what must hold of every view: counts add up, every pending URL is in its queue or in exactly one lease,
// and no other URL is.
func check(t *testing.T, f *Frontier) {
	t.Helper()
	where := map[crawl.Key]int{}
	queued, held := map[uint32]int64{}, map[uint64]int64{}
	err := f.each([]byte{'q'}, func(k, v []byte) error {
		where[crawl.Key(v)]++
		queued[uint32(k[1])<<24|uint32(k[2])<<16|uint32(k[3])<<8|uint32(k[4])]++
		return nil
	})
	if err == nil {
		err = f.each([]byte{'h'}, func(k, _ []byte) error {
			where[crawl.Key(k[9:])]++
			held[uint64(k[8])|uint64(k[7])<<8]++
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	count := map[uint32]map[crawl.State]int64{}
	err = f.URLs(1, func(u URL) error {
		if count[u.Task] == nil {
			count[u.Task] = map[crawl.State]int64{}
		}
		count[u.Task][u.State]++
		want := 0
		if u.State == crawl.Pending {
			want = 1
		}
		if where[u.Key] != want {
			t.Errorf("%s is %s and in %d places", u.URL, u.State, where[u.Key])
		}
		if !u.State.Final() && u.State != crawl.Pending {
			t.Errorf("%s is in state %d", u.URL, u.State)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	weight := map[uint32]*Task{}
	err = f.each(jobURLs(1), func(_, v []byte) error {
		r, err := decodeRecord(v)
		if err == nil && r.State.Final() && r.State != crawl.Excluded {
			if weight[r.Task] == nil {
				weight[r.Task] = &Task{}
			}
			weight[r.Task].weigh(r, 1)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Tasks(func(tk *Task) {
		c := count[tk.ID]
		if w := weight[tk.ID]; w != nil && (w.Bytes != tk.Bytes || w.Pages != tk.Pages || w.Duplicates != tk.Duplicates) {
			t.Errorf("task %d counts %d bytes, %d pages, %d duplicates, its URLs %d, %d, %d", tk.ID, tk.Bytes, tk.Pages, tk.Duplicates, w.Bytes, w.Pages, w.Duplicates)
		}
		if c[crawl.Pending] != tk.Pending() || c[crawl.Fetched] != tk.Fetched || c[crawl.Failed] != tk.Failed || c[crawl.Excluded]+tk.Omitted != tk.Excluded {
			t.Errorf("task %d counts %+v, its URLs %v", tk.ID, tk.Counts, c)
		}
		if queued[tk.ID] != tk.Queued() {
			t.Errorf("task %d has %d URLs in its queue, counts %d", tk.ID, queued[tk.ID], tk.Queued())
		}
	})
	f.Leases(func(l *Lease) {
		if held[l.ID] != l.Held {
			t.Errorf("lease %d holds %d URLs, counts %d", l.ID, held[l.ID], l.Held)
		}
	})
}

// The same log gives the same view, byte for byte, and every view on the way is sound.
func TestDeterministicAndSound(t *testing.T) {
	for seed := range seeds.Of(8, 100) {
		log := script(t, seed, 150, int(seed%5)-1)
		var views [2][]string
		for i := range views {
			f := openSmall(t, vfs.NewMem(), 1+999*i, 1000) // also with hardly any record at hand
			for s := range log {
				if _, err := f.Apply(uint64(s+1), int64(1000*s), &log[s]); err != nil {
					t.Fatal(err)
				}
				if i == 0 && s%10 == 0 {
					check(t, f)
				}
			}
			views[i] = dump(t, f)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(views[0], views[1]); d != "" {
			t.Fatalf("seed %d: two views of one log differ:\n%s", seed, d)
		}
	}
}

// Power is cut at random moments: what was synced is there, what was not may be there in part, and applying the log
// from the view's position leads to the view that an undisturbed run has.
func TestPowerLoss(t *testing.T) {
	for seed := range seeds.Of(4, 100) {
		log := script(t, 100+seed, 120, int(seed%4)-1)
		calm := open(t, vfs.NewMem())
		for s := range log {
			if _, err := calm.Apply(uint64(s+1), int64(1000*s), &log[s]); err != nil {
				t.Fatal(err)
			}
		}
		want := dump(t, calm)
		if err := calm.Close(); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewCrashableMem()
		f := open(t, fs)
		synced, cuts := uint64(0), 0
		for f.Position().Seq < uint64(len(log)) {
			s := f.Position().Seq
			if _, err := f.Apply(s+1, int64(1000*s), &log[s]); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(7) == 0 {
				if err := f.Sync(); err != nil {
					t.Fatal(err)
				}
				synced = f.Position().Seq
			}
			if cuts < 10 && rng.IntN(9) == 0 {
				cuts++
				clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				fs = clone
				f = open(t, fs)
				if got := f.Position().Seq; got < synced {
					t.Fatalf("seed %d: position %d after a cut, %d was synced", seed, got, synced)
				}
				check(t, f)
			}
		}
		if d := cmp.Diff(want, dump(t, f)); d != "" {
			t.Fatalf("seed %d: the view after %d cuts differs:\n%s", seed, cuts, d)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// lastGrant gives every site a lease.
func lastGrant(t *testing.T, log []crawl.Entry, epoch uint64) crawl.Entry {
	t.Helper()
	f := open(t, vfs.NewMem())
	defer f.Close()
	for s := range log {
		if _, err := f.Apply(uint64(s+1), int64(1000*s), &log[s]); err != nil {
			t.Fatal(err)
		}
	}
	e := crawl.Entry{Kind: crawl.EntryGrant, Epoch: epoch}
	for _, id := range f.sortedTasks(1, nil) {
		ts, err := f.Next(id, 6)
		if err != nil {
			t.Fatal(err)
		}
		e.Leases = append(e.Leases, crawl.Lease{
			ID: 1000 + uint64(id), Job: 1, Task: id, Site: f.Task(id).Site, Node: "n", Incarnation: "i", Epoch: epoch, Quota: 100, Targets: ts,
		})
	}
	return e
}

// lowered is an entry that gives the job of a log other limits.
func lowered(log []crawl.Entry, epoch uint64, depth int, sitePages int64) crawl.Entry {
	job := crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}
	for _, e := range log {
		if e.Kind == crawl.EntrySubmit {
			job = *e.Job
		}
	}
	job.Limits.MaxDepth, job.Limits.SitePages = depth, sitePages
	return crawl.Entry{Kind: crawl.EntryLimits, Epoch: epoch, Job: &job}
}

// What walks through very many URLs commits in between. Power is cut at each of these moments: the entry is applied again,
// and leads to the view that an undisturbed run has, which had everything in one batch.
func TestPowerLossInLongWalks(t *testing.T) {
	all := 0
	rounds := seeds.Of(4, 100)
	for seed := range rounds {
		log := script(t, 200+seed, 120, int(seed%4)-1)
		epoch := uint64(1)
		for i := range log {
			epoch = max(epoch, log[i].Epoch)
		}
		log = append(log, lowered(log, epoch, 0, 0), lowered(log, epoch, -1, 3), lowered(log, epoch, 1, 0),
			crawl.Entry{Kind: crawl.EntryRetry, Epoch: epoch, Release: &crawl.Release{Job: 1}})
		log = append(log, lastGrant(t, log, epoch),
			crawl.Entry{Kind: crawl.EntryDrop, Epoch: epoch, Release: &crawl.Release{Job: 1, Tasks: []uint32{1}, Why: "test"}},
			crawl.Entry{Kind: crawl.EntryState, Epoch: epoch, State: &crawl.JobState{Job: 1, State: crawl.JobCancelled}})
		calm := open(t, vfs.NewMem())
		for s := range log {
			if _, err := calm.Apply(uint64(s+1), int64(1000*s), &log[s]); err != nil {
				t.Fatal(err)
			}
		}
		check(t, calm)
		want := dump(t, calm)
		if err := calm.Close(); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		cuts := 0
		fs := vfs.NewCrashableMem()
		f := openSmall(t, fs, 3, 2)
		for f.Position().Seq < uint64(len(log)) {
			var cut *vfs.MemFS
			f.spilled = func() {
				if cut == nil && rng.IntN(4) == 0 && cuts < 50 {
					cuts++
					if err := f.Sync(); err != nil { // it may have reached the disk
						t.Error(err)
					}
					cut = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
				}
			}
			s := f.Position().Seq
			if _, err := f.Apply(s+1, int64(1000*s), &log[s]); err != nil {
				t.Fatal(err)
			}
			if cut != nil {
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				fs = cut
				f = openSmall(t, fs, 3, 2)
			}
		}
		all += cuts
		check(t, f)
		if d := cmp.Diff(want, dump(t, f)); d != "" {
			t.Fatalf("seed %d: the view after %d cuts differs:\n%s", seed, cuts, d)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if all < int(rounds/2) {
		t.Errorf("the power was cut %d times: the walks are too short", all)
	}
}

// How long a job has run is told by what nodes report as well: where leases are long, grants are rare.
func TestRanGoesOn(t *testing.T) {
	f := open(t, vfs.NewMem())
	defer f.Close()
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}
	seq := uint64(0)
	apply := func(second int64, e crawl.Entry) {
		t.Helper()
		seq++
		if _, err := f.Apply(seq, second*1000, &e); err != nil {
			t.Fatal(err)
		}
	}
	apply(1, crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	apply(1, crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	l := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "x", Quota: 9}
	apply(4, crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{l}, Ran: 3 * time.Second})
	for n, c := range []struct{ at, want int64 }{{6, 3}, {14, 13}, {17, 13}, {34, 33}, {3600, 93}} { // seconds
		apply(c.at, crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{Lease: 1, Secret: "x", No: uint32(n + 1), Attempt: 1, Epoch: 1}}})
		if got := f.Job(1).RanMS; got != c.want*1000 {
			t.Errorf("a report at %d s: the job has run for %d ms, not %d s", c.at, got, c.want)
		}
	}
}

// A log whose clock is set back by an hour keeps no site from being asked for that hour, in whatever stream it goes on; and again.
func TestClockThatIsSetBack(t *testing.T) {
	const hour = 3_600_000
	f := open(t, vfs.NewMem())
	defer f.Close()
	at := int64(100 * hour)
	apply := func(e crawl.Entry) {
		t.Helper()
		e.Epoch = 1
		if _, err := f.Apply(f.Position().Seq+1, at, &e); err != nil {
			t.Fatal(err)
		}
	}
	apply(crawl.Entry{Kind: crawl.EntryTerm})
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}
	apply(crawl.Entry{Kind: crawl.EntrySubmit, Job: job})
	for no := range uint64(3) {
		targets, err := f.Next(1, 1)
		if err != nil || len(targets) != 1 {
			t.Fatal(targets, err)
		}
		apply(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{{ID: no + 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1, Targets: targets}}})
		apply(crawl.Entry{Kind: crawl.EntryRecall, Recalls: []crawl.Recall{{Lease: no + 1, Reason: crawl.EndDrained}}})
		was := f.Steady(at)
		if at -= hour; no == 1 {
			if err := f.Rebase("another", 0); err != nil {
				t.Fatal(err)
			}
		}
		apply(crawl.Entry{Kind: crawl.EntryMark})
		ready := polite.ReadyAt(f.Job(1).PaceAt("s.test"), f.Site("s.test"))
		if now := f.Steady(at + 2000); now < was || now < ready {
			t.Errorf("set back %d times: it is %d, was %d, and the site rests until %d", no+1, now, was, ready)
		}
		at += 2000
	}
	if j := f.Job(1); j.StartMS != 100*hour {
		t.Errorf("the job began at %d", j.StartMS)
	}
}
