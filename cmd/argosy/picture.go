package main

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// picture is what a panel shows of a crawl at a moment.
type picture struct {
	title    string
	state    string
	note     string // what a person has to know now
	clock    time.Duration
	counts   [4]int64 // fetched, failed, excluded, pending
	rate     float64  // URLs a second, over the last minute
	speed    float64  // bytes a second, likewise
	spark    []int64  // URLs of each of the last seconds, oldest first
	bytes    int64
	sites    int
	busy     int // requests under way
	left     string
	topic    string // how many pages are on the topic, if there is one
	busiest  []siteLine
	slowest  []siteLine
	problems []problemLine
}

// siteLine is a site in a table.
type siteLine struct {
	site    string
	perMin  int64
	latency time.Duration
	delay   time.Duration
}

// problemLine is a problem, with how often it came.
type problemLine struct {
	at    time.Duration // since the start, the last time
	text  string
	step  string // that helps; may be empty
	times int
}

const (
	leastWidth  = 20
	wideWidth   = 96 // from here on the tables stand side by side
	mostColumns = 160
	leastHeight = 4
	mostHeight  = 24
)

// panelHeight is how many lines a panel takes of a terminal with so many: always the same, so that nothing moves.
func panelHeight(lines int) int { return max(leastHeight, min(lines-2, mostHeight)) }

// leastTables are the lines of the shortest tables, with those that stand empty before them and behind.
const leastTables = 5

// reserved are the lines that a panel keeps for problems.
const reserved = 3

// wants is how many lines a picture likes to have in so many columns.
func (p *picture) wants(columns int) int {
	rows := max(1, len(p.busiest)) + 2
	if columns <= wideWidth {
		rows *= 2
	}
	return 4 + rows + reserved
}

// draw draws a picture in a number of columns and lines: exactly so many lines, none wider, the last column left free.
func (p *picture) draw(columns, lines int) []string {
	columns = min(max(columns, leastWidth), mostColumns) - 1
	out := []string{p.head(columns)}
	out = append(out, p.numbers(columns)...)
	if room := lines - len(out); room >= 2 {
		out = append(out, p.pace(columns))
	}
	problems := len(p.troubles(columns, min(4, max(1, lines-len(out)-leastTables)))) // tables come first
	if room := lines - len(out) - problems - 2; room >= 3 {
		out = append(out, "")
		out = append(out, p.tables(columns, room)...)
	}
	if problems > 0 && lines-len(out) > problems {
		out = append(out, "")
		out = append(out, p.troubles(columns, problems)...)
	}
	for len(out) < lines {
		out = append(out, "")
	}
	for i := range out {
		out[i] = fit(out[i], columns)
	}
	return out[:lines]
}

// troubles are the last problems in at most so many lines: where a problem and its step do not fit into one line, the step has lines of
// its own, for it is what a person needs.
func (p *picture) troubles(columns, lines int) (out []string) {
	for _, l := range p.problems {
		text := "! " + clock(l.at) + " "
		if l.times > 1 {
			text += count(int64(l.times)) + "× "
		}
		text += l.text
		rows := []string{text}
		if l.step != "" {
			if whole := text + " → " + l.step; cells(whole) <= columns {
				rows = []string{whole}
			} else {
				rows = append(rows, inLines("  → "+l.step, columns, stepLines)...)
			}
		}
		if len(out)+len(rows) > lines && len(out) > 0 {
			break
		}
		out = append(out, rows[:min(len(rows), lines)]...)
	}
	return out
}

// stepLines is how many lines a step may take.
const stepLines = 2

// inLines breaks a text between words into at most so many lines; the last one has the rest, however wide.
func inLines(text string, columns, lines int) (out []string) {
	for len(out) < lines-1 && cells(text) > columns {
		at := -1
		for i, r := range text {
			if cells(text[:i]) > columns {
				break
			}
			if r == ' ' && strings.TrimSpace(text[:i]) != "" {
				at = i
			}
		}
		if at < 0 {
			break
		}
		out, text = append(out, text[:at]), "    "+text[at+1:]
	}
	return append(out, text)
}

// head is the first line.
func (p *picture) head(columns int) string {
	if p.note != "" {
		return fit(p.note, columns)
	}
	left := fmt.Sprintf("%s  %s  %s", p.title, p.state, clock(p.clock))
	return spread(left, p.left, columns)
}

// numbers are the counts, in one line or, where that is too narrow, in two.
func (p *picture) numbers(columns int) []string {
	cell := func(i int, name string) string { return count(p.counts[i]) + " " + name }
	words := []string{cell(0, "fetched"), cell(1, "failed"), cell(2, "excluded"), cell(3, "pending")}
	if p.topic != "" {
		words = append(words, p.topic)
	}
	if line := strings.Join(words, " · "); cells(line) <= columns {
		return []string{line}
	}
	return []string{strings.Join(words[:2], " · "), strings.Join(words[2:], " · ")}
}

// pace is how fast it goes, with a curve of the last minute where there is room.
func (p *picture) pace(columns int) string {
	rate := fmt.Sprintf("%.0f/min", p.rate*60)
	if p.rate >= 10 {
		rate = fmt.Sprintf("%s/s", count(int64(math.Round(p.rate))))
	}
	text := fmt.Sprintf("%s · %s/s · %s · %s open · %s", rate, size(int64(p.speed)), plural(int64(p.sites), "site"), plural(int64(p.busy), "request"), size(p.bytes))
	room := min(columns-cells(text)-2, len(p.spark))
	if room < 10 {
		return text
	}
	return text + "  " + sparkline(p.spark[len(p.spark)-room:])
}

// sparkline draws numbers as bars of eight heights.
func sparkline(v []int64) string {
	top := int64(1)
	for _, n := range v {
		top = max(top, n)
	}
	var b strings.Builder
	for _, n := range v {
		switch {
		case n <= 0:
			b.WriteRune(' ')
		default:
			b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(7, (n*8-1)/top)])
		}
	}
	return b.String()
}

// tables are the busiest and the slowest sites, side by side where there is room, in at most so many lines.
func (p *picture) tables(columns, lines int) []string {
	if len(p.busiest) == 0 {
		return nil
	}
	if columns >= wideWidth {
		half := (columns - 4) / 2
		a, b := siteTable("BUSIEST", p.busiest, half, lines), siteTable("SLOWEST", p.slowest, half, lines)
		for len(b) < len(a) {
			b = append(b, "")
		}
		for len(a) < len(b) {
			a = append(a, "")
		}
		for i := range a {
			a[i] = pad(a[i], half) + "    " + b[i]
		}
		return a
	}
	if lines < 7 {
		return siteTable("BUSIEST", p.busiest, columns, lines)
	}
	out := siteTable("BUSIEST", p.busiest, columns, (lines-1)/2)
	return append(append(out, ""), siteTable("SLOWEST", p.slowest, columns, lines-1-len(out))...)
}

// siteTable is a table of sites: name, URLs of the last minute, time to the first byte, delay.
func siteTable(title string, sites []siteLine, columns, lines int) []string {
	const numbers = 24
	name := columns - numbers
	row := func(a, b, c, d string) string { return pad(fit(a, name), name) + fmt.Sprintf("%8s%8s%8s", b, c, d) }
	out := []string{row(title, "/min", "answers", "delay")}
	for _, s := range sites[:min(len(sites), lines-1)] {
		out = append(out, row(s.site, count(s.perMin), brief(s.latency), brief(s.delay)))
	}
	return out
}

// brief prints a span in at most six characters.
func brief(d time.Duration) string {
	switch {
	case d == 0:
		return "–"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%.0fm", d.Minutes())
}

// spread puts one text at the left and one at the right, or the left one alone where there is no room.
func spread(left, right string, columns int) string {
	gap := columns - cells(left) - cells(right)
	if right == "" || gap < 2 {
		return fit(left, columns)
	}
	return left + strings.Repeat(" ", gap) + right
}

func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-cells(s)))
}

// cells is how many cells of a terminal a text takes.
func cells(s string) (n int) {
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

// cellsOf is how many cells a character takes (Unicode Standard Annex 11).
func cellsOf(r rune) int {
	switch {
	case !unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit makes a text printable and at most so many cells wide; what is cut off is shown by a mark.
func fit(s string, columns int) string {
	var b strings.Builder
	n, cut, at := 0, 0, 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			if r != '\n' && r != '\t' {
				continue
			}
			r = ' '
		}
		c := cellsOf(r)
		if n+c > columns {
			return b.String()[:cut] + "…"
		}
		at += len(string(r))
		b.WriteRune(r)
		if n += c; n <= columns-1 {
			cut = at
		}
	}
	return b.String()
}
