package topic

import (
	"maps"
	"slices"
)

// Doc is a document as topics are made of it: how much of each stem it has, from 0 to 1, by BM25's saturation.
type Doc struct {
	Terms    map[string]float64
	Language string
}

// mostWords bounds the different words of a document: no text for people has more.
const mostWords = 20_000

// NewDoc reads a document: a page in HTML in UTF-8, or a plain text. Words that every text and every page has are left out.
// language is one of ISO 639-1; empty: it is guessed.
func NewDoc(b []byte, html bool, language string) *Doc {
	words := map[string]*counts{}
	main := 0
	read := func(text []byte, place int) {
		Each(text, func(w []byte) {
			c := words[string(w)]
			if c == nil {
				if len(words) == mostWords {
					return
				}
				c = &counts{}
				words[string(w)] = c
			}
			switch place {
			case inTitle:
				c.title++
			case inHeading:
				c.heading++
			case inText:
				main++
				c.text++
			case inLink:
				c.link++
			}
		})
	}
	if html {
		walk(b, func(from, to, place int, _ bool) { read(b[from:to], place) })
	} else {
		read(b, inText)
	}
	if language == "" {
		var all []string
		for _, w := range slices.Sorted(maps.Keys(words)) {
			c := words[w]
			for range min(c.text+c.title+c.heading, 20) {
				all = append(all, w)
			}
		}
		language = guess(all)
	}
	d := &Doc{Terms: map[string]float64{}, Language: language}
	tf := map[string]float64{}
	for _, w := range slices.Sorted(maps.Keys(words)) { // sums do not depend on the order of a map
		c := words[w]
		if stops[language][w] || webWords[w] || len(w) < 2 || w[0] >= '0' && w[0] <= '9' {
			continue
		}
		tf[stem(w, language)] += titleWorth*float64(min(c.title, mostTitle)) + headingWorth*float64(min(c.heading, mostHeading)) + float64(c.text) + linkWorth*float64(c.link)
	}
	half := saturation * (1 - lengthShare + lengthShare*min(8, float64(main)/usualLength))
	for w, n := range tf {
		if n > 0 {
			d.Terms[w] = n / (n + half)
		}
	}
	return d
}
