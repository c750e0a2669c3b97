package survey

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

const (
	maxText  = 256 << 10 // bytes of a page's text that are compared
	maxMarks = 8 << 20   // of all pages, four bytes each and as much again some times while they are compared; the text of later ones counts as their own
	run      = 3         // words that are compared together
	// pageMarks is what a page counts beside its marks, four bytes each: its address and where it stands.
	pageMarks = 32
	// A page says nothing of its own when so few of its runs of words are new: a word that differs, such as "print" in the title, makes
	// two or three. Pages with fewer runs than leastMarks say too little to be judged.
	fewMarks, leastMarks = 4, 24
)

// pageText is what a page says: a mark of its site for each run of words.
type pageText struct {
	url   string
	marks []uint32
}

// text takes in what a page says.
func (g *gatherer) text(u crawl.URL, body []byte) {
	if g.marks >= maxMarks {
		return
	}
	words := strings.Fields(parse.Text(body, maxText))
	marks := make([]uint32, 0, max(0, len(words)-run+1))
	for i := range len(words) - run + 1 {
		marks = append(marks, uint32(maphash.Comparable(g.seed, [run + 1]string{u.Site(), words[i], words[i+1], words[i+2]})))
	}
	slices.Sort(marks)
	marks = slices.Clip(slices.Compact(marks))
	if len(marks) == 0 {
		return
	}
	g.marks += pageMarks + len(marks)
	g.texts = append(g.texts, pageText{u.String(), marks})
}

// compare finds the pages whose text a plainer URL has: with fewer parameters, with more text, or shorter. Printed pages and those with a
// session's number have bytes of their own, and bring nothing. A page that has the text of many says nothing against them.
func (g *gatherer) compare() {
	slices.SortFunc(g.texts, func(a, b pageText) int {
		return cmp.Or(cmp.Compare(parameters(a.url), parameters(b.url)), cmp.Compare(len(b.marks), len(a.marks)),
			cmp.Compare(len(a.url), len(b.url)), strings.Compare(a.url, b.url))
	})
	g.texts = slices.CompactFunc(g.texts, func(a, b pageText) bool { return a.url == b.url }) // a crash has left it twice
	first := map[uint32]int32{}                                                               // by mark, the text that has it first
	fresh := make([]int, len(g.texts))                                                        // by text, how many it has first
	for i, t := range g.texts {
		holders, most := map[int]int{}, i
		for _, m := range t.marks {
			holder, known := first[m]
			if !known {
				fresh[i]++
				first[m] = int32(i)
				continue
			}
			if holders[int(holder)]++; holders[int(holder)] > holders[most] {
				most = int(holder)
			}
		}
		if fresh[i] > fewMarks || len(t.marks) < leastMarks || fresh[most] > 2*len(t.marks) {
			continue
		}
		if u, err := crawl.Parse(t.url); err == nil {
			if of := g.of(u); of != nil && of.Fresh > 0 {
				of.Fresh--
				of.Copies++
				g.said[t.url] = true
			}
		}
	}
	g.texts = nil
}

func parameters(url string) int {
	if !strings.Contains(url, "?") {
		return 0
	}
	return 1 + strings.Count(url, "&")
}
