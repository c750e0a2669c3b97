package topic

import (
	"bytes"
	"hash/fnv"
)

// saidLeast is how many bytes of words a main text has that tells a page from others; shorter ones stand on many.
const saidLeast = 300

// Said returns a mark of a page's main text: equal for pages that say the same, whatever their titles, their links and what stands around the text.
// It is 0 for a page that says little.
func Said(html []byte) uint64 {
	h, n := fnv.New64a(), 0
	walk(html, func(from, to, place int, _ bool) {
		if place != inText {
			return
		}
		for word := range bytes.FieldsSeq(html[from:to]) {
			_, _ = h.Write(word) // it takes all
			n += len(word)
		}
	})
	if n < saidLeast {
		return 0
	}
	return h.Sum64() | 1
}
