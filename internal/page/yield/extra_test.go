package yield

import (
	"fmt"
	"testing"
)

// A parameter whose absence makes no difference to most pages: of a guide one page in ten is translated, and the others are shown as they are. The
// translations are had. Where none makes a difference, or the parameter looks random, few are asked for.
func TestParametersThatSeldomSay(t *testing.T) {
	const pages, late = 300, 60 // the first ones say the same, by chance
	values := []string{"de", "fr", "pl", "es"}
	for name, c := range map[string]struct {
		every, most int // one page in so many says something else, and so many at most are asked for
		value       func(page int, value string) string
	}{
		"translated": {10, 4 * pages, func(_ int, v string) string { return v }},
		"seldom":     {12, 4 * pages, func(_ int, v string) string { return v }},
		"none":       {4 * pages, 4 * (agreeNumber + triesOfPart), func(_ int, v string) string { return v }},
		"random":     {4 * pages, agreeOpaque + triesOfPart, func(page int, v string) string { return fmt.Sprintf("f%07xa9b1c3", page) + v[:1] }},
	} {
		m, asked, had, other := New(), 0, 0, 0
		text := func(n int) (sample []uint32) {
			for k := range uint32(24) {
				sample = append(sample, xx(uint32(n)*64+k)&^1)
			}
			return sorted(sample)
		}
		for i := range pages {
			u := parsed(t, fmt.Sprintf("http://h.test/guide/%d", i))
			guide := m.Template(u)
			if m.Take(&Answer{URL: u, Template: guide, Page: true, Marked: i%4 == 0 || m.byID[guide].All, Text: uint64(i+10) << 32, Sample: text(i)}); i < 4 {
				continue
			}
			for k, v := range values {
				with := parsed(t, fmt.Sprintf("%s?lang=%s", u, c.value(i, v)))
				says := i
				differs := i >= late && (i*len(values)+k)%c.every == 7
				if differs {
					says, other = 100_000+i*len(values)+k, other+1
				}
				if m.Judge(with, guide, false).Wait {
					continue
				}
				if rest, ok := m.Rest(with); ok && m.Spare(rest.Part, guide).Wait {
					continue
				}
				if asked++; differs {
					had++
				}
				m.Take(&Answer{URL: with, Template: m.Template(with), Via: guide, Page: true, Marked: true, Text: uint64(says+10) << 32, Sample: text(says)})
			}
		}
		if had*100 < other*99 || asked > c.most {
			t.Errorf("%s: %d of %d translations, %d of %d asked for, want %d at most", name, had, other, asked, pages*len(values), c.most)
		}
	}
}
