// Package segment cuts text into words: at spaces where a script has them, by a dictionary of Chinese where it has none.
// The dictionary is part of the binary and is read when it is first needed, which takes about a second.
package segment

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/go-ego/gse"
)

// Segmenter cuts text into words. Its methods may be called by several goroutines.
type Segmenter struct {
	words []string
	load  sync.Once
	seg   gse.Segmenter
	err   error
}

// New returns a segmenter that has not read its dictionary yet. words are added to it.
func New(words ...string) *Segmenter { return &Segmenter{words: words} }

// Words returns the words of a text in order, without spaces and punctuation.
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
			s.seg, s.err = gse.NewEmbed("zh")
			s.seg.SkipLog = true
			for _, w := range s.words {
				if s.err == nil {
					s.err = s.seg.AddToken(w, 1e6, "n")
				}
			}
		})
		if s.err != nil {
			return nil, fmt.Errorf("read the dictionary: %w", s.err)
		}
		out = append(out, s.seg.Cut(run, true)...)
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
