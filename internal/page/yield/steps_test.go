package yield

import (
	"fmt"
	"slices"
	"testing"
)

// The order of names in paths is learned from pairs below one first segment, whatever their templates, also across restarts. It is not where paths that
// differ in it show different things or what all show, nor where what differs is something else that was learned to make no difference.
func TestOrderOfNamesInPaths(t *testing.T) {
	for name, c := range map[string]struct {
		url   func(i, k, order int) string
		shows func(i, k, order int) string
		some  bool
	}{
		"choices":     {func(i, k, _ int) string { return "/shop/" + wording(i) + "/" + wording(k) }, func(i, k, _ int) string { return fmt.Sprint(min(i, k), max(i, k)) }, true},
		"with an end": {func(i, k, _ int) string { return "/shop/" + wording(i) + "/" + wording(k) + ".html" }, func(i, k, _ int) string { return fmt.Sprint(min(i, k), max(i, k)) }, true},
		"rates":       {func(i, k, _ int) string { return "/rates/" + wording(i) + "/" + wording(k) }, func(i, k, _ int) string { return fmt.Sprint(i, " in ", k) }, false},
		"a few differ": {func(i, k, _ int) string { return "/shop/" + wording(i) + "/" + wording(k) }, func(i, k, order int) string {
			return fmt.Sprint(min(i, k), max(i, k), order*(1-min(1, (i+k)%8)))
		}, false},
		"nothing there": {func(i, k, _ int) string { return "/shop/" + wording(i) + "/" + wording(k) }, func(_, _, _ int) string { return "no such page" }, false},
		"one address": {func(i, k, order int) string {
			return fmt.Sprintf("/shop/%s/%s?id=%x", wording(min(i, k)), wording(max(i, k)), 0xabcdef0123456789+uint64(order)*0x9e3779b97f4a7c15)
		}, func(i, k, _ int) string { return fmt.Sprint(min(i, k), max(i, k)) }, false},
	} {
		m, kept := New(), map[string][]byte{}
		for i := range 12 {
			for k := range i {
				likeness(t, m, "http://h.test"+c.url(i, k, 0), c.shows(i, k, 0))
				likeness(t, m, "http://h.test"+c.url(k, i, 1), c.shows(k, i, 1))
			}
			m = restarted(t, m, kept)
		}
		learned := slices.ContainsFunc(m.allLearned(), func(g *guess) bool { return g.Part.Kind == partSteps })
		if learned != c.some {
			t.Errorf("%s: learned %v", name, learned)
		}
		if !learned {
			continue
		}
		x, _ := m.Rest(parsed(t, "http://h.test"+c.url(1, 2, 0)))
		y, changed := m.Rest(parsed(t, "http://h.test"+c.url(2, 1, 0)))
		if !changed || x.Key != y.Key {
			t.Errorf("%s: the order makes a difference", name)
		}
	}
}

// A shop whose addresses list what a reader has chosen, in any order, is one trap, though each choice is a path of its own, and each list of what is left shows
// some of what the first one does: some of its phrases were on no sample before, as they are behind the end of the long list's own.
func TestChoicesInPathsAreOneTrap(t *testing.T) {
	const kinds, values, sections, most = 4, 6, 5, 600
	m := New()
	asked, had := map[string]bool{}, map[string]bool{}
	var queue []string
	next := map[string]uint32{}
	name := func(urls []string, via uint32) (n int) {
		for _, url := range urls {
			if !asked[url] {
				asked[url], n = true, n+1
				queue, next[url] = append(queue, url), via
			}
		}
		return n
	}
	answers, rests := 0, map[any]bool{}
	take := func(url string, section int, chosen []int) {
		u := parsed(t, url)
		if m.Judge(u, next[url], false).Wait {
			return
		}
		if rest, changed := m.Rest(u); changed {
			if rests[rest.Key] {
				return
			}
			rests[rest.Key] = true
		}
		answers++
		set := slices.Sorted(slices.Values(chosen))
		var sample []uint32
		for i := range 80 { // things of the section that have what was chosen
			if !slices.ContainsFunc(set, func(c int) bool { return int(xx(uint32(section*1000+i*10+c/values))%values) != c%values }) {
				for k := range 12 {
					sample = append(sample, 2*xx(uint32(section*100_000+i*100+k)))
				}
			}
		}
		slices.Sort(sample)
		sample = slices.Compact(sample)
		a := Answer{URL: u, Template: m.Template(u), Via: next[url], Page: true, Marked: true, Text: uint64(xx(uint32(section)))<<32 ^ uint64(xx(uint32(len(set))))<<40, Sample: sample[:min(48, len(sample))]}
		for _, c := range set {
			a.Text = a.Text*31 + uint64(c)<<32
		}
		var more []string
		for c := range kinds * values {
			if !slices.ContainsFunc(chosen, func(o int) bool { return o/values == c/values }) {
				more = append(more, url+"/"+wording(c))
			}
		}
		a.Links, a.Found = len(more), name(more, a.Template)
		a.Own = a.Found
		m.Take(&a)
		had[url] = true
	}
	for s := range sections {
		name([]string{"http://h.test/shop/section" + wording(100+s)}, 0)
	}
	chosen := map[string][]int{}
	for len(queue) > 0 {
		url := queue[0]
		queue = queue[1:]
		for c := range kinds * values {
			chosen[url+"/"+wording(c)] = append(slices.Clone(chosen[url]), c)
		}
		take(url, len(parsed(t, url).Path())%sections, chosen[url])
	}
	if answers > most {
		t.Errorf("%d answers of %d, want %d at most", answers, len(asked), most)
	}
	t.Logf("%d answers of %d", answers, len(asked))
}
