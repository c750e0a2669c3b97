package crawl

import "cmp"

// Trap is a set of URLs of a site that wait because those like them went on bringing nothing new, or that were refused because
// the site has had the pages that it may have.
type Trap struct {
	Site     string `json:"site"`
	Template string `json:"template"`          // what the URLs look like; of a site that has had its pages, the largest template
	Example  string `json:"example,omitempty"` // one of them
	Waiting  int64  `json:"waiting"`           // URLs, or refused ones
	Answers  int64  `json:"answers"`           // of URLs like these
	Empty    int64  `json:"empty,omitempty"`   // of them, that brought nothing new
	Varied   int64  `json:"varied,omitempty"`  // of these, that differed from others by a word or two, by numbers or by their order only
	Part     string `json:"part,omitempty"`    // set: what they differ in from others, and makes no difference
	Budget   bool   `json:"site_budget,omitempty"`
	Hosts    bool   `json:"hosts,omitempty"`     // they lie on hosts like that: Template and Example are of hosts, Site is a domain
	Chain    bool   `json:"redirects,omitempty"` // they lie behind too many redirects in a row
}

// TrapKind is what kind of trap one is.
type TrapKind int

// Kinds of traps, in the order of what may have been lost.
const (
	TrapOpen      TrapKind = iota // a chain: its last page names a next one, and nobody knows how many follow
	TrapYield                     // many of the like wait
	TrapPart                      // they differ from others in what makes no difference
	TrapHosts                     // hosts
	TrapBudget                    // the site has had its pages
	TrapRedirects                 // redirects in a row
)

// openShare is up to which share of the answers what waits is the next of a chain, not a crowd: of a chain one waits, of one
// with filters as many as these have values.
const openShare = 0.05

// Kind returns what kind of trap it is.
func (t *Trap) Kind() TrapKind {
	switch {
	case t.Budget:
		return TrapBudget
	case t.Chain:
		return TrapRedirects
	case t.Hosts:
		return TrapHosts
	case t.Part != "":
		return TrapPart
	case float64(t.Waiting) <= openShare*float64(t.Answers):
		return TrapOpen
	}
	return TrapYield
}

// CompareTraps orders traps by what may have been lost: chains first, the longer the sooner, then by what waits.
func CompareTraps(a, b Trap) int {
	if a.Kind() == TrapOpen && b.Kind() == TrapOpen {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Template, b.Template))
	}
	return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Template, b.Template))
}
