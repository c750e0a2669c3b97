package yield

import (
	"fmt"
	"testing"
)

// A form beside a page, or a month of a calendar, is asked for by a parameter of the page's URL, and the answer is the page but for a few words that
// are known. Once enough pages were so the others wait, whether they are one template or each one of its own. Where one in 20 says something
// that was not there, or leads there, all are asked for.
func TestParametersThatAddNothing(t *testing.T) {
	const pages, forms = 300, 4
	post := func(i int) string { return fmt.Sprintf("/post/%d", i) }
	named := func(i int) string { return fmt.Sprintf("/%c%c/", 'a'+i/26, 'a'+i%26) }
	for name, c := range map[string]struct {
		page        func(i int) string
		least, most int // forms that are asked for
		of          func(i int, a *Answer)
	}{
		"of posts":     {post, agreeNumber, 2 * agreeNumber, func(int, *Answer) {}},
		"of templates": {named, agreeNumber, 3 * agreeNumber, func(int, *Answer) {}},
		"with figures": {post, pages * forms, pages * forms, func(i int, a *Answer) {
			if i%20 == 19 {
				for k := range uint32(someFigures) {
					a.Figures = append(a.Figures, xx(uint32(i)*64+k)&^1)
				}
			}
		}},
		"with files": {post, pages * forms, pages * forms, func(i int, a *Answer) {
			if i%20 == 19 {
				a.Found, a.Own = 1, 1
			}
		}},
		"of another text": {post, limit, pages * forms, func(_ int, a *Answer) { a.Sample = a.Sample[:4] }},
	} {
		m, asked := New(), 0
		m.fresh(0, []uint32{2, 4, 6})
		for i := range pages {
			u := parsed(t, "http://h.test"+c.page(i))
			thing := m.Template(u)
			var sample []uint32
			for k := range uint32(42) {
				sample = append(sample, xx(uint32(i)*64+k)&^1)
			}
			m.Take(&Answer{URL: u, Template: thing, Page: true, Marked: true, Text: uint64(i+10) << 32, Sample: sample})
			for k := range forms {
				form := parsed(t, fmt.Sprintf("%s?replytocom=%d", u, 1000+i*forms+k))
				if m.Judge(form, thing, false).Wait {
					continue
				}
				if rest, ok := m.Rest(form); ok && m.Spare(rest.Part, thing).Wait { // as the frontier does, which has the post
					continue
				}
				asked++
				n := i*forms + k
				a := Answer{URL: form, Template: m.Template(form), Via: thing, Parent: u, Page: true, Marked: true, Text: uint64(n+100_000) << 32, Sample: append([]uint32{2, 4, 6}, sample...)}
				c.of(n, &a)
				m.Take(&a)
			}
		}
		if asked < c.least || asked > c.most {
			t.Errorf("%s: %d of %d forms asked for, want %d to %d", name, asked, pages*forms, c.least, c.most)
		}
	}
}

// An archive has copies of all folders below it, five pages of each, whose links lead to more of them. Each folder's copies are a template, which is too
// few pages to tell by itself: that the directory makes no difference shows in all of them together.
func TestCopiesOfManyFolders(t *testing.T) {
	const folders, pages = 24, 5
	m := New()
	answer := func(url string, via uint32, text, found int) uint32 {
		u := parsed(t, url)
		if rest, ok := m.Rest(u); ok && m.Spare(rest.Part, via).Wait {
			return 0
		}
		id := m.Template(u)
		m.Take(&Answer{URL: u, Template: id, Via: via, Page: true, Marked: true, Text: uint64(text) << 32, Sample: []uint32{xx(uint32(text)) &^ 1}, Found: found, Feeds: Feeds{Own: found}})
		return id
	}
	copies := 0
	for i := range folders {
		for k := range pages {
			path := fmt.Sprintf("/%c%c/%c%c", 'a'+i, 'b'+i, 'c'+k, 'd'+k)
			id := answer("http://h.test"+path, 0, 1+i*pages+k, 0)
			if answer("http://h.test/old"+path, id, 1+i*pages+k, 2) != 0 {
				copies++
			}
		}
	}
	if most := agreeAlias + aliasNamed*4 + folders; copies > most {
		t.Errorf("%d of %d copies asked for, want %d at most", copies, folders*pages, most)
	}
}
