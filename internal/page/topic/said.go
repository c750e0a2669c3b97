package topic

// saidLeast is how many bytes of words a main text has that tells a page from others; shorter ones stand on many.
const saidLeast = 300

// Said returns a mark of a page's main text: equal for pages that say the same, whatever their titles, their links and what stands around the text.
// It is 0 for a page that says little.
func Said(html []byte) uint64 {
	h, n := uint64(0xcbf29ce484222325), 0
	walk(html, func(from, to, place int, _ bool) {
		if place != inText {
			return
		}
		for _, c := range html[from:to] {
			if c > ' ' {
				h = (h ^ uint64(c)) * 0x100000001b3
				n++
			}
		}
	})
	if n < saidLeast {
		return 0
	}
	return h | 1
}
