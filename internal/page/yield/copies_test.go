package yield

import (
	"fmt"
	"testing"
)

// Links that are relative to the wrong place lead to each page below each folder. The copies of one folder are too few for a cut; those of all are one trap,
// also where further folders come later, and what is new beside them goes on.
func TestCopiesInManyFoldersAreOneTrap(t *testing.T) {
	const folders, pages = 24, 12
	m := New()
	answers := func(url string, via uint32, text int) bool {
		u := parsed(t, url)
		if m.Judge(u, via, false).Wait {
			return false
		}
		mark := uint32(text) << 4
		a := Answer{URL: u, Template: m.Template(u), Via: via, Page: true, Marked: true, Text: uint64(text) << 32, Sample: []uint32{mark + 2, mark + 4, mark + 6}}
		a.Links, a.Found, a.Feeds = folders, 4, Feeds{Own: 4}
		m.Take(&a)
		return true
	}
	own, copies := 0, 0
	for in := range folders {
		for page := range pages {
			url := fmt.Sprintf("http://h.test/%c-folder/%d", 'a'+in, page)
			if answers(url, m.Find(parsed(t, "http://h.test/a-folder/0")), 1+in*pages+page) {
				own++
			}
			for of := range in + 1 {
				for beside := range pages {
					copied := fmt.Sprintf("http://h.test/%c-folder/%c-folder/%d/%d", 'a'+in, 'a'+of, page, beside)
					if answers(copied, m.Find(parsed(t, url)), 1+of*pages+beside%(page+1)) && (of < in || beside <= page) {
						copies++
					}
				}
			}
		}
	}
	if own != folders*pages {
		t.Errorf("%d of %d pages", own, folders*pages)
	}
	if copies > 2*limit {
		t.Errorf("%d copies, want %d at most", copies, 2*limit)
	}
	t.Logf("%d pages, %d copies", own, copies)
}
