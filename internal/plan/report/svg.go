package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// canvas is a figure being drawn.
type canvas struct {
	strings.Builder
	width, height            float64
	left, right, top, bottom float64 // margins
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.Builder, format, args...) }

func (c *canvas) text(x, y float64, anchor, class, style, s string) {
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s"`, x, y, anchor)
	if class != "" {
		c.add(` class="%s"`, class)
	}
	if style != "" {
		c.add(` style="%s"`, style)
	}
	c.add(`>%s</text>`, html.EscapeString(s))
}

// colours is how many there are; series beyond them begin again, with other dashes.
const colours = 8

func colour(k int) string { return fmt.Sprintf("var(--c%d)", k%colours) }

// letter is about how wide one is in figures, px.
const letter = 6.4

// SVG draws a figure for a width in px.
func (f Figure) SVG(width int) string {
	f = f.clipped()
	c := &canvas{width: float64(width)}
	switch f.Kind {
	case Bars:
		f.bars(c)
	default:
		f.plane(c)
	}
	return fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`, c.width, c.height, html.EscapeString(f.Caption), c.String())
}

// clipped cuts intervals where no value can be: those of shares at 0 and 1, and those of what is never below 0, as its axis begins there, at 0.
func (f Figure) clipped() Figure {
	least, most := 0.0, math.Inf(1)
	if f.Y.Share {
		most = 1
	} else if !f.Y.Zero || f.below(0) {
		return f
	}
	f.Series = slices.Clone(f.Series)
	for k := range f.Series {
		f.Series[k].Points = slices.Clone(f.Series[k].Points)
		for i := range f.Series[k].Points {
			if p := &f.Series[k].Points[i]; p.spread() {
				p.Lo, p.Hi = max(least, p.Lo), min(most, max(p.Hi, p.Lo))
			}
		}
	}
	return f
}

// below reports whether a value of a figure is below a limit.
func (f Figure) below(limit float64) bool {
	return slices.ContainsFunc(f.Series, func(s Series) bool {
		return slices.ContainsFunc(s.Points, func(p Point) bool { return p.Y < limit })
	})
}

// scale maps values to places on an axis.
type scale struct {
	lo, hi   float64
	from, to float64 // px
	log      bool
}

func (s scale) at(x float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		x, lo, hi = math.Log(max(x, s.lo)), math.Log(lo), math.Log(hi)
	}
	if hi == lo {
		return (s.from + s.to) / 2
	}
	return s.from + (x-lo)/(hi-lo)*(s.to-s.from)
}

// newScale covers values; where about so many ticks are, it begins and ends at one.
func newScale(values []float64, a Axis, from, to float64, ticks int) (scale, []float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v == v && !math.IsInf(v, 0) && !(a.Log && v <= 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		lo, hi = 0, 1
		if a.Log {
			lo = 0.1
		}
	}
	if a.Zero && !a.Log {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	if lo == hi {
		hi += max(1e-9, math.Abs(hi)*0.1)
	}
	s := scale{lo: lo, hi: hi, from: from, to: to, log: a.Log}
	if a.Log {
		return s, logTicks(lo, hi, ticks)
	}
	step := niceStep((hi - lo) / float64(max(1, ticks)))
	s.lo, s.hi = math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	var out []float64
	for k := 0; ; k++ {
		v := s.lo + float64(k)*step
		if v > s.hi+step/2 {
			return s, out
		}
		out = append(out, v)
	}
}

// niceStep is the next of 1, 2, 5 times a power of ten.
func niceStep(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if x <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}

func logTicks(lo, hi float64, most int) (out []float64) {
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		out = out[:0]
		for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
			for _, m := range steps {
				if v := m * math.Pow(10, e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
					out = append(out, v)
				}
			}
		}
		if len(out) <= most+2 {
			return out
		}
	}
	return out
}

// ticks are the labels of an axis's ticks: in one unit, that of the largest, but where they lie orders of magnitude apart.
func (a Axis) ticks(at []float64) (out []string) {
	most := 0.0
	for _, v := range at {
		most = max(most, math.Abs(v))
	}
	for _, v := range at {
		if a.Log {
			most = math.Abs(v)
		}
		out = append(out, tick(v, most))
	}
	return out
}

// tick is a number in the unit of another.
func tick(v, of float64) string {
	unit := ""
	switch {
	case v == 0 || math.Abs(v) < 1e-12:
		return "0"
	case of >= 1e6:
		v, unit = v/1e6, "M"
	case of >= 1e4:
		v, unit = v/1e3, "k"
	}
	return strings.Replace(strconv.FormatFloat(v, 'g', 4, 64), "-", "−", 1) + unit
}

// values are all that a figure shows on one axis, intervals included.
func (f Figure) values(of func(p Point) []float64) (out []float64) {
	for _, s := range f.Series {
		for _, p := range s.Points {
			out = append(out, of(p)...)
		}
	}
	return out
}

// plane draws curves or a map.
func (f Figure) plane(c *canvas) {
	narrowed := c.width < 500
	longest := 0
	for _, s := range f.Series {
		longest = max(longest, len([]rune(s.Name)))
	}
	aside := f.Kind == Lines && !narrowed && longest <= 24 && len(f.Series) > 1 // names stand at the ends of their curves
	c.left, c.right, c.top, c.bottom = 54, 14, 26, 46
	if aside {
		c.right = 18 + letter*float64(longest)
	}
	legend := f.legend(c, aside || len(f.Series) < 2)
	c.top += legend
	plot := max(210, min(360, (c.width-c.left-c.right)*0.62))
	ys := f.values(func(p Point) []float64 { return []float64{p.Y, p.Lo, p.Hi} })
	xs := f.values(func(p Point) []float64 { return []float64{p.X} })
	for _, m := range f.Marks {
		ys = append(ys, m.At)
	}
	if f.Kind == Map { // both axes alike
		plot = f.alike(c, xs, ys)
	}
	c.height = c.top + plot + c.bottom
	x, xt := newScale(xs, f.X, c.left, c.width-c.right, int((c.width-c.left-c.right)/90)+1)
	y, yt := newScale(ys, f.Y, c.height-c.bottom, c.top, 5)
	if f.Kind == Lines && !f.X.Log && len(xs) > 0 { // curves begin at the axis
		x.lo, x.hi = slices.Min(xs), slices.Max(xs)
		xt = slices.DeleteFunc(xt, func(v float64) bool { return v < x.lo-1e-9 || v > x.hi+1e-9 })
	}
	f.axes(c, x, y, xt, yt)
	for _, m := range f.Marks {
		at := y.at(m.At)
		c.add(`<path class="mark" d="M%.1f %.1fH%.1f"/>`, c.left, at, c.width-c.right)
		c.text(c.width-c.right-2, at-5, "end", "", "", m.Name)
	}
	for k, s := range f.Series {
		if f.Kind == Map || s.Dots {
			f.dots(c, s, k, x, y)
		} else {
			f.curve(c, s, k, x, y)
		}
	}
	if aside {
		f.names(c, x, y)
	}
}

// alike is the height of a map in which a unit is as long up as along.
func (f Figure) alike(c *canvas, xs, ys []float64) float64 {
	sx, _ := newScale(xs, f.X, 0, 1, 6)
	sy, _ := newScale(ys, f.Y, 0, 1, 5)
	h := (c.width - c.left - c.right) * (sy.hi - sy.lo) / (sx.hi - sx.lo)
	if most := max(260, c.width*0.75); h > most {
		room := (c.width - c.left - c.right) * (1 - most/h)
		c.left, c.right = c.left+room/2, c.right+room/2
		return most
	}
	return max(h, 80)
}

// legend draws names in rows above the plot and returns how high they are.
func (f Figure) legend(c *canvas, no bool) float64 {
	if no {
		return 0
	}
	x, y := c.left, 34.0
	for k, s := range f.Series {
		name := short(s.Name, c.width-c.left-21)
		w := 40 + letter*float64(len([]rune(name)))
		if x > c.left && x+w > c.width+6 { // behind the last there is nothing
			x, y = c.left, y+18
		}
		if f.Kind == Map || s.Dots {
			c.add(`%s`, shape(k, x+6, y-4, 4.5))
		} else {
			class := "curve"
			if s.Quiet {
				class = "curve quiet"
			}
			c.add(`<path class="%s" style="stroke:%s" d="M%.1f %.1fh16"/>`, class, colour(k), x, y-4)
		}
		c.text(x+21, y, "start", "", "", name)
		x += w
	}
	if len(f.Marks) > 0 { // the highest has its name above it
		y += 12
	}
	return y - 14
}

// short is a name that has so much room, px.
func short(name string, room float64) string {
	if most := int(room / letter); len([]rune(name)) > most && most > 2 {
		return string([]rune(name)[:most-1]) + "…"
	}
	return name
}

func (f Figure) axes(c *canvas, x, y scale, xt, yt []float64) {
	labels := f.Y.ticks(yt)
	for k, v := range yt {
		at := y.at(v)
		c.add(`<path class="grid" d="M%.1f %.1fH%.1f"/>`, c.left, at, c.width-c.right)
		c.text(c.left-8, at+4, "end", "", "", labels[k])
	}
	labels = f.X.ticks(xt)
	for k, v := range xt {
		at := x.at(v)
		c.add(`<path class="axis" d="M%.1f %.1fv4"/>`, at, c.height-c.bottom)
		c.text(at, c.height-c.bottom+18, "middle", "", "", labels[k])
	}
	c.add(`<path class="axis" d="M%.1f %.1fH%.1f"/>`, c.left, c.height-c.bottom, c.width-c.right)
	c.text((c.left+c.width-c.right)/2, c.height-8, "middle", "", "", f.X.Label)
	c.text(0, 12, "start", "", "", f.Y.Label)
}

// faint is the opacity of a band: many that lie over each other are to leave the curves to be seen.
func (f Figure) faint() float64 {
	const one, all = 0.16, 0.6
	bands := 0
	for _, s := range f.Series {
		if slices.ContainsFunc(s.Points, Point.spread) {
			bands++
		}
	}
	return min(one, all/float64(max(1, bands)))
}

// curve draws a series with its band. Where a value is missing the curve is broken.
func (f Figure) curve(c *canvas, s Series, k int, x, y scale) {
	var line, up, down strings.Builder
	pen := byte('M')
	var low []string
	for _, p := range s.Points {
		if p.Y != p.Y {
			pen = 'M'
			continue
		}
		fmt.Fprintf(&line, "%c%.1f %.1f", pen, x.at(p.X), y.at(p.Y))
		pen = 'L'
		if p.spread() {
			fmt.Fprintf(&up, "%c%.1f %.1f", "ML"[min(1, up.Len())], x.at(p.X), y.at(p.Hi))
			low = append(low, fmt.Sprintf("L%.1f %.1f", x.at(p.X), y.at(p.Lo)))
		}
	}
	slices.Reverse(low)
	down.WriteString(strings.Join(low, ""))
	if up.Len() > 0 {
		c.add(`<path class="band" style="fill:%s;opacity:%.3f" d="%s%sZ"/>`, colour(k), f.faint(), up.String(), down.String())
	}
	class := "curve"
	if s.Quiet {
		class = "curve quiet"
	}
	c.add(`<path class="%s" style="stroke:%s" d="%s"><title>%s</title></path>`, class, colour(k), line.String(), html.EscapeString(s.Name))
	if len(s.Points) <= 12 {
		for _, p := range s.Points {
			if p.Y == p.Y {
				c.add(`<circle cx="%.1f" cy="%.1f" r="3" style="fill:%s"/>`, x.at(p.X), y.at(p.Y), colour(k))
			}
		}
	}
}

// names writes each series' name at the end of its curve, apart from each other.
func (f Figure) names(c *canvas, x, y scale) {
	type name struct {
		k       int
		at, end float64
	}
	var all []name
	for k, s := range f.Series {
		for i := len(s.Points) - 1; i >= 0; i-- {
			if p := s.Points[i]; p.Y == p.Y {
				all = append(all, name{k, y.at(p.Y), x.at(p.X)})
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b name) int {
		if a.at < b.at {
			return -1
		} else if a.at > b.at {
			return 1
		}
		return 0
	})
	const gap = 14
	for i := range all { // down where they are too close, then up where they have left the plot
		if i > 0 {
			all[i].at = max(all[i].at, all[i-1].at+gap)
		}
	}
	for i, floor := len(all)-1, c.height-c.bottom; i >= 0 && all[i].at > floor; i-- {
		all[i].at = floor
		floor -= gap
	}
	for _, n := range all {
		c.text(c.width-c.right+8, n.at+4, "start", "name", "fill:"+colour(n.k), f.Series[n.k].Name)
	}
}

// shape is a mark of a kind of points, told by form as well as by colour.
func shape(k int, x, y, r float64) string {
	style := fmt.Sprintf(`style="fill:%s;fill-opacity:.75;stroke:var(--page);stroke-width:.7"`, colour(k))
	switch k % 3 {
	case 1:
		return fmt.Sprintf(`<path d="M%.1f %.1fl%.1f %.1fh%.1fz" %s/>`, x, y-r*1.15, r*1.1, r*2, -r*2.2, style)
	case 2:
		return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" %s/>`, x-r*.85, y-r*.85, r*1.7, r*1.7, style)
	}
	return fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="%.1f" %s/>`, x, y, r, style)
}

func (f Figure) dots(c *canvas, s Series, k int, x, y scale) {
	r := 4.0
	if len(s.Points) > 150 {
		r = 2.6
	}
	for _, p := range s.Points {
		if p.X != p.X || p.Y != p.Y {
			continue
		}
		m := shape(k, x.at(p.X), y.at(p.Y), r)
		if p.Label != "" {
			m = "<g>" + m + "<title>" + html.EscapeString(p.Label) + "</title></g>"
		}
		c.add("%s", m)
	}
}

// bars draws horizontal bars: a block for each category, a bar for each series.
func (f Figure) bars(c *canvas) {
	const height, gap, between = 15.0, 4.0, 12.0
	single := len(f.Categories) <= 1 || len(f.Series) == 1
	longest := 0
	for _, s := range f.Series {
		longest = max(longest, len([]rune(s.Name)))
	}
	if len(f.Series) == 1 {
		longest = 0
		for _, x := range f.Categories {
			longest = max(longest, len([]rune(x)))
		}
	}
	c.left, c.right, c.top, c.bottom = min(c.width*0.42, 14+letter*float64(longest)), 58, 24, 44
	heading := 20.0
	if single {
		heading = 0
	}
	rows := 0
	for _, s := range f.Series {
		rows += len(s.Points)
	}
	blocks := max(1, len(f.Categories))
	if len(f.Series) == 1 {
		blocks = 1
	}
	c.height = c.top + float64(rows)*(height+gap) + float64(blocks)*heading + float64(blocks-1)*between + c.bottom
	values := f.values(func(p Point) []float64 { return []float64{p.Y, p.Lo, p.Hi} })
	for _, m := range f.Marks {
		values = append(values, m.At)
	}
	axis := f.Y
	axis.Zero = true
	x, ticks := newScale(values, axis, c.left, c.width-c.right, int((c.width-c.left-c.right)/80)+1)
	labels := axis.ticks(ticks)
	for k, v := range ticks {
		at := x.at(v)
		c.add(`<path class="grid" d="M%.1f %.1fV%.1f"/>`, at, c.top-4, c.height-c.bottom)
		c.text(at, c.height-c.bottom+18, "middle", "", "", labels[k])
	}
	for _, m := range f.Marks {
		at := x.at(m.At)
		c.add(`<path class="mark" d="M%.1f %.1fV%.1f"/>`, at, c.top-8, c.height-c.bottom)
		c.text(at, 12, "middle", "", "", m.Name)
	}
	y := c.top
	for cat := range max(1, len(f.Categories)) {
		if !single {
			c.text(0, y+13, "start", "strong", "", f.category(cat))
			y += heading
		}
		for k, s := range f.Series {
			for _, p := range s.Points {
				if int(p.X) != cat {
					continue
				}
				name := s.Name
				if len(f.Series) == 1 {
					name = f.category(cat)
				}
				f.bar(c, x, p, y, height, k, name, s.Quiet)
				y += height + gap
			}
		}
		if !single {
			y += between
		}
	}
	zero := x.at(0)
	c.add(`<path class="axis" d="M%.1f %.1fV%.1f"/>`, zero, c.top-4, c.height-c.bottom)
	c.text((c.left+c.width-c.right)/2, c.height-8, "middle", "", "", f.Y.Label)
}

func (f Figure) bar(c *canvas, x scale, p Point, y, height float64, k int, name string, quiet bool) {
	c.text(c.left-8, y+height-3, "end", "", "", short(name, c.left-10))
	if p.Y != p.Y {
		c.text(x.at(0)+6, y+height-3, "start", "", "", "none")
		return
	}
	from, to := min(x.at(0), x.at(p.Y)), max(x.at(0), x.at(p.Y))
	opacity := ".9"
	if quiet {
		opacity = ".5"
	}
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" style="fill:%s;opacity:%s"><title>%s</title></rect>`, from, y, max(to-from, 0.5), height, colour(k), opacity,
		html.EscapeString(name+": "+tick(p.Y, math.Abs(p.Y))))
	end := to
	if p.spread() {
		a, b, mid := x.at(p.Lo), x.at(p.Hi), y+height/2
		c.add(`<path class="whisker" d="M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6"/>`, a, mid, b, a, mid-3, b, mid-3)
		end = max(end, b)
	}
	label := p.Label
	if label == "" {
		label = strings.Replace(strconv.FormatFloat(p.Y, 'g', 3, 64), "-", "−", 1)
		if math.Abs(p.Y) >= 1000 {
			label = strings.Replace(strconv.FormatFloat(p.Y, 'f', 0, 64), "-", "−", 1)
		}
	}
	c.text(end+6, y+height-3, "start", "", "", label)
}
