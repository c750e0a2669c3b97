package survey

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"golang.org/x/net/html"
)

// bar is a line of a bar chart.
type bar struct {
	Name, Class, Text string
	Percent           string
}

// maxBars bounds the lines of a bar chart; the rest is one more.
const maxBars = 12

func bars(shares []Share, class func(Share) string) (out []bar) {
	top := int64(1)
	if len(shares) > maxBars {
		rest := Share{Name: fmt.Sprintf("%d others", len(shares)-maxBars+1)}
		for _, s := range shares[maxBars-1:] {
			rest.URLs += s.URLs
		}
		shares = append(slices.Clone(shares[:maxBars-1]), rest)
	}
	for _, s := range shares {
		top = max(top, s.URLs)
	}
	for _, s := range shares {
		out = append(out, bar{Name: s.Name, Class: class(s), Text: num(s.URLs), Percent: percent(s.URLs, top)})
	}
	return out
}

func statusBars(s []Share) []bar {
	return bars(s, func(s Share) string {
		switch s.Name[0] {
		case '2':
			return "good"
		case '3':
			return "warm"
		}
		return "bad"
	})
}

// plain gives a bar no colour of its own.
func plain(Share) string { return "" }

// slowBars are the sites that answered most slowly.
func slowBars(sites []Site) (out []bar) {
	sites = slices.Clone(sites)
	slices.SortStableFunc(sites, func(a, b Site) int { return cmp.Compare(b.FirstByteMS, a.FirstByteMS) })
	for _, s := range sites[:min(len(sites), maxBars)] {
		if s.FirstByteMS > 0 {
			out = append(out, bar{Name: s.Site, Text: fmt.Sprintf("%s, slowest %s", ms(s.FirstByteMS), ms(s.SlowestMS)), Percent: fmt.Sprintf("%.2f", 100*s.FirstByteMS/sites[0].FirstByteMS)})
		}
	}
	return out
}

// stretch is how long a bar of the timeline is.
func stretch(r *Report) string { return spanOf(r.Last.Sub(r.First) / bins) }

// chart draws bars.
func chart(bars []bar) *html.Node {
	if len(bars) == 0 {
		return none("Nothing was fetched.")
	}
	out := el("div", class("bars"))
	for _, b := range bars {
		out.AppendChild(el("span", at{"class": "k", "title": b.Name}, b.Name))
		out.AppendChild(el("span", class("track"), fill(b.Class, b.Percent)))
		out.AppendChild(el("span", class("n"), b.Text))
	}
	return out
}

// fill is the part of a track that is filled.
func fill(colour, percent string) *html.Node {
	return el("i", at{"class": colour, "style": "width:" + percent + "%"})
}

// timeline draws a series over the stretches of time as an SVG that fits any width; its labels are text beside it.
func timeline(r *Report, s series) *html.Node {
	most := int64(1)
	for i := range r.Timeline {
		most = max(most, s.all(&r.Timeline[i]))
	}
	scale := nice(most)
	px := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	wide := strconv.Itoa(10 * len(r.Timeline))
	svg := el("svg", at{"viewBox": "0 0 " + wide + " 100", "preserveAspectRatio": "none", "role": "img", "aria-label": s.name + " over time"})
	for _, y := range []string{"0", "50", "100"} {
		svg.AppendChild(el("line", at{"x1": "0", "x2": wide, "y1": y, "y2": y, "stroke": "var(--line)", "vector-effect": "non-scaling-stroke"}))
	}
	for i := range r.Timeline {
		b := &r.Timeline[i]
		all, bad := s.all(b), int64(0)
		if all == 0 {
			continue
		}
		if s.bad != nil {
			bad = s.bad(b)
		}
		column := func(n int64, colour string) *html.Node {
			tall := 100 * float64(n) / float64(scale)
			return el("rect", at{"x": strconv.Itoa(10*i + 1), "y": px(100 - tall), "width": "7.6", "height": px(tall), "fill": colour})
		}
		svg.AppendChild(el("g", nil,
			el("title", nil, fmt.Sprintf("%s: %s, %s, %s", b.At.Format("15:04:05"), plural(b.URLs, "URL"), plural(b.Errors, "error"), Size(b.Bytes))),
			column(all, "var(--main)"), when(bad > 0, column(bad, "var(--bad)"))))
	}
	layout := "15:04:05"
	if r.Last.Sub(r.First) > 24*time.Hour {
		layout = "2 Jan 15:04"
	}
	times := el("div", class("x"))
	for i := range 3 {
		times.AppendChild(el("span", nil, r.First.Add(r.Last.Sub(r.First)*time.Duration(i)/2).Format(layout)))
	}
	heights := el("div", class("y"), el("span", nil, s.text(scale)), el("span", nil, s.text(scale/2)), el("span", nil, "0"))
	return el("div", class("plot"), heights, svg, times)
}

// series is what a timeline shows of each stretch of time.
type series struct {
	name     string
	all, bad func(*Bin) int64 // bad is a part of all; nil: there is none
	text     func(int64) string
}

var (
	urlsOverTime = series{"URLs", func(b *Bin) int64 { return b.URLs }, func(b *Bin) int64 { return b.Errors }, func(n int64) string { return num(n) }}
	sizeOverTime = series{"Bytes", func(b *Bin) int64 { return b.Bytes }, nil, Size}
)

// nice is the least round even number that is not below v.
func nice(v int64) int64 {
	for unit := int64(1); unit < math.MaxInt64/100; unit *= 10 {
		for _, m := range []int64{2, 4, 6, 8, 10, 12, 14, 16} {
			if m*unit >= v {
				return m * unit
			}
		}
	}
	return v
}
