package survey

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
)

//go:embed survey.html
var page string

// Explain says in words why a URL was not fetched, and which step helps; both may be empty.
type Explain func(reason string) (what, step string)

// HTML writes the report as one file that needs nothing else.
func (r *Report) HTML(w io.Writer, explain Explain) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"num": num, "size": func(n int64) string { return Size(n) }, "date": date, "until": until, "took": took, "plural": plural, "pc": percent, "ms": ms,
		"brokenCount": func(r *Report) int { return len(r.Broken) + r.BrokenMore },
		"stretch":     stretch, "timeline": timeline,
		"statusBars": statusBars, "typeBars": typeBars, "sizeBars": sizeBars, "slowBars": slowBars,
		"first": first, "cut": cut, "sub": func(a, b int) int { return a - b }, "len64": func(r []Redirect) int64 { return int64(len(r)) },
		"what": func(reason string) string { what, _ := explain(reason); return what },
		"step": func(reason string) string { _, step := explain(reason); return step },
	}).Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		*Report
		Title string
	}{r, r.title()})
}

func (r *Report) title() string {
	if r.Name != "" {
		return r.Name
	}
	switch n := len(r.Sites); {
	case n == 0:
		return r.Dir
	case n > 1:
		return fmt.Sprintf("%s and %s", r.Sites[0].Site, plural(n-1, "more site"))
	}
	return r.Sites[0].Site
}

// num prints a number with a mark between thousands.
func num(v any) string {
	s := fmt.Sprint(v)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(v any, thing string) string {
	if fmt.Sprint(v) != "1" {
		thing += "s"
	}
	return num(v) + " " + thing
}

func date(t time.Time) string { return t.Format("2 January 2006, 15:04 MST") }

// until prints a time after another one, as far as it differs.
func until(from, to time.Time) string {
	switch {
	case date(from) == date(to):
		return ""
	case from.YearDay() == to.YearDay() && from.Year() == to.Year():
		return " to " + to.Format("15:04")
	}
	return " to " + date(to)
}

func took(from, to time.Time) string { return spanOf(to.Sub(from)) }

func spanOf(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

func ms(v float64) string {
	switch {
	case v == 0:
		return "–"
	case v < 10:
		return fmt.Sprintf("%.1f ms", v)
	case v < 10_000:
		return fmt.Sprintf("%.0f ms", v)
	}
	return fmt.Sprintf("%.1f s", v/1000)
}

func percent(part, all int64) string {
	if all == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f", 100*float64(part)/float64(all))
}

// cut shortens a long URL in its middle.
func cut(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most-41]) + "…" + string(r[len(r)-40:])
	}
	return s
}

// first returns at most n of a list.
func first(n int, list any) any {
	switch l := list.(type) {
	case []Site:
		return l[:min(n, len(l))]
	case []Template:
		return l[:min(n, len(l))]
	case []crawl.Trap:
		return l[:min(n, len(l))]
	}
	return list
}

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

func typeBars(s []Share) []bar { return bars(s, func(Share) string { return "" }) }
func sizeBars(s []Share) []bar { return typeBars(s) }

// slowBars are the sites that answered most slowly.
func slowBars(sites []Site) (out []bar) {
	sites = slices.Clone(sites)
	slices.SortStableFunc(sites, func(a, b Site) int {
		switch {
		case a.FirstByteMS > b.FirstByteMS:
			return -1
		case a.FirstByteMS < b.FirstByteMS:
			return 1
		}
		return 0
	})
	for _, s := range sites[:min(len(sites), maxBars)] {
		if s.FirstByteMS > 0 {
			out = append(out, bar{Name: s.Site, Text: fmt.Sprintf("%s, slowest %s", ms(s.FirstByteMS), ms(s.SlowestMS)), Percent: fmt.Sprintf("%.2f", 100*s.FirstByteMS/sites[0].FirstByteMS)})
		}
	}
	return out
}

// stretch is how long a bar of the timeline is.
func stretch(r *Report) string { return spanOf(r.Last.Sub(r.First) / bins) }

// timeline draws the URLs of each stretch of time as an SVG that fits any width; its labels are text beside it.
func timeline(r *Report) template.HTML {
	most := int64(1)
	for _, b := range r.Timeline {
		most = max(most, b.URLs)
	}
	scale := nice(most)
	var s strings.Builder
	fmt.Fprintf(&s, `<div class="plot"><div class="y"><span>%s</span><span>%s</span><span>0</span></div><svg viewBox="0 0 %d 100" preserveAspectRatio="none" role="img" aria-label="URLs over time">`,
		num(scale), num(scale/2), 10*len(r.Timeline))
	for _, y := range []int{0, 50, 100} {
		fmt.Fprintf(&s, `<line x1="0" x2="%d" y1="%d" y2="%d" stroke="var(--line)" vector-effect="non-scaling-stroke"/>`, 10*len(r.Timeline), y, y)
	}
	for i, b := range r.Timeline {
		if b.URLs == 0 {
			continue
		}
		h, e := 100*float64(b.URLs)/float64(scale), 100*float64(b.Errors)/float64(scale)
		fmt.Fprintf(&s, `<g><title>%s: %s, %s, %s</title><rect x="%d" y="%.2f" width="7.6" height="%.2f" fill="var(--main)"/>`,
			b.At.Format("15:04:05"), plural(b.URLs, "URL"), plural(b.Errors, "error"), Size(b.Bytes), 10*i+1, 100-h, h)
		if e > 0 {
			fmt.Fprintf(&s, `<rect x="%d" y="%.2f" width="7.6" height="%.2f" fill="var(--bad)"/>`, 10*i+1, 100-e, e)
		}
		s.WriteString("</g>")
	}
	layout := "15:04:05"
	if r.Last.Sub(r.First) > 24*time.Hour {
		layout = "2 Jan 15:04"
	}
	s.WriteString(`</svg><div class="x">`)
	for i := range 3 {
		fmt.Fprintf(&s, "<span>%s</span>", r.First.Add(r.Last.Sub(r.First)*time.Duration(i)/2).Format(layout))
	}
	s.WriteString("</div></div>")
	return template.HTML(s.String()) // numbers and times only
}

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
