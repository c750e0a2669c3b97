package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func sample() Report {
	nan := math.NaN()
	return Report{
		Title: "A & B", About: "First.\n\nSecond <b>.", Facts: []string{"argosy lab run x"},
		Sections: []Section{{
			Title: "Curves", About: "About", Notes: []string{"note"},
			Tables: []Table{{Caption: "t", Head: []string{"what", "value"}, Rows: [][]string{{"x<y", "0.5 ± 0.1"}}}},
			Figures: []Figure{
				{Kind: Lines, Caption: "lines", X: Axis{Label: "min"}, Y: Axis{Label: "MB", Zero: true}, Marks: []Mark{{"bound", 3}}, Series: []Series{
					{Name: "flow", Points: []Point{Spread(0, 1, .1), Spread(1, 2, .2), At(2, nan), At(3, 2)}},
					{Name: "random", Quiet: true, Points: []Point{At(0, 1), At(3, 1.1)}},
				}},
				{Kind: Lines, Caption: "log", X: Axis{Label: "factor", Log: true}, Series: []Series{{Name: "a", Points: []Point{At(1, 1), At(100, 2)}}}},
				{Kind: Bars, Caption: "bars", Y: Axis{Label: "share"}, Categories: []string{"one", "two"}, Series: []Series{
					{Name: "flow", Points: []Point{Spread(0, .9, .05), At(1, -.2)}}, {Name: "none", Points: []Point{At(0, nan)}},
				}},
				{Kind: Map, Caption: "map", X: Axis{Label: "ms"}, Y: Axis{Label: "ms"}, Series: []Series{{Name: "node", Points: []Point{{X: 1, Y: 2, Label: "n1", Lo: nan, Hi: nan}, At(nan, 1), At(3, 9)}}}},
				{Kind: Lines, Caption: "nothing"}, {Kind: Bars, Caption: "no bars"}, {Kind: Map, Caption: "no points"},
			},
		}},
	}
}

// The page is well formed, holds no address of elsewhere, and no value that is none; every figure carries its data.
func TestPageStandsAlone(t *testing.T) {
	var b bytes.Buffer
	if err := sample().HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, never := range []string{"http:", "https:", "<script", "NaN", "Inf", "x<y", "Second <b>"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
	}
	links := regexp.MustCompile(`base64,([A-Za-z0-9+/=]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) != len(sample().Sections[0].Figures) {
		t.Fatalf("%d figures carry data", len(links))
	}
	data, err := base64.StdEncoding.DecodeString(links[0][1])
	if want := "series,min,MB,low,high,label\nflow,0,1,0.9,1.1,\n"; err != nil || !strings.HasPrefix(string(data), want) || !strings.Contains(string(data), "bound,,3,,,line\n") {
		t.Errorf("%v, data %q", err, data)
	}
	var again bytes.Buffer
	if err := sample().HTML(&again); err != nil || again.String() != page {
		t.Error("twice is not the same")
	}
}

// What is drawn lies within the drawing.
func TestCurvesLieInside(t *testing.T) {
	f := sample().Sections[0].Figures[0]
	for _, width := range []int{wide, narrow} {
		svg := f.SVG(width)
		box := regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`).FindStringSubmatch(svg)
		if box == nil {
			t.Fatal(svg)
		}
		for _, p := range regexp.MustCompile(`[ML](-?[\d.]+) (-?[\d.]+)`).FindAllStringSubmatch(svg, -1) {
			if x, y := p[1], p[2]; strings.HasPrefix(x, "-") || strings.HasPrefix(y, "-") || len(x) > 5 || len(y) > 5 {
				t.Errorf("%d px: %s %s is outside", width, x, y)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		values []float64
		axis   Axis
		want   string
	}{
		{[]float64{0.1, 0.95}, Axis{Zero: true}, "0 0.2 0.4 0.6 0.8 1"},
		{[]float64{12, 98}, Axis{}, "0 20 40 60 80 100"},
		{[]float64{1, 100}, Axis{Log: true}, "1 2 5 10 20 50 100"},
		{[]float64{-3, 4}, Axis{}, "−4 −2 0 2 4"},
		{nil, Axis{}, "0 0.2 0.4 0.6 0.8 1"},
		{[]float64{30000, 90000}, Axis{}, "20k 40k 60k 80k 100k"},
		{[]float64{0, 14000}, Axis{}, "0 5k 10k 15k"}, // in one unit
		{[]float64{-14000, 0}, Axis{}, "−15k −10k −5k 0"},
		{[]float64{1000, 1e6}, Axis{Log: true}, "1000 3000 10k 30k 100k 300k 1M"},
	} {
		_, ts := newScale(c.values, c.axis, 0, 1, 5)
		if s := strings.Join(c.axis.ticks(ts), " "); s != c.want {
			t.Errorf("%v: %s, want %s", c.values, s, c.want)
		}
	}
}

func TestTextHasTablesAndNotes(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Sections[0].Text(&b); err != nil || !strings.Contains(b.String(), "0.5 ± 0.1") || !strings.Contains(b.String(), "note") {
		t.Errorf("%v: %s", err, &b)
	}
}

// Names with many options take no room that a phone does not have: they are cut short in figures, and broken in tables.
func TestNamesFit(t *testing.T) {
	long := "feedback,load=on,full=0.5,time=0.4,gain=5,unknown=expected,first=1,modify=on"
	for _, kind := range []Kind{Lines, Bars} {
		f := Figure{Kind: kind, Categories: []string{"one"}, Marks: []Mark{{"bound", 1}}, Series: []Series{{Name: "flow", Points: []Point{At(0, 1), At(0, 0)}}, {Name: long, Points: []Point{At(0, 1), At(0, 0)}}}}
		at := map[string]float64{}
		for _, m := range regexp.MustCompile(`<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(f.SVG(narrow), -1) {
			x, _ := strconv.ParseFloat(m[1], 64)
			y, _ := strconv.ParseFloat(m[2], 64)
			at[m[4]] = y
			wide := letter * float64(len([]rune(m[4])))
			if m[3] == "start" && x+wide > narrow || m[3] == "end" && x-wide < 0 {
				t.Errorf("%v: %q at %v is outside", kind, m[4], x)
			}
		}
		if kind == Lines {
			for name, y := range at {
				if strings.HasPrefix(name, "feedback") && at["bound"]-y < 10 {
					t.Errorf("the bound's name is at %v, the last of the legend at %v", at["bound"], y)
				}
			}
		}
	}
	var b bytes.Buffer
	Table{Head: []string{"strategy"}, Rows: [][]string{{long}}}.html(&b, 1)
	if !strings.Contains(b.String(), "feedback,<wbr>load=on,<wbr>full=0.5") {
		t.Error(b.String())
	}
}

// Intervals end where no value can be: a mean of what was collected in two worlds may have one that goes below nothing.
func TestIntervalsEndWhereValuesDo(t *testing.T) {
	for _, c := range []struct {
		name   string
		axis   Axis
		values Point
		lo, hi float64
	}{
		{"shares", Axis{Share: true}, Spread(0, .5, 2), 0, 1},
		{"amounts", Axis{Zero: true}, Spread(0, 1, 2), 0, 3},
		{"gains", Axis{Zero: true}, Spread(0, -1, 2), -3, 1},
		{"any values", Axis{}, Spread(0, 1, 2), -1, 3},
	} {
		f := Figure{Y: c.axis, Series: []Series{{Points: []Point{c.values}}}}.clipped()
		if p := f.Series[0].Points[0]; p.Lo != c.lo || p.Hi != c.hi {
			t.Errorf("%s: %v to %v, want %v to %v", c.name, p.Lo, p.Hi, c.lo, c.hi)
		}
	}
}

// Bands of many curves are so faint that curves are seen through all of them.
func TestManyBandsAreFaint(t *testing.T) {
	for _, c := range []struct {
		curves int
		want   string
	}{{1, "opacity:0.160"}, {3, "opacity:0.160"}, {15, "opacity:0.040"}} {
		f := Figure{Kind: Lines}
		for k := range c.curves {
			f.Series = append(f.Series, Series{Name: fmt.Sprint("s", k), Points: []Point{{X: 0, Y: 1, Lo: 0, Hi: 2}, {X: 1, Y: 2, Lo: 1, Hi: 3}}})
		}
		if n := strings.Count(f.SVG(wide), c.want); n != c.curves {
			t.Errorf("%d of %d bands have %s", n, c.curves, c.want)
		}
	}
}
