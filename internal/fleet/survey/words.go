package survey

import (
	"fmt"
	"time"
)

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
