package coordinator

import (
	"cmp"
	"math"
	"slices"

	"argosy/internal/fleet/frontier"
)

// A domain that takes the crawl gives way: pages that are made to look as if they were on a topic promise more than honest ones, and there is no
// end of them. Those of one domain, with all domains that were found by way of it, have to promise the more the more of all pages they are, as long
// as what others bring meanwhile is on the topic: where one site is about the topic and the rest of the web is not, that shows after some pages.
// Others bring nothing as long as nobody looks: so much as is due to them they have in any case, and a half beside one that brings nothing itself. What was found by way of a seed's domain is the web
// itself: of that domain only its own pages count, unless there are several, and one of them has led to nearly all.
const (
	spreadFrom   = 64   // pages of a job from which it is looked at: before, a share is chance
	spreadBarren = 32   // pages of a domain, none of them on the topic, from which it leaves others a half
	spreadFree   = 0.25 // share of a job's pages that a domain has without giving way
	spreadByWay  = 0.5  // and so much with what was found by way of it, a seed's as well: a web that is honest has branches
	spreadSteep  = 4.0  // what a share takes off a promise, in units of the logistic curve, for what is over in terms of what is left: 1.9 at
	spreadMost   = 20   // a half, 7.4 at three quarters, and so much at most, which is more than any promise
	spreadWorth  = 0.3  // share of the others' last pages that is on the topic, from which they are worth all of that
	spreadLast   = 24   // pages by which that is judged: older ones count less and less
	spreadBefore = 4    // pages on the topic by which it is believed at first that others have some
	spreadLeft   = 0.25 // share of a job's pages that others have, whatever they bring: nobody knows what they have before,
	spreadLook   = 5    // up to so many times the root of the job's pages
	spreadDepth  = 64   // domains on the way from a seed's that are looked at
)

// had is what pages a domain, or a task, has had.
type had struct{ pages, relevant int64 }

func (h had) with(o had) had { return had{h.pages + o.pages, h.relevant + o.relevant} }

// part is what a part of a web has had, and what others bring.
type part struct {
	had
	free   float64 // share of a job's pages from which it gives way
	leaves bool    // to others what is due to them, whatever they bring
	others float64 // share of their last pages that is on the topic
	judged bool    // it has had more than its share, once: others is known
}

// branch is a registrable domain, and those that were found by way of it.
type branch struct {
	name  string
	by    *branch // a page of that domain named it first; nil: a seed is on it
	own   part
	all   part // with the domains that were found by way of it
	names int  // of those domains
}

// spread owns how the pages of a job are spread over registrable domains.
type spread struct {
	task    func(id uint32) *frontier.Task
	sites   map[string]*branch
	domains map[string]*branch
	tasks   map[uint32]had // as counted
	large   []*part        // those that have had more than their share, once
	all     had
	seeds   []*branch // domains that seeds are on
	starves bool      // one of them has had less than what is due to each
}

func newSpread(task func(id uint32) *frontier.Task) *spread {
	return &spread{task: task, sites: map[string]*branch{}, domains: map[string]*branch{}, tasks: map[uint32]had{}}
}

// branch returns the domain of a task's site.
func (s *spread) branch(t *frontier.Task) *branch {
	if b := s.sites[t.Site]; b != nil {
		return b
	}
	name := domain(t.Site)
	b := s.domains[name]
	if b == nil {
		b = &branch{name: name, own: part{free: spreadFree, leaves: true}, all: part{free: spreadByWay}}
		if from := s.task(t.From); from != nil {
			b.by = s.branch(from)
		} else {
			b.all = part{free: spreadByWay, leaves: true}
			s.seeds = append(s.seeds, b)
		}
		if b.by != nil && b.by.name == name {
			b = b.by // another host of it was there before
		} else {
			for up := range b.ups() {
				up.names++
			}
		}
		s.domains[name] = b
	}
	s.sites[t.Site] = b
	return b
}

// ups calls fn with what a domain was found by way of: the domains between it and a seed's, from it on, and that.
func (b *branch) ups() func(fn func(*branch) bool) {
	return func(fn func(*branch) bool) {
		for range spreadDepth {
			if b = b.by; b == nil || !fn(b) {
				return
			}
		}
	}
}

// takeAll counts the pages of all tasks of a job, in the order in which they were found.
func (s *spread) takeAll(tasks []*frontier.Task) {
	slices.SortFunc(tasks, func(a, b *frontier.Task) int { return cmp.Compare(a.ID, b.ID) })
	for _, t := range tasks {
		s.take(t)
	}
}

// take counts the pages of a task.
func (s *spread) take(t *frontier.Task) {
	b := s.branch(t)
	was, is := s.tasks[t.ID], had{t.Fetched + t.Failed, t.Hits()} // what could not be had was looked at as well
	if was == is {
		return
	}
	s.tasks[t.ID] = is
	more := had{is.pages - was.pages, is.relevant - was.relevant}
	s.all = s.all.with(more)
	of := b.parts()
	for _, p := range of {
		p.had = p.had.with(more)
	}
	s.starves = s.starving()
	for _, l := range s.large {
		if !slices.Contains(of, l) {
			l.sees(more)
		}
	}
	for _, p := range of {
		if s.all.pages >= spreadFrom && !p.judged && float64(p.pages) > p.free*float64(s.all.pages) {
			p.judged = true
			p.others = float64(s.all.relevant-p.relevant+spreadBefore) / float64(s.all.pages-p.pages+spreadBefore)
			s.large = append(s.large, p)
		}
	}
}

// share returns how many pages are due to each seed's domain with all that was found by way of it, where there are several: several may be spam, and
// each leave what is due to the others to the others of these.
func (s *spread) share() int64 {
	if len(s.seeds) < 2 || s.all.pages < spreadFrom {
		return 0
	}
	return spreadDue(s.all.pages) / int64(len(s.seeds))
}

// starving reports whether a seed's domain has had less than its share.
func (s *spread) starving() bool {
	least := s.share()
	return least > 0 && slices.ContainsFunc(s.seeds, func(b *branch) bool { return b.all.pages < least })
}

// root returns the seed's domain by way of which a domain was found.
func (b *branch) root() *branch {
	for up := range b.ups() {
		b = up
	}
	return b
}

// parts returns all for which the pages of a domain count.
func (b *branch) parts() []*part {
	out := []*part{&b.own, &b.all}
	for up := range b.ups() {
		out = append(out, &up.all)
	}
	return out
}

// sees takes in pages of others.
func (p *part) sees(more had) {
	if more.pages <= 0 {
		return
	}
	keep := math.Pow(1-1.0/spreadLast, float64(more.pages))
	p.others = float64(keep*p.others) + float64((1-keep)*min(1, max(0, float64(more.relevant)/float64(more.pages))))
}

// by returns by what the odds of a task's URLs are divided. Who has named what takes the crawl does not answer for that with its own pages.
func (s *spread) by(t *frontier.Task) float64 {
	if s.all.pages < spreadBarren {
		return 1
	}
	b := s.branch(t)
	z := s.off(&b.own)
	for up := range b.ups() {
		z += s.offAll(up)
	}
	z = min(spreadMost, z)
	if s.starves && b.root().all.pages >= s.share() {
		z += spreadMost
	}
	return math.Exp(z)
}

// off returns what the share of a part takes off the promises of its URLs, in units of the logistic curve.
func (s *spread) off(p *part) float64 {
	share := float64(p.pages) / float64(s.all.pages)
	if p.leaves && p.relevant == 0 && p.pages >= spreadBarren && 2*p.pages > s.all.pages {
		return spreadMost
	}
	if !p.judged || share <= p.free {
		return 0
	}
	if p.leaves && s.all.pages-p.pages < spreadDue(s.all.pages) {
		return spreadMost
	}
	worth := min(1, p.others/spreadWorth)
	return worth * worth * min(spreadMost, spreadSteep*(share-p.free)/(1.02-share))
}

// offAll returns what the share of a domain with all that was found by way of it takes off the promises of these. Where there is one seed's domain
// that is the web.
func (s *spread) offAll(b *branch) float64 {
	if b.by == nil && len(s.seeds) < 2 {
		return 0
	}
	return s.off(&b.all)
}

// spreadDue returns how many of so many pages one part leaves to others, whatever those bring.
func spreadDue(pages int64) int64 {
	return int64(min(spreadLeft*float64(pages), spreadLook*math.Sqrt(float64(pages))))
}

// GaveWay is a domain whose pages had to promise more than those of others, since so many were of it.
type GaveWay struct {
	Domain   string `json:"domain"`
	Domains  int    `json:"domains,omitempty"` // others that were found by way of it
	Pages    int64  `json:"pages"`             // URLs that were fetched, of all of them
	Relevant int64  `json:"relevant"`          // of them, on the topic by their scores and not of the text of another one
}

// gaveWay returns the domains that give way by now, the largest first: those whose odds are at most half of what they would be. One of which most
// is of another one that it has named is left out, and so is everybody as long as others have brought nothing on the topic.
func (s *spread) gaveWay() (out []GaveWay) {
	if len(s.domains) < 2 {
		return nil
	}
	inner := map[*branch]bool{}
	of := func(b *branch) *part {
		switch {
		case b.names > 0 && s.offAll(b) >= math.Ln2 && b.all.relevant < s.all.relevant:
			return &b.all
		case s.off(&b.own) >= math.Ln2 && b.own.relevant < s.all.relevant:
			return &b.own
		}
		return nil
	}
	for _, b := range s.domains {
		if p := of(b); p != nil {
			for up := range b.ups() {
				inner[up] = inner[up] || 2*p.pages > up.all.pages
			}
		}
	}
	for _, b := range s.domains {
		if p := of(b); p != nil && !inner[b] {
			names := b.names
			if p == &b.own {
				names = 0
			}
			out = append(out, GaveWay{b.name, names, p.pages, p.relevant})
		}
	}
	slices.SortFunc(out, func(a, b GaveWay) int { return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Domain, b.Domain)) })
	return out
}

// GaveWay returns the domains that gave way in a job for a topic when its last run ended.
func (w *window) GaveWay(job uint32) []GaveWay {
	of, _ := w.gave.Load(job)
	out, _ := of.([]GaveWay)
	return out
}
