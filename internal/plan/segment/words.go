package segment

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-ego/gse/hmm"
	"github.com/klauspost/compress/zstd"
)

// packed is the dictionary: 587,207 words of simplified and traditional Chinese with their frequencies, from jieba by way of
// gse, in the columns that make.go describes.
//
//go:embed words.zst
var packed []byte

//go:generate go run make.go

// words is a set of words with their frequencies, sorted, in one piece of memory. It serves as a trie: words with the same
// beginning stand together, so that a range of them is a node, and a binary search within it finds the next.
type words struct {
	text  []byte
	ends  []uint32 // where word i ends in text; it begins where the one before it ends
	count []uint32
	total float64 // of all frequencies
}

// node is the words of a set that begin with the same bytes: from lo, before hi, sharing the first depth bytes.
type node struct{ lo, hi, depth int }

func (w *words) root() node { return node{0, len(w.ends), 0} }

// word returns word i from its byte from on.
func (w *words) word(i, from int) []byte {
	begin := 0
	if i > 0 {
		begin = int(w.ends[i-1])
	}
	return w.text[begin+from : w.ends[i]]
}

// next returns the words of a node that go on with more, and whether there are any.
func (w *words) next(n node, more string) (node, bool) {
	lo := n.lo + sort.Search(n.hi-n.lo, func(i int) bool { return string(w.word(n.lo+i, n.depth)) >= more })
	hi := lo + sort.Search(n.hi-lo, func(i int) bool {
		rest := w.word(lo+i, n.depth)
		return len(rest) < len(more) || string(rest[:len(more)]) != more
	})
	return node{lo, hi, n.depth + len(more)}, lo < hi
}

// frequency returns that of the word that ends at a node, 0 where none does.
func (w *words) frequency(n node) float64 {
	if n.lo < n.hi && len(w.word(n.lo, n.depth)) == 0 {
		return float64(w.count[n.lo])
	}
	return 0
}

// has reports whether a word is in the set.
func (w *words) has(word string) bool {
	n, ok := w.next(w.root(), word)
	return ok && w.frequency(n) > 0
}

// own makes a set of words that all have the same frequency; those in but are left out.
func own(list []string, frequency uint32, but *words) *words {
	var sorted []string
	for _, word := range list {
		if word = strings.ToLower(word); word != "" && !but.has(word) {
			sorted = append(sorted, word)
		}
	}
	sort.Strings(sorted)
	w := &words{}
	for i, word := range sorted {
		if i > 0 && word == sorted[i-1] {
			continue
		}
		w.text = append(w.text, word...)
		w.ends = append(w.ends, uint32(len(w.text)))
		w.count = append(w.count, frequency)
		w.total += float64(frequency)
	}
	return w
}

// dictionary reads the packed words once in a process, and has the model for words that are in no dictionary made.
var dictionary = sync.OnceValues(func() (*words, error) {
	hmm.LoadModel()
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	b, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	return unpack(b)
})

// unpack reads the columns: of each word how many units of UTF-16 it shares with the one before it, how many are its own, these, and
// its frequency.
func unpack(b []byte) (*words, error) {
	var column [4][]byte
	for i := range column {
		n, used := binary.Uvarint(b)
		if used <= 0 || uint64(len(b)-used) < n {
			return nil, fmt.Errorf("column %d is cut short", i)
		}
		column[i], b = b[used:used+int(n)], b[used+int(n):]
	}
	shared, own, rest, count := column[0], column[1], column[2], column[3]
	if len(own) != len(shared) {
		return nil, fmt.Errorf("%d words share, %d have their own", len(shared), len(own))
	}
	w := &words{text: make([]byte, 0, 3*len(rest)), ends: make([]uint32, len(shared)), count: make([]uint32, len(shared))}
	var word []uint16
	for i := range shared {
		if int(shared[i]) > len(word) || 2*int(own[i]) > len(rest) {
			return nil, fmt.Errorf("word %d is cut short", i)
		}
		word = word[:shared[i]]
		for ; own[i] > 0; own[i]-- {
			word, rest = append(word, binary.BigEndian.Uint16(rest)), rest[2:]
		}
		w.text = appendUTF8(w.text, word)
		n, used := binary.Uvarint(count)
		if used <= 0 {
			return nil, fmt.Errorf("word %d has no frequency", i)
		}
		count = count[used:]
		w.ends[i], w.count[i], w.total = uint32(len(w.text)), uint32(n), w.total+float64(n)
	}
	w.text = slices.Clip(w.text)
	return w, nil
}

// appendUTF8 appends units of UTF-16.
func appendUTF8(b []byte, units []uint16) []byte {
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) && i+1 < len(units) {
			i++
			r = utf16.DecodeRune(r, rune(units[i]))
		}
		b = utf8.AppendRune(b, r)
	}
	return b
}
