package engine

import (
	"fmt"
	"math"

	"golang.org/x/net/html"

	"argosy/internal/crawl"
)

// Walk goes through the pages of a search: it says which address is to be fetched, takes the answer, and says the next, until there
// is a reason to stop. It collects each result once.
type Walk struct {
	Results []Result
	Stated  crawl.Stated // what the engine states: the last number, but an exact one gives way to exact ones and to results that refute it only, and one that is refuted to larger ones only
	Last    Verdict      // of the last answer
	Stop    string       // why it has ended; empty while it has not
	Pages   int          // that were taken

	engine *Ready
	search Search
	quota  int
	before int // results of pages that were taken before this walk began, which may be shown again
	at     int // of the page that is read next: what stands in its address for {page}, where that grows by results
	next   string
	count  bool // next was had by counting
	cut    bool // a page had more results than are read
	asked  map[string]bool
	seen   map[string]bool
}

// NewWalk begins a search of at most quota pages.
func NewWalk(r *Ready, s Search, quota int) (*Walk, error) {
	first, err := r.Address(s, 0)
	if err != nil {
		return nil, err
	}
	if quota < 1 {
		return nil, fmt.Errorf("%d pages: want at least 1", quota)
	}
	return &Walk{engine: r, search: s, quota: quota, at: r.first, next: first, asked: map[string]bool{first: true}, seen: map[string]bool{}, Stated: crawl.Stated{Kind: crawl.StatedMissing}}, nil
}

// Resume goes on with a search at a page, counted from 0, whose address is known: found results were had before it, and the engine
// has stated what is there. Whether those are all that it states is known to who remembers them.
func (r *Ready) Resume(s Search, page int, address string, found int, stated crawl.Stated) *Walk {
	if stated.Kind == "" {
		stated.Kind = crawl.StatedMissing
	}
	at, ok := r.at(s, address)
	if !ok {
		at = r.first + found
	}
	return &Walk{engine: r, search: s, quota: math.MaxInt, at: at, next: address, asked: map[string]bool{address: true}, seen: map[string]bool{}, Stated: stated, Pages: page, before: found}
}

// Next returns the address to be fetched next; ok is false when the walk has ended.
func (w *Walk) Next() (address string, ok bool) { return w.next, w.Stop == "" }

// Counted reports whether the address of Next was had by counting: the last page has not named it.
func (w *Walk) Counted() bool { return w.count }

// Take reads the answer to Next.
func (w *Walk) Take(a Answer) Reading {
	r := w.engine.Read(a, w.Pages > 0)
	w.Pages++
	w.at += len(r.Results) + r.Dropped
	w.Last = r.Verdict
	if w.Stated.GivesWay(r.Stated) {
		w.Stated = r.Stated
	}
	fresh := 0
	for _, res := range r.Results {
		if !w.seen[res.URL] {
			w.seen[res.URL] = true
			w.Results = append(w.Results, res)
			fresh++
		}
	}
	w.Stated = w.Stated.Shown(int64(max(w.before, len(w.Results))))
	if r.Verdict == Empty && r.unsigned {
		if stated := w.states(r); stated.N > w.shown() {
			r.Verdict, r.Reason = Changed, fmt.Sprintf("%s results stated, %d shown, and a page with neither results nor what an answer without results has", stated, w.shown())
			w.Last = r.Verdict
		}
	}
	w.cut = w.cut || r.Cut
	if w.Stop = w.after(r, fresh); w.Stop != "" && w.cut {
		w.Stop += fmt.Sprintf("; of a page with more than %d results the others were not read", MaxResults)
	}
	return r
}

// states is how many results there are, for a page that has none: what was stated exactly, or, if a page with results named this one, what this one
// states itself. An estimate that only others state may be too high.
func (w *Walk) states(r Reading) crawl.Stated {
	switch {
	case w.Stated.Kind == crawl.StatedExact:
		return w.Stated
	case w.engine.next != nil:
		return r.Stated
	}
	return crawl.Stated{Kind: crawl.StatedMissing}
}

// shown is how many results there have been so far at most, those before this walk included.
func (w *Walk) shown() int64 { return int64(w.before + len(w.Results)) }

// after finds the next page, or says why there is none.
func (w *Walk) after(r Reading, fresh int) string {
	limit := w.engine.Limit
	switch {
	case r.Verdict != Found:
		return string(r.Verdict) + ": " + r.Reason
	case fresh == 0:
		return "a page without a new result"
	case w.Stated.Kind == crawl.StatedExact && w.before == 0 && w.shown() == w.Stated.N && r.Next == "":
		return "all that the engine states"
	case limit > 0 && w.before+len(w.Results) >= limit:
		return fmt.Sprintf("the engine shows %d results at most", limit)
	}
	next := r.Next
	if w.count = w.engine.next == nil && w.engine.counts(); w.count {
		at := w.engine.first + w.Pages*w.engine.step
		if w.engine.step == 0 {
			at = w.at
		}
		var err error
		if next, err = w.engine.addressAt(w.search, at); err != nil {
			return err.Error()
		}
	}
	switch {
	case next == "":
		return "no next page"
	case w.asked[next]:
		return "the next page is one that was asked"
	case w.Pages >= w.quota:
		return fmt.Sprintf("as many pages as were asked for: %d", w.quota)
	}
	w.next, w.asked[next] = next, true
	return ""
}

// base is what addresses in a document are relative to.
func (d *document) base(of crawl.URL) crawl.URL {
	if d.tree == nil {
		return of
	}
	if href := baseHref(d.tree); href != "" {
		if u, err := of.Resolve(href); err == nil {
			return u
		}
	}
	return of
}

// baseHref finds the first base element of HTML.
func baseHref(n *html.Node) string {
	if n.Type == html.ElementNode && n.Data == "base" && n.Namespace == "" {
		for _, a := range n.Attr {
			if a.Key == "href" {
				return a.Val
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if href := baseHref(c); href != "" {
			return href
		}
	}
	return ""
}

// anchors appends the addresses of all a elements.
func anchors(n *html.Node, out []string) []string {
	if n.Type == html.ElementNode && n.Data == "a" {
		for _, a := range n.Attr {
			if a.Key == "href" {
				out = append(out, a.Val)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out = anchors(c, out)
	}
	return out
}
