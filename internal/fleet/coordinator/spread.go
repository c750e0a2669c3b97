package coordinator

import (
	"cmp"
	"math"
	"slices"

	"argosy/internal/fleet/frontier"
)

// A domain that takes the crawl gives way: pages that are made to look as if they were on a topic promise more than honest ones, and there is no
// end of them. Those of one domain have to promise the more the more of all pages it has had, as long as what others have is on the topic: where
// one site is about the topic and the rest of the web is not, that shows after some pages.
const (
	spreadFrom   = 64   // pages of a job from which it is looked at: before, a share is chance
	spreadFree   = 0.25 // share of a job's pages that a domain has without giving way
	spreadSteep  = 4.0  // what a share takes off a promise, in units of the logistic curve, for what is over in terms of what is left: 1.9 at
	spreadMost   = 20   // a half, 7.4 at three quarters, and so much at most, which is more than any promise
	spreadWorth  = 0.3  // share of the others' pages that is on the topic, from which they are worth all of that
	spreadBefore = 4    // pages on the topic by which it is believed at first that others have some
)

// had is what pages a domain, or a task, has had.
type had struct{ pages, relevant int64 }

// spread owns how the pages of a job are spread over registrable domains.
type spread struct {
	names   map[string]string // domains of sites, where somebody asked
	tasks   map[uint32]had    // as counted
	domains map[string]had
	all     had
	most    int64 // pages of a domain
}

func newSpread() *spread {
	return &spread{names: map[string]string{}, tasks: map[uint32]had{}, domains: map[string]had{}}
}

// domain returns the registrable domain of a site.
func (s *spread) domain(site string) string {
	name, ok := s.names[site]
	if !ok {
		name = domain(site)
		s.names[site] = name
	}
	return name
}

// take counts the pages of a task.
func (s *spread) take(t *frontier.Task) {
	was, is := s.tasks[t.ID], had{t.Fetched, t.Relevant}
	if was == is {
		return
	}
	s.tasks[t.ID] = is
	name, more := s.domain(t.Site), had{is.pages - was.pages, is.relevant - was.relevant}
	s.domains[name] = s.domains[name].with(more)
	s.all = s.all.with(more)
	s.most = max(s.most, s.domains[name].pages)
}

func (h had) with(o had) had { return had{h.pages + o.pages, h.relevant + o.relevant} }

// by returns by what the odds of a task's URLs are divided.
func (s *spread) by(t *frontier.Task) float64 {
	if s.all.pages < spreadFrom || float64(s.most) <= spreadFree*float64(s.all.pages) {
		return 1
	}
	return s.of(s.domains[s.domain(t.Site)])
}

// of returns by what the odds of a domain's URLs are divided that has had such pages.
func (s *spread) of(own had) float64 {
	share := float64(own.pages) / float64(s.all.pages)
	if share <= spreadFree {
		return 1
	}
	others := float64(s.all.relevant-own.relevant+spreadBefore) / float64(s.all.pages-own.pages+spreadBefore)
	worth := min(1, others/spreadWorth)
	return math.Exp(worth * worth * min(spreadMost, spreadSteep*(share-spreadFree)/(1.02-share)))
}

// GaveWay is a domain whose pages had to promise more than those of others, since so many were of it.
type GaveWay struct {
	Domain   string `json:"domain"`
	Pages    int64  `json:"pages"`    // URLs that were fetched
	Relevant int64  `json:"relevant"` // of them, on the topic by their scores
}

// gaveWay returns the domains that give way by now, the largest first: those whose odds are at most half of what they would be.
func (s *spread) gaveWay() (out []GaveWay) {
	if s.all.pages < spreadFrom {
		return nil
	}
	for name, own := range s.domains {
		if len(s.domains) > 1 && s.of(own) >= 2 {
			out = append(out, GaveWay{name, own.pages, own.relevant})
		}
	}
	slices.SortFunc(out, func(a, b GaveWay) int { return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Domain, b.Domain)) })
	return out
}

// GaveWay returns the domains that gave way in a job for a topic when its last run ended.
func (c *Coordinator) GaveWay(job uint32) []GaveWay {
	of, _ := c.gave.Load(job)
	out, _ := of.([]GaveWay)
	return out
}
