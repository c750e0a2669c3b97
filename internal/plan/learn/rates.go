package learn

import (
	"cmp"
	"slices"
	"strings"

	"argosy/internal/crawl"
)

// Completion and efficiency of a (site, node) have one definition, for what strategies learn and for what people are shown.
//
// A search has pages: as many as its engine states, or as paging has found where it states none. A node has collected those of them
// that it fetched with a status below 300, whichever search it fetched them for: a page that several searches name counts for each of
// them. It is answerable for the pages that it has collected, for those that nobody had collected when it failed with the search, and,
// if the search is its own now, for those that nobody has collected yet. So a search that goes from node to node while
// none of them fails is shared out among them, and one that a node has failed with counts for that node and for the next.
//
// A node that has failed stays answerable for what it had until then, also where a page is to be fetched once more.
//
// Completion is what was collected over what the node is answerable for, of searches whose engines state a number. Efficiency is the time
// of its leases, from their start to their end, for each page that they collected, which counts once.

// Step is what a node has done for a search since its step before.
type Step struct {
	At     int64  `cbor:"1,keyasint" json:"at"`                           // Unix ms: when the last of it was
	Node   string `cbor:"2,keyasint" json:"node"`                         // empty: of nodes whose names are not kept
	Runs   bool   `cbor:"3,keyasint,omitempty" json:"runs,omitempty"`     // the search is its own from then on
	Had    int64  `cbor:"4,keyasint,omitempty" json:"had,omitempty"`      // of the search's pages
	Leases int64  `cbor:"5,keyasint,omitempty" json:"leases,omitempty"`   // for the search, that have ended
	MS     int64  `cbor:"6,keyasint,omitempty" json:"ms,omitempty"`       // that those took
	Pages  int64  `cbor:"7,keyasint,omitempty" json:"pages,omitempty"`    // that leases for the search have collected
	Failed bool   `cbor:"8,keyasint,omitempty" json:"failed,omitempty"`   // with the search; all else is 0 then, but:
	Own    int64  `cbor:"9,keyasint,omitempty" json:"own,omitempty"`      // pages that it had collected until then,
	All    int64  `cbor:"10,keyasint,omitempty" json:"had_all,omitempty"` // and that all nodes had
}

// Trail is what nodes have done for a search, in the order of time.
type Trail []Step

// maxSteps bounds a trail: it is kept and sent with its search. A curve is drawn with fewer points on the terminal. A search that has made no progress
// on five nodes in a row waits for a person, so that few have as many nodes.
const maxSteps = 32

// Add adds a step. Of too many, two of one node that are next to each other in time become one: sums stay as they are. Where every node has but
// one, what the earliest has done is counted without its name.
func (t *Trail) Add(s Step) {
	if s.Failed {
		if t.Failed(s.Node) {
			return // it is answerable for those pages already
		}
		for _, of := range *t {
			if s.All += of.Had; of.Node == s.Node {
				s.Own += of.Had
			}
		}
	}
	*t = append(*t, s)
	for n := len(*t); n > 1; n = len(*t) {
		at := -1
		if last := &(*t)[n-2]; last.joins(&s) && last.At == s.At {
			at = n - 2
		} else if n > maxSteps {
			if at = t.closest(); at < 0 {
				t.forget()
				continue
			}
		}
		if at < 0 {
			return
		}
		t.join(at)
	}
}

// forget adds the earliest step that has a name to those that have none, but for the step since which the search is its node's. A node
// whose failure is forgotten may be asked again.
func (t *Trail) forget() {
	runs := 0
	for i := range *t {
		if (*t)[i].Runs {
			runs = i
		}
	}
	at := slices.IndexFunc(*t, func(s Step) bool { return s.Node != "" })
	if at == runs && (*t)[at].Runs {
		at++
	}
	s := (*t)[at]
	*t = slices.Delete(*t, at, at+1)
	if s.Failed {
		return
	}
	if len(*t) > 0 && (*t)[0].Node == "" {
		o := &(*t)[0]
		o.Had, o.Leases, o.MS, o.Pages = o.Had+s.Had, o.Leases+s.Leases, o.MS+s.MS, o.Pages+s.Pages
		return
	}
	*t = slices.Insert(*t, 0, Step{At: (*t)[0].At, Had: s.Had, Leases: s.Leases, MS: s.MS, Pages: s.Pages})
}

// closest is the place of a step that is to become one with the next one of its node, the one that is least earlier; -1: there is none.
func (t *Trail) closest() (at int) {
	at, least := -1, int64(0)
	next := map[string]int{}
	for i := len(*t) - 1; i >= 0; i-- {
		s := &(*t)[i]
		if s.Failed {
			continue
		}
		if k, ok := next[s.Node]; ok {
			if gap := (*t)[k].At - s.At; at < 0 || gap < least {
				at, least = i, gap
			}
		}
		next[s.Node] = i
	}
	return at
}

// joins reports whether two steps can be one.
func (s *Step) joins(o *Step) bool { return s.Node == o.Node && !s.Failed && !o.Failed }

// join makes one step of one and the next one of its node.
func (t *Trail) join(at int) {
	s := (*t)[at]
	for i := at + 1; i < len(*t); i++ {
		o := &(*t)[i]
		if o.joins(&s) {
			o.Runs = o.Runs || s.Runs
			o.Had, o.Leases, o.MS, o.Pages = o.Had+s.Had, o.Leases+s.Leases, o.MS+s.MS, o.Pages+s.Pages
			break
		}
		s.Runs = s.Runs && !o.Runs // another has had it since
	}
	*t = slices.Delete(*t, at, at+1)
}

// Failed reports whether a node has failed with the search.
func (t Trail) Failed(node string) bool {
	return slices.ContainsFunc(t, func(s Step) bool { return s.Failed && s.Node == node })
}

// Share is what a node has done of searches: of one, or of all that are restricted to a site.
type Share struct {
	Site      string  `json:"site"`
	Node      string  `json:"node"`
	Known     bool    `json:"known"`     // an engine has stated how many pages there are
	Existing  int64   `json:"existing"`  // pages that it is answerable for,
	Collected int64   `json:"collected"` // and of them collected; both of searches whose engines have stated how many there are
	Leases    int64   `json:"leases"`    // that have ended
	Pages     int64   `json:"pages"`     // that those collected
	Seconds   float64 `json:"seconds"`   // that those took
}

// Completion is the share that was collected of what exists, from 0 to 1; known is false if nothing says what exists.
func (s *Share) Completion() (share float64, known bool) {
	if !s.Known || s.Existing <= 0 {
		return 0, false
	}
	return float64(s.Collected) / float64(s.Existing), true
}

// PerPage is the efficiency: seconds for a page; known is false if none was collected.
func (s *Share) PerPage() (seconds float64, known bool) {
	if s.Pages == 0 {
		return 0, false
	}
	return s.Seconds / float64(s.Pages), true
}

// Shares are the parts of nodes in a search that has so many pages, by their names. With left those that nobody has collected are those of
// the node whose search it is.
func (t Trail) Shares(exist int64, left bool) (out []Share) {
	all, runs := int64(0), ""
	for _, s := range t {
		if all += s.Had; s.Runs {
			runs = s.Node
		}
		if s.Node == "" {
			continue
		}
		k, ok := slices.BinarySearchFunc(out, s.Node, func(o Share, node string) int { return strings.Compare(o.Node, node) })
		if !ok {
			out = slices.Insert(out, k, Share{Node: s.Node})
		}
		o := &out[k]
		o.Collected, o.Leases, o.Pages, o.Seconds = o.Collected+s.Had, o.Leases+s.Leases, o.Pages+s.Pages, o.Seconds+float64(s.MS)/1000
	}
	for k := range out {
		o := &out[k]
		o.Collected, o.Pages = max(0, o.Collected), max(0, o.Pages) // where what it had before is counted without its name
		o.Existing = o.Collected
		if at := slices.IndexFunc(t, func(s Step) bool { return s.Failed && s.Node == o.Node }); at >= 0 {
			o.Existing = max(o.Existing, t[at].Own+max(0, exist-t[at].All))
		} else if left && o.Node == runs {
			o.Existing += max(0, exist-all)
		}
	}
	return out
}

// Trailed is a search with what its nodes have done.
type Trailed struct {
	Site   string
	Stated crawl.Stated
	Found  int64
	Trail  Trail
}

// shares are the parts of nodes in a search until a step, as they count among those of its site.
func (s *Trailed) shares(steps int) []Share {
	exist, said := s.Stated.Exist(s.Found)
	out := s.Trail[:steps].Shares(exist, true)
	for k := range out {
		o := &out[k]
		if o.Site, o.Known = s.Site, said && o.Existing > 0; !said {
			o.Existing, o.Collected = 0, 0
		}
	}
	return out
}

// Rate is a share of a site's searches with the way to it.
type Rate struct {
	Share
	Curve []Point `json:"curve"`
}

// Point is where a rate stood at a time. What is not known is 0.
type Point struct {
	At         float64 `json:"at"` // seconds since the first step
	Completion float64 `json:"completion"`
	PerPage    float64 `json:"seconds_a_page"`
}

// Rates adds up searches by the sites that they are restricted to, and nodes; in their order.
func Rates(searches []Trailed) (out []*Rate) {
	type moment struct {
		at           int64
		search, step int
	}
	var moments []moment
	for i := range searches {
		for k, s := range searches[i].Trail {
			moments = append(moments, moment{s.At, i, k})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	of, was := map[[2]string]*Rate{}, make([][]Share, len(searches))
	for _, m := range moments {
		now := searches[m.search].shares(m.step + 1)
		for _, s := range was[m.search] {
			of[[2]string{s.Site, s.Node}].add(&s, -1)
		}
		for _, s := range now {
			r := of[[2]string{s.Site, s.Node}]
			if r == nil {
				r = &Rate{Share: Share{Site: s.Site, Node: s.Node}}
				of[[2]string{s.Site, s.Node}], out = r, append(out, r)
			}
			r.add(&s, 1)
		}
		for _, s := range now {
			of[[2]string{s.Site, s.Node}].mark(float64(m.at-moments[0].at) / 1000)
		}
		was[m.search] = now
	}
	slices.SortFunc(out, func(a, b *Rate) int { return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Node, b.Node)) })
	return out
}

// add adds a share of a search, or with n = -1 takes it away.
func (r *Rate) add(s *Share, n int64) {
	r.Existing, r.Collected, r.Leases, r.Pages = r.Existing+n*s.Existing, r.Collected+n*s.Collected, r.Leases+n*s.Leases, r.Pages+n*s.Pages
	r.Seconds += float64(n) * s.Seconds
	r.Known = r.Existing > 0
}

// mark notes where the rate stands.
func (r *Rate) mark(at float64) {
	p := Point{At: at}
	p.Completion, _ = r.Completion()
	p.PerPage, _ = r.Share.PerPage()
	if n := len(r.Curve); n > 0 && r.Curve[n-1].At == at {
		r.Curve[n-1] = p
		return
	}
	r.Curve = append(r.Curve, p)
}
