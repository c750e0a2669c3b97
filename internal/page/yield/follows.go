package yield

import (
	"strconv"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// The next page of a list is asked for although its group is cut, if what the page before has named was new: a list's own text says next to
// nothing, and what is behind it may be a good deal of a site. What a trap's pages name is not new, so that hardly any follow.

const (
	bearsFrom   = 3 // new answers that a page has named, after which it bears: fewer may be chance, as each page is named by one
	pagesBefore = 2 // how far before a page one may be that bears: what the last one has named may not be there yet
	maxBefore   = 8 // URLs that are looked for
	pageDigits  = 6 // of a number that is a page's, at most

	bearsSeed = 0x3c79ac492ba7b653
)

// Lister is a mark of a page that names others.
func Lister(k crawl.Key) uint64 { return xxh3.HashSeed(k[:], bearsSeed) | 1 }

// rewards counts a new answer for the page that has named it, and for its form.
func (m *Model) rewards(t, via *Template, a *Answer, of kind) {
	if of == isNew || of == isPartly {
		m.fruit(a)
		m.formed(t, true)
		m.nameForms(via, a)
	}
}

// fruit counts a new answer for the page that has named it.
func (m *Model) fruit(a *Answer) {
	if a.Lister != 0 && m.counted(a.Lister) == bearsFrom {
		m.Bearing++
		m.metaDirty = true
	}
}

// HasBorne reports whether enough of what a page has named was new.
func (m *Model) HasBorne(page crawl.Key) bool {
	n, _ := m.marks.get(Lister(page))
	return n >= bearsFrom
}

// Begun reports whether pages, or forms of URLs, have begun to bear since it was asked last. What waits may go on for them.
func (m *Model) Begun() bool {
	if m.cuts == 0 || m.Bearing == m.Followed {
		return false
	}
	m.Followed, m.metaDirty = m.Bearing, true
	return true
}

// MayFollow reports whether there is anything that a URL may follow.
func (m *Model) MayFollow() bool { return m.Bearing > 0 }

// Follows reports whether a URL is that of the next page after one that bears: one of its numbers is larger by one or two. Of a list that counts
// entries the page that has named the URL is the one before, if a number is larger by no more than it was there: 20, 40, 60.
func (m *Model) Follows(u, parent crawl.URL) bool {
	s, looked := u.String(), 0
	for i := len(s) - len(u.Path()) - len(u.Query()); i < len(s) && looked < maxBefore; i++ {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		n, err := strconv.Atoi(s[from:i])
		if err != nil || i-from > pageDigits || s[from] == '0' || s[from-1] == '%' {
			continue
		}
		for less := 1; less <= min(pagesBefore, n); less++ {
			looked++
			if m.bearsAt(s[:from] + strconv.Itoa(n-less) + s[i:]) {
				return true
			}
		}
		if was, ok := numberIn(parent.String(), s[:from], s[i:]); ok && was < n && n <= 2*was && m.bearsAt(parent.String()) {
			return true
		}
	}
	return false
}

func (m *Model) bearsAt(url string) bool {
	u, err := crawl.Parse(url)
	return err == nil && m.HasBorne(u.Key())
}

// numberIn returns the number that a text is between two others.
func numberIn(s, before, after string) (int, bool) {
	if len(s) <= len(before)+len(after) || s[:len(before)] != before || s[len(s)-len(after):] != after {
		return 0, false
	}
	n, err := strconv.Atoi(s[len(before) : len(s)-len(after)])
	return n, err == nil && n > 0
}
