package yield

import (
	"fmt"
	"testing"
)

// Of articles that go on bringing something one in eight is marked. Each has the months of a calendar beside it, which show the article's own text: it was
// not there if the article was not marked, and is no more than that. Months that say something beside marked articles, too, are all asked for.
func TestWhatStandsBesideUnmarkedPages(t *testing.T) {
	const articles, months = 900, 2
	for name, own := range map[string]bool{"with the article's text": false, "with their own": true} {
		m, asked := New(), 0
		var frame []uint32
		for k := range uint32(8) {
			frame = append(frame, xx(1e6+k)&^1)
		}
		text := func(of uint32) (sample []uint32) {
			for k := range uint32(20) {
				sample = append(sample, xx(of*64+k)&^1)
			}
			return append(sample, frame...)
		}
		for i := range uint32(articles) {
			u := parsed(t, fmt.Sprintf("http://h.test/article-%c%c%c/", 'a'+i%26, 'a'+i/26%26, 'b'+i/676))
			article := m.Template(u)
			m.Take(&Answer{URL: u, Template: article, Page: true, Marked: i%8 == 0 || i < markFirst, Text: uint64(i+1) << 32, Sample: sorted(text(i))})
			for k := range uint32(months) {
				month := parsed(t, fmt.Sprintf("%s?month=%d", u, k+1))
				if m.Judge(month, article, false).Wait {
					continue
				}
				asked++
				of := i
				if own && k == 0 {
					of += articles
				}
				m.Take(&Answer{
					URL: month, Parent: u, Template: m.Template(month), Via: article, Page: true, Marked: true,
					Text: uint64(1000+i*months+k) << 32, Sample: sorted(text(of)), Found: 1, Feeds: Feeds{Own: 1},
				})
			}
		}
		if most := 2 * limit; !own && asked > most || own && asked < articles*months {
			t.Errorf("%s: %d of %d months asked for", name, asked, articles*months)
		}
	}
}
