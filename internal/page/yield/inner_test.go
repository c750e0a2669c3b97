package yield

import (
	"fmt"
	"testing"
)

// Of posts that a list names all are new; a post names pages that are not there, which have addresses as posts have, and propose more of such. The
// posts that the list names pay for none of these: the trap ends as soon as it would beside posts of other addresses, and the list's go on.
func TestWhatListsNamePaysForNothingElse(t *testing.T) {
	const posts, between = 400, 3
	phrases := func(i int) (s []uint32) {
		for k := range 20 {
			s = append(s, xx(uint32(20*i+k))&^1)
		}
		return s
	}
	m := New()
	list := parsed(t, "http://h.test/list")
	m.Take(&Answer{URL: list, Template: m.Template(list), Page: true, Marked: true, Text: 1 << 40, Sample: phrases(posts + 1)})
	missing, had := 0, 0
	for i := range posts {
		for k := range between {
			u := parsed(t, fmt.Sprintf("http://h.test/post/lost-%c%c-%c", 'a'+i/26, 'a'+i%26, 'a'+k))
			id := m.Template(u)
			if i == 0 || m.Judge(u, id, false).Wait {
				continue
			}
			missing++
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(9000+3*i+k) << 32, Sample: phrases(0), Links: 5, Found: 5, Feeds: Feeds{Own: 5, Led: 5, Same: 3}})
		}
		u := parsed(t, fmt.Sprintf("http://h.test/post/of-%c%c", 'a'+i/26, 'a'+i%26))
		if m.Judge(u, m.Template(list), false).Wait {
			continue
		}
		had++
		m.Take(&Answer{URL: u, Template: m.Template(u), Via: m.Template(list), Page: true, Marked: true, Text: uint64(i+1) << 32, Sample: phrases(i + 1), Links: 5, Found: 1})
	}
	if most := limit + rounds*trialSize; missing < 100 || missing > most || had != posts {
		t.Errorf("%d pages that are not there and %d of %d posts were asked for, want at most %d and all", missing, had, posts, most)
	}
}
