package term

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/testkit/seeds"
)

// The world of the property: one site, a log, an owner that may be replaced, and nodes whose clocks differ. Time is in steps of 10 ms
// of the truth, which nobody knows.
type world struct {
	rng    *rand.Rand
	now    time.Duration
	spans  Spans
	log    []fact
	skew   time.Duration // of the log's clock
	owner  owner
	nodes  []*party
	mail   []letter
	asked  []request
	counts struct{ grants, silent, dead, late, frozen, replaced int }
	lives  int
}

const step = 10 * time.Millisecond

// shortest is how long the fastest letter takes: how old one is can be told but for that.
const shortest = 50 * time.Millisecond

// fact is an entry of the log.
type fact struct {
	at       int64 // by the log's clock
	stored   time.Duration
	kind     byte // g: grant, r: recall, p: part, f: refill
	lease    int
	node     int
	life     int
	progress bool
	final    bool
	no       int
}

// owner is the coordinator: what it knows follows from the log, and from what it hears.
type owner struct {
	base     time.Duration // its clock is this much ahead of the truth
	frozen   time.Duration // until then
	clock    Clock
	hearing  Hearing
	contacts map[int]*known
	applied  int
	lease    int // that is open, 0 for none
	node     int
	life     int
	progress int64
	parts    int
	sent     time.Time
	heard    bool // a part of the lease has come
	leases   int
	await    int // entries of the log before it acts: what it appended is applied first
}

type known struct {
	Contact
	life int
}

// party is a node, and its holder.
type party struct {
	id, life int
	base     time.Duration
	frozen   time.Duration
	cut      time.Duration // from the log, both ways, until then
	renewed  time.Duration
	hold     *Holder
	lease    int
	last     int  // lease that it has run last
	stuck    bool // its requests bring nothing
	busy     time.Duration
	report   *fact // on its way
	arrives  time.Duration
	stored   bool
	cutAt    time.Time
	bytes    bool
	no       int
}

type letter struct {
	at    time.Duration
	sent  time.Duration
	to    int
	life  int
	kind  byte // l: lease, r: recall, f: refill
	lease int
	age   time.Duration // of the lease's term when it was sent
}

type request struct {
	from, to time.Duration
	lease    int
}

var epoch = time.Unix(1_700_000_000, 0)

func (w *world) time(base time.Duration) time.Time { return epoch.Add(w.now + base) }

func (w *world) chance(n int) bool { return w.rng.IntN(n) == 0 }

func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d) + 1)) }

// post sends a letter to a node: it may be lost, come late, or twice.
func (w *world) post(l letter) {
	l.sent = w.now
	for range 1 + w.rng.IntN(2) {
		if !w.chance(5) {
			l.at = w.now + w.upTo(w.spans.Term/20)
			if w.chance(4) {
				l.at = w.now + w.upTo(w.delays())
			}
			w.mail = append(w.mail, l)
		}
	}
}

// age is how old the lease's term is, as the owner knows it.
func (w *world) age() time.Duration {
	o := &w.owner
	return Age(w.time(o.base), o.clock.Local(o.progress))
}

// delays is how late a letter may come.
func (w *world) delays() time.Duration { return 2 * w.spans.Term }

func (w *world) append(f fact) {
	f.at, f.stored = epoch.Add(w.now+w.skew).UnixMilli(), w.now
	w.log = append(w.log, f)
}

// apply has the owner apply what it has not, unless that is still on its way to it.
func (w *world) apply() {
	o := &w.owner
	now := w.time(o.base)
	for o.applied < len(w.log) {
		f := w.log[o.applied]
		if w.now-f.stored < 2*step && o.applied >= o.await {
			return
		}
		o.applied++
		o.clock.Saw(f.at, now)
		switch f.kind {
		case 'g':
			o.lease, o.node, o.life, o.progress, o.parts, o.heard = f.lease, f.node, f.life, f.at, 0, false
			o.leases = f.lease
			o.sent = now
			w.post(letter{to: f.node, life: f.life, kind: 'l', lease: f.lease, age: w.age()})
		case 'f':
			if f.lease == o.lease {
				o.progress = f.at
				w.post(letter{to: o.node, life: o.life, kind: 'f', lease: f.lease, age: w.age()})
			}
		case 'r':
			if f.lease == o.lease {
				w.post(letter{to: o.node, life: o.life, kind: 'r', lease: f.lease})
				o.lease = 0
			}
		case 'p':
			if k := o.contacts[f.node]; k != nil {
				k.Hear(now, o.hearing.Trouble())
			}
			switch {
			case f.lease != o.lease:
				w.post(letter{to: f.node, life: f.life, kind: 'r', lease: f.lease})
				w.counts.late++
			case f.no == o.parts+1:
				o.parts, o.heard = f.no, true
				if f.progress {
					o.progress = f.at
				}
				if f.final {
					o.lease = 0
				} else if w.chance(4) {
					w.append(fact{kind: 'f', lease: f.lease})
				}
			}
		}
	}
}

// own is a turn of the owner.
func (w *world) own() {
	o := &w.owner
	if w.now < o.frozen {
		return
	}
	w.apply()
	now := w.time(o.base)
	o.hearing.Turn(now)
	if o.applied < len(w.log) || o.applied < o.await {
		return
	}
	for id, k := range o.contacts {
		if k.Gone(now) {
			delete(o.contacts, id)
		}
	}
	if o.lease == 0 {
		if len(o.contacts) > 0 && w.chance(20) {
			id := w.rng.IntN(len(w.nodes))
			if k := o.contacts[id]; k != nil {
				w.counts.grants++
				w.append(fact{kind: 'g', lease: o.leases + 1, node: id, life: k.life})
				o.await = len(w.log)
			}
		}
		return
	}
	if !o.heard && now.Sub(o.sent) > w.spans.Resend() {
		o.sent = now
		w.post(letter{to: o.node, life: o.life, kind: 'l', lease: o.lease, age: w.age()})
	}
	signs := Signs{Progress: o.clock.Local(o.progress), Trouble: o.hearing.Trouble()}
	if k := o.contacts[o.node]; k != nil {
		signs.Node, signs.Other = &k.Contact, k.life != o.life
	}
	v := Judge(w.spans, now, signs)
	if v == Goes {
		return
	}
	if !o.hearing.Sound(now, uint64(o.applied)) {
		w.append(fact{kind: 'm'})
		o.await = len(w.log)
		o.hearing.Mark(uint64(o.await), now, now.Add(w.upTo(time.Second)), w.spans.Recall())
		return
	}
	if v == Silent {
		w.counts.silent++
	} else {
		w.counts.dead++
	}
	w.append(fact{kind: 'r', lease: o.lease})
	o.await = len(w.log)
}

// replace puts another owner in the place of this one, which knows only the log.
func (w *world) replace() {
	w.counts.replaced++
	w.owner = owner{base: w.upTo(time.Hour), contacts: map[int]*known{}}
	o := &w.owner
	now := w.time(o.base)
	for _, f := range w.log {
		switch {
		case f.kind == 'g':
			o.lease, o.node, o.life, o.progress, o.parts, o.leases = f.lease, f.node, f.life, f.at, 0, f.lease
		case f.lease != o.lease:
		case f.kind == 'f':
			o.progress = f.at
		case f.kind == 'r' || f.kind == 'p' && f.final && f.no == o.parts+1:
			o.lease = 0
		case f.kind == 'p' && f.no == o.parts+1:
			o.parts = f.no
			if f.progress {
				o.progress = f.at
			}
		}
		o.clock.Saw(f.at, now)
	}
	o.applied, o.hearing.Began = len(w.log), now
}

// hear has a node renew its registration, and a report reach the log.
func (w *world) line(n *party) {
	if w.now < n.cut {
		return
	}
	if w.now-n.renewed >= Renew && w.now >= n.frozen {
		n.renewed = w.now
		if w.now >= w.owner.frozen || w.chance(2) {
			o := &w.owner
			k := o.contacts[n.id]
			if k == nil || k.life != n.life {
				k = &known{life: n.life}
				o.contacts[n.id] = k
			}
			k.Seen = w.time(o.base)
			k.Hear(k.Seen, o.hearing.Trouble())
		}
	}
	if n.report != nil && !n.stored && w.now >= n.arrives {
		for range 1 + w.rng.IntN(2) { // an answer that was lost has it sent twice
			w.append(*n.report)
		}
		n.stored, n.arrives = true, w.now+w.upTo(w.spans.Term/10)
		if w.chance(20) {
			n.arrives += w.upTo(2 * w.spans.Term)
		}
	}
}

// run is a turn of a node's holder.
func (w *world) run(n *party) {
	if w.now < n.frozen || n.hold == nil {
		return
	}
	now := w.time(n.base)
	h := n.hold
	if n.stored && w.now >= n.arrives {
		late := h.Late(now)
		if late {
			h.StoreLate(n.cutAt)
			h.End = max(h.End, Ending)
		} else {
			h.Store(n.cutAt, n.report.progress)
		}
		if n.report.final {
			n.hold = nil
		}
		n.report, n.stored = nil, false
		if n.hold == nil {
			return
		}
	}
	if n.busy <= w.now {
		if n.busy > 0 && !n.stuck {
			n.bytes = true
		}
		n.busy = 0
		if h.End == Open && w.chance(3) {
			if !h.MayAsk(now) {
				h.End = Ending
			} else {
				n.busy = w.now + w.upTo(w.spans.Fetch)
				w.ask(request{w.now, n.busy, n.lease})
			}
		}
	}
	if h.Still(now) && h.End == Open && n.busy > 0 && !n.bytes {
		h.End = Abandoned
		n.hold, n.report, n.stored, n.busy = nil, nil, false, 0
		return
	}
	if n.report == nil && (n.bytes && w.chance(5) || h.Quiet(now, false) || h.End == Ending && n.busy == 0) {
		n.no++
		n.report = &fact{kind: 'p', lease: n.lease, node: n.id, life: n.life, progress: n.bytes, no: n.no, final: h.End == Ending && n.busy == 0}
		n.arrives, n.cutAt, n.bytes = w.now+w.upTo(w.spans.Term/20), now, false
		if w.chance(20) {
			n.arrives += w.upTo(w.spans.Term)
		}
	}
}

// ask notes a request.
func (w *world) ask(r request) { w.asked = append(w.asked, r) }

// twice returns two requests of different leases that are under way at once.
func (w *world) twice() string {
	slices.SortFunc(w.asked, func(a, b request) int { return int(a.from - b.from) })
	var last request
	for _, r := range w.asked {
		if r.from < last.to && r.lease != last.lease {
			return fmt.Sprintf("lease %d asks from %v to %v, lease %d from %v", last.lease, last.from, last.to, r.lease, r.from)
		}
		if r.to > last.to || r.lease != last.lease {
			last = r
		}
	}
	return ""
}

// deliver hands letters over.
func (w *world) deliver() {
	w.mail = slices.DeleteFunc(w.mail, func(l letter) bool {
		n := w.nodes[l.to]
		if l.at > w.now || w.now < n.frozen || w.now < n.cut {
			return l.at <= w.now && w.now-l.sent > w.delays() // what waits at the bus is thrown away when it is old
		}
		if n.life != l.life {
			return true
		}
		since := w.time(n.base).Add(-l.age - max(0, w.now-l.sent-shortest))
		switch {
		case l.kind == 'l' && n.hold == nil && l.lease > n.last:
			h := Hold(w.spans, since)
			n.hold, n.lease, n.last, n.no, n.busy, n.bytes, n.report, n.stored = &h, l.lease, l.lease, 0, 0, false, nil, false
			n.stuck = w.chance(3)
		case l.kind == 'f' && n.hold != nil && n.lease == l.lease:
			n.hold.Refill(since, false, 0)
		case l.kind == 'r' && n.hold != nil && n.lease == l.lease:
			n.hold, n.report, n.stored, n.busy = nil, nil, false, 0
		}
		return true
	})
}

// trouble freezes, cuts off, kills and replaces at random.
func (w *world) trouble() {
	far := 3 * w.spans.Term
	for _, n := range w.nodes {
		switch {
		case w.chance(4000):
			n.frozen = w.now + w.upTo(far)
			w.counts.frozen++
		case w.chance(4000):
			n.cut = w.now + w.upTo(far)
		case w.chance(8000): // killed: what it had asked for ends with it
			w.lives++
			for i := range w.asked {
				if w.asked[i].lease == n.lease {
					w.asked[i].to = min(w.asked[i].to, w.now)
				}
			}
			*n = party{id: n.id, life: w.lives, base: w.upTo(time.Hour), renewed: w.now - Renew}
		}
	}
	switch {
	case w.chance(6000):
		w.owner.frozen = w.now + w.upTo(far)
	case w.chance(6000):
		w.replace()
	}
}

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 14)), lives: 3}
	limits := crawl.DefaultLimits()
	limits.RecycleAfter = leastTerm + w.upTo(10*time.Second)
	limits.Fetch.ConnectTimeout = w.upTo(5 * time.Second)
	w.spans = Of(&limits)
	w.skew = w.upTo(2*time.Hour) - time.Hour
	for i := range 3 {
		w.nodes = append(w.nodes, &party{id: i, life: i, base: w.upTo(2*time.Hour) - time.Hour, renewed: -Renew})
	}
	w.replace()
	return w
}

// However messages are lost, delayed and repeated, whoever is frozen, cut off, killed or replaced, and whatever the clocks say: two
// holders of leases of one site never ask it at the same time.
func TestNeverTwoHolders(t *testing.T) {
	var sum world
	rounds := int(seeds.Of(60, 3000))
	for seed := range uint64(rounds) {
		w := newWorld(seed)
		for w.now = 0; w.now < 5*time.Minute; w.now += step {
			w.trouble()
			w.deliver()
			w.own()
			for _, n := range w.nodes {
				w.line(n)
				w.run(n)
			}
		}
		if what := w.twice(); what != "" {
			t.Fatalf("seed %d, %+v: %s", seed, w.spans, what)
		}
		sum.counts.grants += w.counts.grants
		sum.counts.silent += w.counts.silent
		sum.counts.dead += w.counts.dead
		sum.counts.late += w.counts.late
		sum.counts.replaced += w.counts.replaced
	}
	t.Logf("%+v", sum.counts)
	if c := sum.counts; c.grants < 3*rounds || c.silent < rounds || c.dead < rounds || c.late < rounds || c.replaced < rounds {
		t.Errorf("too little happens: %+v", c)
	}
}
