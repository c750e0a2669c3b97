// Package segment cuts text into words: at spaces where a script has them, by a dictionary of Chinese where it has none.
// The dictionary is part of the binary and is read when it is first needed, which takes less than a tenth of a second. The cut is
// that of jieba: the words that are most frequent together, and a model of characters where the dictionary has none.
package segment

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"

	"github.com/go-ego/gse/hmm"
)

// ownFrequency is that of words that a user adds: more than almost any word of the dictionary has.
const ownFrequency = 1e6

// Segmenter cuts text into words. Its methods may be called by several goroutines.
type Segmenter struct {
	added []string
	load  sync.Once
	sets  [2]*words // the dictionary's words, and the user's
	err   error
}

// New returns a segmenter that has not read its dictionary yet. words are added to it.
func New(words ...string) *Segmenter { return &Segmenter{added: words} }

// Words returns the words of a text in order, without spaces and punctuation. In pieces with Chinese characters, Latin
// letters become small.
func (s *Segmenter) Words(text string) ([]string, error) {
	var out []string
	for _, run := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
	}) {
		if !han(run) {
			out = append(out, run)
			continue
		}
		s.load.Do(func() {
			if s.sets[0], s.err = dictionary(); s.err == nil {
				s.sets[1] = own(s.added, ownFrequency, s.sets[0])
			}
		})
		if s.err != nil {
			return nil, fmt.Errorf("read the dictionary: %w", s.err)
		}
		out = append(out, s.cut(strings.ToLower(run))...)
	}
	return out, nil
}

func han(s string) bool {
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			return true
		}
	}
	return false
}

// cut divides a run of characters by the best path, and characters that are left single by the model.
func (s *Segmenter) cut(run string) (out []string) {
	chars := strings.Split(run, "")
	single := 0 // characters before i that are not in out yet
	flush := func(i int) {
		piece := strings.Join(chars[i-single:i], "")
		switch {
		case single == 0:
		case single == 1:
			out = append(out, piece)
		case s.sets[0].has(piece) || s.sets[1].has(piece):
			out = append(out, chars[i-single:i]...)
		default:
			out = append(out, hmm.Cut(piece)...)
		}
		single = 0
	}
	ends := s.path(chars)
	for i := 0; i < len(chars); i = ends[i] {
		if ends[i] == i+1 {
			single++
			continue
		}
		flush(i)
		out = append(out, strings.Join(chars[i:ends[i]], ""))
	}
	flush(len(chars))
	return out
}

// path returns for each character where the word ends that begins there on the best path: the one with the largest
// product of frequencies, each as a share of all; of equal ones that with the longer first word.
func (s *Segmenter) path(chars []string) []int {
	total := math.Log(s.sets[0].total + s.sets[1].total)
	ends := make([]int, len(chars))
	best := make([]float64, len(chars)+1)
	for i := len(chars) - 1; i >= 0; i-- {
		ends[i] = 0
		nodes, in := [2]node{s.sets[0].root(), s.sets[1].root()}, [2]bool{true, true}
		for end := i + 1; end <= len(chars) && (in[0] || in[1]); end++ {
			frequency := 0.0
			for k, set := range s.sets {
				if in[k] {
					if nodes[k], in[k] = set.next(nodes[k], chars[end-1]); in[k] {
						frequency = max(frequency, set.frequency(nodes[k]))
					}
				}
			}
			if frequency == 0 {
				continue
			}
			if p := math.Log(frequency) - total + best[end]; ends[i] == 0 || p >= best[i] {
				best[i], ends[i] = p, end
			}
		}
		if ends[i] == 0 { // a character that no word begins with counts as if it had been seen once
			best[i], ends[i] = best[i+1]-total, i+1
		}
	}
	return ends
}
