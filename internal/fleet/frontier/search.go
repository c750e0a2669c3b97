package frontier

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// Search is what is kept of a search of a virtual task, in the task that asks for its result pages. What it has named is counted
// here, whichever task fetches it: a page that several searches name is fetched once, and counts for each.
type Search struct {
	crawl.Search
	No        uint32       `cbor:"20,keyasint"` // in its job, from 1
	Stated    crawl.Stated `cbor:"21,keyasint"`
	Found     int64        `cbor:"22,keyasint,omitempty"` // pages on its site that its result pages have named, each where it redirects to
	Collected int64        `cbor:"23,keyasint,omitempty"` // of them: answered with a status below 300
	Lost      int64        `cbor:"24,keyasint,omitempty"` // of them: failed, refused, or answered with another status
	Read      int64        `cbor:"25,keyasint,omitempty"` // result pages
	Subtasks  int64        `cbor:"26,keyasint,omitempty"`
	Node      string       `cbor:"27,keyasint,omitempty"` // that runs it; what it names is the same node's
	Told      bool         `cbor:"30,keyasint,omitempty"` // it is settled, and what nodes did is a fact
	Why       string       `cbor:"31,keyasint,omitempty"` // of its last move from one queue to another
	Moved     int64        `cbor:"32,keyasint,omitempty"` // when that was, Unix ms
	Stop      string       `cbor:"33,keyasint,omitempty"` // why there is no further result page
	Barren    int          `cbor:"34,keyasint,omitempty"` // result pages in a row that named no new address on its site
	Loss      string       `cbor:"36,keyasint,omitempty"` // why the last page was lost
	Off       int64        `cbor:"37,keyasint,omitempty"` // results that are not on its site, or nothing that can be fetched
	Aside     string       `cbor:"38,keyasint,omitempty"` // where the first one of another site lies

	Stuck  uint32           `cbor:"41,keyasint,omitempty"` // task that fetches what it has named and waits for a person; 0: none does
	Shared map[uint32]int64 `cbor:"46,keyasint,omitempty"` // pages that it has named and other searches' tasks were to fetch by then, by these searches

	Trail learn.Trail     `cbor:"39,keyasint,omitempty"` // what nodes have done for it
	Said  map[string]said `cbor:"40,keyasint,omitempty"` // by node: what of that is in facts

	Waits waits `cbor:"44,keyasint,omitempty"` // what it waits for a person for, if it does
	Gone  bool  `cbor:"45,keyasint,omitempty"` // the last page that was lost is not there any more: nobody can do anything about that
}

// waits is what a search waits for a person for.
type waits uint8

const (
	waitsAsWhy waits = iota // what its last move says
	waitsVain               // none of the pages that it has named could be had
	waitsStuck              // a task that fetches what it has named waits for a person (Search.Stuck)
)

// Left is how many of the pages that it named are still to be had.
func (s *Search) Left() int64 { return s.Found - s.Collected - s.Lost }

// searchName is a search of a job.
type searchName struct{ job, no uint32 }

// Searching returns the task that asks for the result pages of a search; nil: there is none.
func (f *Frontier) Searching(job, no uint32) *Task { return f.tasks[f.searches[searchName{job, no}]] }

// SearchCounts adds up the searches of a job.
type SearchCounts struct {
	All       int   `json:"all"`
	Done      int   `json:"done"`
	Failed    int   `json:"failed"` // they wait to be tried again
	Manual    int   `json:"manual"`
	Dropped   int   `json:"dropped"`
	Found     int64 `json:"found"`     // pages that they name, of each what it names
	Collected int64 `json:"collected"` // of them
}

// Add returns the sum of two.
func (c SearchCounts) Add(d SearchCounts) SearchCounts {
	return SearchCounts{
		All: c.All + d.All, Done: c.Done + d.Done, Failed: c.Failed + d.Failed, Manual: c.Manual + d.Manual, Dropped: c.Dropped + d.Dropped,
		Found: c.Found + d.Found, Collected: c.Collected + d.Collected,
	}
}

// SearchCounts adds up the searches of a job.
func (f *Frontier) SearchCounts(job uint32) (c SearchCounts) {
	j := f.jobs[job]
	if j == nil || j.Identity.Collect == nil {
		return c
	}
	for no := range j.Identity.Collect.Searches {
		t := f.Searching(job, uint32(no+1))
		if t == nil {
			continue
		}
		c.All++
		c.Found, c.Collected = c.Found+t.Of.Found, c.Collected+t.Of.Collected
		switch t.Status() {
		case crawl.TaskDone:
			c.Done++
		case crawl.TaskFailed:
			c.Failed++
		case crawl.TaskManual:
			c.Manual++
		case crawl.TaskDropped:
			c.Dropped++
		}
	}
	return c
}

// awaitKey says that a search waits for a URL.
func awaitKey(k recKey, no uint32) []byte { return binary.BigEndian.AppendUint32(awaitsOf(k), no) }

func awaitsOf(k recKey) []byte {
	b := urlKey(k)
	b[0] = 'a'
	return b
}

// seekers makes a task of every search of a job, in their order. The result pages of each are in a layer of their own: what another
// search names, and what another one asks for, is another URL although its address is the same.
func (x *tx) seekers(j *Job) error {
	for i := range j.Identity.Collect.Searches {
		s := &j.Identity.Collect.Searches[i]
		u, err := crawl.Parse(s.URL)
		if err != nil {
			return err
		}
		no := uint32(i + 1)
		t := x.taskNamed(taskName{space: space{j.ID, crawl.Layer{Owner: no}}, site: u.Site(), search: no, asks: true})
		t.Of, t.Seed = &Search{Search: *s, No: no, Moved: x.at, Why: "submitted"}, true
		x.f.searches[searchName{j.ID, no}] = t.ID
		x.clocked(t)
		if err := x.resultPage(t, u, &record{Flags: crawl.FlagSeed}); err != nil {
			return err
		}
	}
	return nil
}

// clocked notes a task that has its site keep one clock for all nodes: one that fetches pages, or asks an engine which does not allow
// more, or one for pages of its own host.
func (f *Frontier) clocked(t *Task) {
	if t.Of == nil || !f.jobs[t.Job].Engine(t.Of.Engine).Each || t.Of.aboutItself(t.Site) {
		f.oneClock[t.Site] = true
	}
}

// aboutItself reports whether a search is restricted to the host that it asks, or to a domain of which that is a part.
func (s *Search) aboutItself(asked string) bool {
	about, _, _ := strings.Cut(s.Site, "/")
	return about != "" && (asked == about || strings.HasSuffix(asked, "."+about))
}

// clocked is Frontier.clocked; leases that go by clocks of their own until then are to end.
func (x *tx) clocked(t *Task) {
	was := x.f.oneClock[t.Site]
	if x.f.clocked(t); was || !x.f.oneClock[t.Site] {
		return
	}
	x.f.Leases(func(l *Lease) {
		if l.Site == t.Site && l.From != "" {
			x.fx.Joined = append(x.fx.Joined, l)
		}
	})
}

// ByAddress reports whether each source address asks a task's site by a clock of its own: its engine allows it, and nobody asks that site
// for anything else.
func (f *Frontier) ByAddress(t *Task) bool { return t.Of != nil && !f.oneClock[t.Site] }

// resultPage puts a result page into the queue of its search; one that was asked for is not asked again.
func (x *tx) resultPage(t *Task, u crawl.URL, r *record) error {
	k := recKey{t.space(), u.Key()}
	switch old, err := x.record(k.space, k.key); {
	case err != nil:
		return err
	case old != nil:
		return nil
	}
	x.news++
	r.URL, r.State, r.Task, r.dirty = u.String(), crawl.Pending, t.ID, true
	x.remember(k, r)
	t.Discovered++
	return x.enqueue(t, k.key, r)
}

// collects applies the links of a page of a job that collects: of a result page those to results and to the next one, of
// another page where it redirects to.
func (x *tx) collects(j *Job, t *Task, p *crawl.Found) error {
	parent, err := x.record(t.space(), p.Parent)
	if parent == nil || err != nil {
		return err
	}
	seeker := x.f.Searching(t.Job, t.Search)
	if seeker == nil {
		return nil
	}
	x.tasks[seeker.ID] = seeker
	var on showed
	for i := range p.Links {
		l := &p.Links[i]
		u, err := crawl.Parse(l.URL)
		if err != nil {
			continue
		}
		switch {
		case l.Next && t.Of != nil && u.Site() == t.Site:
			if !l.Redirect {
				on.off = x.off[p.Parent]
				why := seeker.Of.over(l.Counted, on)
				if most := j.Identity.Collect.Most; why == "" && most > 0 && seeker.Of.Read+1 >= most {
					why = fmt.Sprintf("%d result pages were read (virtual.max_pages)", most)
				}
				if why != "" {
					seeker.Of.Stop = why
					continue
				}
			}
			r := &record{Parent: p.Parent, Depth: parent.Depth + 1}
			if l.Redirect {
				r.Depth, r.Hops = parent.Depth, parent.Hops+1
			}
			err = x.resultPage(t, u, r)
		case t.Of != nil && !l.Next:
			var fresh bool
			if fresh, err = x.awaits(j, t, u, &record{Parent: p.Parent}); fresh {
				on.fresh++
			}
			on.named++
		case l.Redirect && !l.Next:
			if err = x.add(j, t, p.Parent, u, x.child(parent, p.Parent, u, l)); err == nil && parent.State == crawl.Pending {
				err = x.moved(recKey{t.space(), p.Parent}, recKey{t.space(), u.Key()})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// showed is what a result page has shown.
type showed struct {
	named int // results on the search's site,
	fresh int // and of them such that no earlier page has named, by their addresses: what becomes of these when they are fetched is another thing
	off   int // results elsewhere
}

// maxBarren is how many result pages in a row may show nothing new on a search's site: what they show elsewhere is not remembered, so
// an engine that repeats that is not known from one that has more.
const maxBarren = 10

// over says why there is no use in a further result page, which was counted or is named by the last one: that one showed what is known and
// nothing else, the last ones nothing new on the search's site, or all that the engine states is found. Empty: it is to be read.
func (s *Search) over(counted bool, on showed) string {
	if s.Barren++; on.fresh > 0 {
		s.Barren = 0
	}
	switch {
	case on.named > 0 && on.fresh+on.off == 0:
		return "nothing new on its result pages"
	case s.Barren >= maxBarren:
		return fmt.Sprintf("nothing new on its site on the last %d result pages", maxBarren)
	case counted && s.Stated.Kind == crawl.StatedExact && s.Found == s.Stated.N:
		return "all that the engine states"
	}
	return ""
}

// showsOff takes down how many results elsewhere the result pages of a part have: their links do not tell.
func (x *tx) showsOff(p *crawl.Part) {
	x.off = nil
	for i := range p.Outcomes {
		if a := p.Outcomes[i].Answered; a != nil && a.Off > 0 {
			if x.off == nil {
				x.off = map[crawl.Key]int{}
			}
			x.off[p.Outcomes[i].Key] = a.Off
		}
	}
}

// answered takes in what a result page has said.
func (x *tx) answered(j *Job, t *Task, l *Lease, o *crawl.Outcome) {
	a, s := o.Answered, t.Of
	if s.Stated.GivesWay(a.Stated) {
		s.Stated = a.Stated
	}
	s.Stated = s.Stated.Shown(s.Found) // pages of several leases refute it together
	why := a.Verdict
	if a.Reason != "" {
		why += ": " + a.Reason
	}
	switch a.Verdict {
	case crawl.AnswerFailed:
		triedAgain(x.site(t.Site)) // once it has rested
	case crawl.AnswerFound, crawl.AnswerEmpty:
		s.Read++
		s.Off += int64(a.Off)
		s.Aside = cmp.Or(s.Aside, a.Aside)
		if a.Stop != "" {
			s.Stop = a.Stop
		}
		t.forgive()
		return
	case crawl.AnswerChanged, crawl.AnswerRefused:
		t.State = crawl.TaskManual
	case crawl.AnswerDenied:
		t.State = crawl.TaskManual
		x.stops(t, why)
	}
	switch rest := time.Duration(o.Retryable) * time.Millisecond; {
	case rest >= crawl.MaxRetryAfter && rest > j.Identity.Collect.Rest: // nobody waits so long
		why += fmt.Sprintf("; it asks to be left alone for %.0f hours or longer", crawl.MaxRetryAfter.Hours())
		t.State = crawl.TaskManual
		x.stops(t, why)
	case rest > 0:
		why += "; its engine rests until " + time.UnixMilli(x.at).Add(rest).UTC().Format("2006-01-02 15:04:05")
	}
	if t.State != crawl.TaskManual {
		x.recycle(t, l, why)
		return
	}
	x.fails(t, l.Node)
	x.note(t, fmt.Sprintf("attempt %d on %s: %s", t.attempt(l), l.Node, why))
	x.moves(t, t.last())
}

// stops has all searches wait for a person that wait for the same engine.
func (x *tx) stops(of *Task, why string) {
	for _, t := range x.f.jobs[of.Job].tasks {
		if t != of && t.Of != nil && t.Site == of.Site && t.State == "" && t.Pending() > 0 && len(t.leases) == 0 {
			t.State = crawl.TaskManual
			x.tasks[t.ID] = t
			x.moves(t, "another search: "+why)
		}
	}
}

// moves remembers why a search went from one queue to another.
func (x *tx) moves(t *Task, why string) {
	if t.Of != nil {
		t.Of.Why, t.Of.Moved, t.Of.Waits = why, x.at, waitsAsWhy
	}
}

// halts has a search wait for a person.
func (x *tx) halts(t *Task, of waits, why string) {
	t.State = crawl.TaskManual
	x.note(t, why)
	x.moves(t, t.last())
	t.Of.Waits = of
}

// runs notes which node runs a search from now on: the one that asks for its result pages, or the one that fetches what it has named
// after the one that asked has failed with that.
func (x *tx) runs(t *Task, l *Lease) {
	seeker := x.f.Searching(t.Job, t.Search)
	if t.Search == 0 || seeker == nil || l.Resolve || l.Probe != "" {
		return
	}
	s := seeker.Of
	if t.Of == nil && (s.Node == l.Node || !slices.Contains(t.Avoid, s.Node)) {
		return
	}
	if x.tasks[seeker.ID] = seeker; s.Node != l.Node {
		s.Node, s.Told = l.Node, false
		x.did(seeker, learn.Step{Node: l.Node, Runs: true})
	}
	if t.Of == nil {
		if seeker.State != "" { // others have named the same, and wait for it
			return
		}
		x.moves(seeker, fmt.Sprintf("%s fetches what it has named on %s: its node has failed there", l.Node, t.Site))
		return
	}
	s.Subtasks++
	s.Told = false
	x.moves(t, fmt.Sprintf("attempt %d on %s, up to %d result pages in %d s", t.attempt(l), l.Node, l.Quota, l.BudgetMS/1000))
}

// settleSearches tells of searches that have nothing left to ask and nothing left to wait for, in the order of their tasks.
func (x *tx) settleSearches() {
	var searches []*Task
	for _, t := range x.tasks {
		if t.Of != nil {
			searches = append(searches, t)
		}
	}
	slices.SortFunc(searches, func(a, b *Task) int { return cmp.Compare(a.ID, b.ID) })
	for _, t := range searches {
		x.stuck(t)
		if s := t.Of; !s.Told && s.Node != "" && t.Pending() == 0 && s.Left() == 0 && len(t.leases) == 0 {
			x.tell(t, true)
			x.over(t)
			s.Told = true
		}
	}
}

// over notes what has become of a search that has nothing left to ask and to wait for. One that was dropped stays so.
func (x *tx) over(t *Task) {
	s := t.Of
	if t.State == crawl.TaskDropped {
		return
	}
	if t.State == crawl.TaskManual && s.Waits == waitsVain {
		t.State = "" // other searches have named the same pages, and a person has had them asked for again
	}
	if t.State == "" && s.Found > 0 && s.Collected == 0 && !s.Gone {
		x.halts(t, waitsVain, "nothing of what it has named could be had: "+s.brought())
		return
	}
	x.moves(t, "done: "+s.brought())
}

// brought says in words what a search has come to.
func (s *Search) brought() string {
	why := fmt.Sprintf("%s; %d of %d collected", cmp.Or(s.Stop, "no further result page"), s.Collected, s.Found)
	if s.Lost > 0 && s.Loss != "" {
		why += ", the last loss: " + s.Loss
	}
	if s.Off > 0 {
		why += "; " + s.off()
	}
	return why
}

// off says how many results do not count.
func (s *Search) off() string {
	where := "nothing that can be fetched"
	if s.Aside != "" {
		where = fmt.Sprintf("not on %s (but, say, on %s)", s.Site, s.Aside)
	}
	if s.Off == 1 {
		return "1 result is " + where
	}
	return fmt.Sprintf("%d results are %s", s.Off, where)
}

// withTargets adds to tasks those that fetch what their searches have named.
func (f *Frontier) withTargets(ids []uint32) []uint32 {
	named := map[searchName]bool{}
	for _, id := range ids {
		if t := f.tasks[id]; t.Of != nil {
			named[searchName{t.Job, t.Search}] = true
		}
	}
	if len(named) == 0 {
		return ids
	}
	in := map[uint32]bool{}
	for _, id := range ids {
		in[id] = true
	}
	var more []uint32
	for id, t := range f.tasks {
		if !in[id] && t.Of == nil && named[searchName{t.Job, t.Search}] {
			more = append(more, id)
		}
	}
	slices.Sort(more)
	return append(ids, more...)
}

// NamedBy calls fn for every search of a job that has named a URL.
func (f *Frontier) NamedBy(job uint32, key crawl.Key, fn func(*Search)) error {
	prefix := awaitsOf(recKey{space{job: job}, key})
	return f.each(prefix, func(k, _ []byte) error {
		if t := f.Searching(job, binary.BigEndian.Uint32(k[len(prefix):])); t != nil {
			fn(t.Of)
		}
		return nil
	})
}
