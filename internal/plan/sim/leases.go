package sim

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// draw is the speed of a path for one lease, around the pair's mean.
func (e *engine) draw(node, site int) float64 {
	s := e.w.Speed[node][site] * math.Exp(e.w.Noise*e.rng.NormFloat64()-e.w.Noise*e.w.Noise/2)
	if l := e.w.Sites[site].Limit; l > 0 {
		s = min(s, l)
	}
	return s
}

// redraw gives a lease the speed of its path.
func (e *engine) redraw(l *lease) {
	if l.stuck {
		l.pace, l.speed = 0, 0
		return
	}
	l.pace = e.draw(l.node, l.site)
	if l.probe {
		e.oneByOne(l)
		return
	}
	l.speed = e.w.paced(l.pace, l.site)
}

// leastOfProbe is which share of the time that a lease would take for as many bits a probe takes at least.
const leastOfProbe = 0.1

// oneByOne gives a bandwidth probe the speed of requests that wait for each other, with the site's pauses.
func (e *engine) oneByOne(l *lease) {
	each := (l.done + l.left) / crawl.ProbeTries
	if l.pace > 0 {
		took := each / l.pace
		wait := 0.0
		if e.w.Waits != nil {
			wait = e.w.Waits[l.node][l.site] / crawl.ProbeTries
		}
		l.pace = each / max(took+wait, took*leastOfProbe)
	}
	l.speed = e.w.apart(l.pace, l.site, each)
}

func (e *engine) begin(t *task, node int) {
	t.waiting, e.rules[t.site] = false, true
	moved := t.last >= 0 && t.last != node
	if moved {
		e.res.Moves++
		e.res.Out[t.last]++
		e.res.In[node]++
	}
	t.last, t.had, t.turn = node, node, t.turn+1
	bits, until := e.w.Lease.Bits*e.w.page(t.site)/e.w.Page, e.now+int64(e.w.Lease.Seconds*1000)
	if e.w.Tasks != nil {
		until = math.MaxInt64
	}
	given, modified := e.w.given(), false
	if (e.w.Tasks == nil || e.w.Modify) && e.modify != nil && (t.did.Quota > 0 || e.modify.First > 0) {
		was := t.did
		if was.Quota == 0 {
			was = given
		}
		good, all := e.book.Served(node, t.site, e.now)
		given.Quota, given.Budget = schedule.Shape(*e.modify, was, good, all)
		bits, until = float64(given.Quota)*e.w.page(t.site), e.now+given.Budget.Milliseconds()
		modified = given.Quota != was.Quota
	}
	if first := e.w.Sites[t.site].First; first > 0 && e.pages[t.site] == 0 {
		bits = min(bits, first*e.w.page(t.site))
	}
	l := &lease{t: t, site: t.site, node: node, left: min(e.needed(t, node), bits), start: e.now, until: until, given: given, moved: moved, modified: modified}
	if e.w.Stuck != nil && e.sticking.Float64() < e.w.Stuck[node][t.site] {
		l.stuck, l.until = true, e.now+e.w.recycle().After.Milliseconds()
	}
	e.add(l)
	if e.w.Whole && until < math.MaxInt64 && !l.stuck {
		l.until += int64(1000 * e.rng.Float64() * e.w.page(l.site) * float64(e.w.Sites[l.site].atOnce()) / max(l.pace, 1))
		e.share(node)
	}
}

// needed is what a node must ask for until a task has what it still wants, bits.
func (e *engine) needed(t *task, node int) float64 {
	if p := e.w.success(node, t.site); e.w.Whole && p > 0 && p < 1 {
		return t.left / p
	}
	return t.left
}

// die has a node die: what it had told counts, and its tasks go to others once nothing was heard of it for long enough. What it measures
// has told nothing, and takes its site until then.
func (e *engine) die(node int) {
	e.progress(node)
	had := slices.Concat(e.leases[node], []*lease(e.pinging[node]))
	e.leases[node], e.fair[node], e.pinging[node] = nil, nil, nil
	e.dying = true
	for _, l := range had {
		if !l.probe {
			e.settle(l)
			continue
		}
		l.hang(e.now + e.w.Held)
		l.rate, l.speed = 0, 0
		e.leases[node] = append(e.leases[node], l)
		e.join(l)
	}
	e.dying = false
	e.share(node)
}

// hang has a lease make no progress until a time, when it ends with nothing.
func (l *lease) hang(until int64) { l.stuck, l.until = true, until }

// given is the quota and the budget of a lease that nothing has modified. Where leases have no limit of pages it is that of a job which states none.
func (w *World) given() schedule.Subtask {
	pages := math.Ceil(min(w.Lease.Bits/w.Page, float64(crawl.DefaultLimits().LeasePages)))
	return schedule.Subtask{Quota: max(1, int(pages)), Budget: time.Duration(w.Lease.Seconds * float64(time.Second))}
}

// recycle is when a lease that makes no progress is recalled.
func (w *World) recycle() schedule.RecycleConfig {
	if w.Recycle == (schedule.RecycleConfig{}) {
		return schedule.DefaultRecycle()
	}
	return w.Recycle
}

// recall takes a lease back that made no progress: its task goes to another node, or, recalled too often, to a person. The
// fleet learns nothing of the pair by it, as a real one does not, but that the task shall avoid the node.
func (e *engine) recall(l *lease) {
	e.res.Recycled++
	t := l.t
	e.end(l, 0, 0)
	if schedule.AfterFailure(e.w.recycle(), t.recycled) == schedule.Manual {
		e.res.Manual++
		return
	}
	t.recycled++
	t.avoid = append([]string{e.w.Nodes[l.node].ID}, t.avoid...)
	e.wait(t)
}

// end tells what a lease did.
func (e *engine) end(l *lease, good, pages float64) {
	if e.w.Ended != nil {
		e.w.Ended(End{
			At: e.now, Task: l.t.id, Node: l.node, Site: l.site, Seconds: float64(e.now-l.start) / 1000, Good: good, Pages: pages,
			Moved: l.moved, Modified: l.modified, Recycled: l.stuck,
		})
	}
}

func (e *engine) add(l *lease) {
	e.progress(l.node)
	e.seqLease++
	l.id, e.worked[l.node] = e.seqLease, true
	if e.w.Nodes[l.node].dead(e.now) {
		l.hang(e.now + e.w.Held)
	}
	e.running = append(e.running, l)
	if l.pings != nil || l.asks || l.resolve { // it takes nothing from the others
		heap.Push(&e.pinging[l.node], l)
		e.ends(l.node, min(e.first[l.node], l.until))
		return
	}
	e.redraw(l)
	e.leases[l.node] = append(e.leases[l.node], l)
	e.join(l)
	e.share(l.node)
}

// held is how many leases a node has.
func (e *engine) held(node int) int { return len(e.leases[node]) + len(e.pinging[node]) }

// pinging are the leases of a node that measure delays, the one that ends first before the others.
type pinging []*lease

func (p pinging) Len() int           { return len(p) }
func (p pinging) Less(a, b int) bool { return p[a].until < p[b].until }
func (p pinging) Swap(a, b int)      { p[a], p[b] = p[b], p[a] }

// Push implements heap.Interface.
func (p *pinging) Push(x any) { *p = append(*p, x.(*lease)) }

// Pop implements heap.Interface.
func (p *pinging) Pop() any {
	old := *p
	l := old[len(old)-1]
	old[len(old)-1], *p = nil, old[:len(old)-1]
	return l
}

// progress moves a node's leases on to now.
func (e *engine) progress(node int) {
	dt := float64(e.now-e.touched[node]) / 1000
	e.touched[node] = e.now
	if dt == 0 || len(e.leases[node]) == 0 {
		return
	}
	limit, want := e.w.limit(node), 0.0
	for _, l := range e.leases[node] {
		want += l.speed
	}
	for _, l := range e.leases[node] {
		l.left -= l.rate * dt
		l.done += l.rate * dt
		if l.speed < l.pace && l.rate >= l.speed*0.999 { // it pauses between pages
			l.worked += dt * l.speed / l.pace
		} else {
			l.worked += dt
		}
		if limit > 0 && want > limit && l.rate < l.speed*0.999 {
			l.limited += dt
		}
	}
}

// share divides a node's bandwidth among its leases, none getting more than its path gives, and notes when the first
// of them ends.
func (e *engine) share(node int) {
	ls := e.leases[node]
	if limit := e.w.limit(node); limit > 0 {
		for k, l := range e.fair[node] {
			l.rate = min(l.speed, limit/float64(len(ls)-k))
			limit -= l.rate
		}
	} else {
		for _, l := range ls {
			l.rate = l.speed
		}
	}
	first := int64(math.MaxInt64)
	for _, l := range ls {
		end := l.until
		if l.rate > 0 {
			if s := l.left / l.rate * 1000; s < 1e15 {
				end = min(end, e.now+int64(math.Ceil(s)))
			}
		}
		first = min(first, end)
	}
	if p := e.pinging[node]; len(p) > 0 {
		first = min(first, p[0].until)
	}
	e.ends(node, first)
}

// ends notes when the first of a node's leases ends; math.MaxInt64: none does.
func (e *engine) ends(node int, first int64) {
	e.ver[node]++
	if e.first[node] = first; first < math.MaxInt64 {
		e.push(max(first, e.now), evNode, node, e.ver[node])
	}
}

// join puts a lease among those of its node, after those whose paths are as slow.
func (e *engine) join(l *lease) {
	at, _ := slices.BinarySearchFunc(e.fair[l.node], l.speed, func(o *lease, speed float64) int {
		if o.speed <= speed {
			return -1
		}
		return 1
	})
	e.fair[l.node] = slices.Insert(e.fair[l.node], at, l)
}

func bySpeed(a, b *lease) int { return cmp.Compare(a.speed, b.speed) }

func (e *engine) endLeases(node int) {
	kept := e.leases[node][:0]
	var ended []*lease
	for _, l := range e.leases[node] {
		if l.left <= 1e-6*e.w.Page || l.until <= e.now {
			l.ended = true
			ended = append(ended, l)
		} else {
			kept = append(kept, l)
		}
	}
	if len(ended) > 0 {
		clear(e.leases[node][len(kept):])
		e.leases[node] = kept
		e.fair[node] = slices.DeleteFunc(e.fair[node], func(l *lease) bool { return l.ended })
	}
	for p := &e.pinging[node]; len(*p) > 0 && (*p)[0].until <= e.now; {
		ended = append(ended, heap.Pop(p).(*lease))
	}
	slices.SortFunc(ended, func(a, b *lease) int { return a.id - b.id })
	for _, l := range ended {
		e.settle(l)
	}
}

// took has the fleet learn what a lease has measured.
func (e *engine) took(l *lease, f learn.Fact) {
	f.At, f.Node, f.Site, f.Seconds = e.now, e.w.Nodes[l.node].ID, e.w.Sites[l.site].Name, max(l.worked, 1e-3)
	f.Product, f.CPU, f.Memory = e.w.Job.Product, e.w.Work.CPU*f.Bits/f.Seconds, e.w.Work.Memory
	f.Limited = l.limited > 0.3*float64(e.now-l.start)/1000
	e.learned.Take(f)
}

// tookDelay has the fleet learn a delay that a lease has measured, ms.
func (e *engine) tookDelay(l *lease, ms float64) {
	e.answered(l.site, ms)
	e.learned.Take(learn.Fact{At: e.now, Kind: learn.Delay, Node: e.w.Nodes[l.node].ID, Site: e.w.Sites[l.site].Name, Seconds: ms / 1000})
}

// answered notes how long a site took to answer where an httpping takes so long, ms.
func (e *engine) answered(site int, ms float64) {
	if share := e.w.Sites[site].Answers; share > 0 {
		ms *= share
	}
	e.latency[site] = polite.Latency(e.latency[site], time.Duration(ms*float64(time.Millisecond)))
}

// toldDelays is how many delays the pages of one part tell at most. In a crawl every page tells one that is asked for alone; more of them change the record's
// figure by little, and each takes time here.
const toldDelays = 5

// delays are how many of its pages that it is to tell of were asked for alone, so that they tell its pair's delay: of several at a time the first of all.
func (e *engine) delays(l *lease, pages float64) int {
	switch {
	case e.w.Delay == nil || pages < 1:
		return 0
	case e.w.Sites[l.site].atOnce() == 1:
		return min(toldDelays, int(pages))
	case l.toldDone == 0:
		return 1
	}
	return 0
}

// part has the fleet learn what a lease has done since it told last, so many pages.
func (e *engine) part(l *lease, pages float64) {
	var good, bits float64
	if e.w.Sites[l.site].Had != nil {
		bits = e.had(l, pages)
		good = min(pages, bits/e.w.page(l.site))
	} else {
		good = e.good(l, pages)
		bits = good * e.w.page(l.site)
	}
	worked := l.worked
	l.good, l.bits = l.good+good, l.bits+bits
	e.pages[l.site] += pages
	e.told += bits
	e.counts(bits)
	l.worked -= l.toldWorked
	e.took(l, learn.Fact{Kind: learn.Report, Bits: e.tells(bits, pages), Good: good, All: pages})
	for range e.delays(l, pages) {
		e.tookDelay(l, e.ping(e.w.Delay[l.node][l.site]))
	}
	l.worked, l.toldWorked, l.toldDone = worked, worked, l.toldDone+pages*e.w.page(l.site)
}

// had is what a lease has of so many pages of a site that is known to have given more or less of them the further it was crawled, bits.
func (e *engine) had(l *lease, pages float64) float64 {
	s := &e.w.Sites[l.site]
	used := pages * e.w.page(l.site) * e.w.success(l.node, l.site)
	before := s.had(e.used[l.site] / s.Size)
	e.used[l.site], l.used = e.used[l.site]+used, l.used+used
	return s.Size * (s.had(e.used[l.site]/s.Size) - before)
}

// counts notes in which minute useful bits were told of.
func (e *engine) counts(bits float64) {
	e.res.Minutes[min(int(max(0, e.now-1)/60_000), len(e.res.Minutes)-1)] += bits
}

// parts has leases tell what they have done so far, as those of a fleet do every second.
func (e *engine) parts() {
	for i := range e.w.Nodes {
		e.progress(i)
		for _, l := range e.leases[i] {
			if pages := e.whole(l); !l.probe && !l.stuck && l.worked > l.toldWorked && (pages > 0 || e.w.Uneven <= 0) {
				e.part(l, pages)
			}
		}
	}
}

// settle books what a lease did and gives its task back.
func (e *engine) settle(l *lease) {
	seconds := float64(e.now-l.start) / 1000
	l.ended = true
	if l.probe && l.stuck {
		e.plan()
		return
	}
	switch {
	case l.resolve:
		e.plan()
		return
	case l.asks:
		e.goOn(l)
		return
	}
	if l.pings != nil {
		for _, ms := range l.pings {
			e.tookDelay(l, ms)
		}
		e.plan()
		return
	}
	if l.probe {
		e.probed(l)
		e.plan()
		return
	}
	e.res.Leases++
	if l.stuck {
		e.recall(l)
		return
	}
	pages := l.done / e.w.page(l.site)
	e.part(l, (l.done-l.toldDone)/e.w.page(l.site))
	good := l.good
	e.end(l, good, pages)
	e.count(l, good, pages, seconds)
	e.res.Bits += l.bits
	t := l.t
	t.did = l.given
	t.did.Exist, t.did.Collected, t.did.Took = max(1, int(pages)), int(good), time.Duration(seconds*float64(time.Second))
	t.did.Out = l.until <= e.now && l.left > 1e-6*e.w.Page
	if e.w.Tasks != nil {
		e.res.Completed += good
		if t.left -= l.done; t.left > 1e-6*e.w.Page {
			e.wait(t) // the next lease of it
			return
		}
		e.taken = append(e.taken, float64(e.now-t.came)/1000)
		e.plan()
		return
	}
	if e.w.Sites[l.site].Had != nil {
		e.left[l.site] -= l.used
	} else {
		e.left[l.site] -= l.bits
	}
	if t.left = e.left[l.site]; t.left > 1e-6*e.w.Page {
		e.wait(t)
	} else {
		e.plan()
	}
}
