// Package report holds the results of experiments as tables and figures, and writes them as text, as CSV, and as one HTML
// page that needs nothing else: its figures are SVG drawn here, for wide and for narrow screens, light and dark, and each
// carries its data. It is pure: the same results give the same bytes.
package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Report is what is written: sections in order.
type Report struct {
	Title    string
	About    string
	Facts    []string // how it was made: command, build, machine
	Sections []Section
}

// Section is one experiment.
type Section struct {
	Title   string
	About   string
	Tables  []Table
	Figures []Figure
	Notes   []string // what the figures say, and what they do not
}

// Table is a table of text.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// Kind is how a figure is drawn.
type Kind uint8

// Kinds of figures.
const (
	Lines Kind = iota // curves, with a band where points have a spread
	Bars              // horizontal bars, a group for each category, with intervals
	Map               // points in a plane, both axes in the same scale
)

// Figure is a drawing and its data.
type Figure struct {
	Kind       Kind
	Caption    string
	X, Y       Axis
	Series     []Series
	Categories []string // of bars: Point.X counts them from 0
	Marks      []Mark
}

// Axis of a figure.
type Axis struct {
	Label string
	Log   bool
	Zero  bool // it begins at 0, and intervals of values none of which is below are drawn no further
	Share bool // its values are between 0 and 1, and intervals are drawn no further
}

// Series is one curve, one bar of each category, or one kind of points.
type Series struct {
	Name   string
	Points []Point
	Quiet  bool // a control: drawn thin and dashed
	Dots   bool // a curve is drawn as points
}

// Point is a value and, where it has one, its interval from Lo to Hi; NaN has none.
type Point struct {
	X, Y   float64
	Lo, Hi float64
	Label  string
}

// At is a point without an interval.
func At(x, y float64) Point { return Point{X: x, Y: y, Lo: math.NaN(), Hi: math.NaN()} }

// Spread is a point with an interval of half the width given; a half that is not a number is none.
func Spread(x, y, half float64) Point { return Point{X: x, Y: y, Lo: y - half, Hi: y + half} }

func (p Point) spread() bool { return p.Lo == p.Lo && p.Hi == p.Hi }

// Mark is a line across a figure at a value: a bound, or what was published.
type Mark struct {
	Name string
	At   float64
}

// CSV writes a figure's data, a row a point.
func (f Figure) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	x, y := orElse(f.X.Label, "x"), orElse(f.Y.Label, "y")
	if f.Kind == Bars {
		x = "category"
	}
	if err := c.Write([]string{"series", x, y, "low", "high", "label"}); err != nil {
		return err
	}
	for _, s := range f.Series {
		for _, p := range s.Points {
			at := number(p.X)
			if f.Kind == Bars {
				at = f.category(int(p.X))
			}
			if err := c.Write([]string{s.Name, at, number(p.Y), number(p.Lo), number(p.Hi), p.Label}); err != nil {
				return err
			}
		}
	}
	for _, m := range f.Marks {
		if err := c.Write([]string{m.Name, "", number(m.At), "", "", "line"}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (f Figure) category(k int) string {
	if k >= 0 && k < len(f.Categories) {
		return f.Categories[k]
	}
	return ""
}

// number is a value as CSV has it; nothing where there is none.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// Text writes a section for a terminal: its tables, and where its figures are.
func (s Section) Text(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n%s\n", s.Title); err != nil {
		return err
	}
	for _, t := range s.Tables {
		if t.Caption != "" {
			fmt.Fprintf(w, "  %s\n", t.Caption)
		}
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(tw, "  %s\n", strings.Join(t.Head, "\t"))
		for _, r := range t.Rows {
			fmt.Fprintf(tw, "  %s\n", strings.Join(r, "\t"))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	for _, n := range s.Notes {
		if _, err := fmt.Fprintf(w, "  %s\n", n); err != nil {
			return err
		}
	}
	return nil
}
