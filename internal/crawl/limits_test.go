package crawl

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Every limit has a name of its own, its default in its range, and is read back as it is written.
func TestLimits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	def := DefaultLimits()
	seen := map[string]bool{}
	for _, l := range AllLimits {
		if seen[l.Name] || l.Name == "" || l.Doc == "" {
			t.Errorf("%+v", l)
		}
		seen[l.Name] = true
		if err := l.Check(l.Of(&def)); err != nil {
			t.Errorf("the default of %s: %v", l.Name, err)
		}
		for range 200 {
			n := l.Min + rnd.Int64N(1+min(l.Max-max(l.Min, 0), 1<<(8+rnd.IntN(38))))
			got, err := l.Parse(l.Format(n))
			if err != nil || got != n {
				t.Fatalf("%s: %d is written %q and read as %d, %v", l.Name, n, l.Format(n), got, err)
			}
			var to Limits
			if l.Set(&to, n); l.Of(&to) != n {
				t.Fatalf("%s: set to %d, is %d", l.Name, n, l.Of(&to))
			}
		}
		for _, n := range []int64{l.Min - 1, l.Max + 1} {
			if n == l.Min-1 || n > 0 { // no overflow
				if _, err := l.Parse(l.Format(n)); err == nil {
					t.Errorf("%s: %d is taken, outside %d to %d", l.Name, n, l.Min, l.Max)
				}
			}
		}
	}
	if n := fields(reflect.TypeFor[Limits]()); n != len(AllLimits)+3 { // MaxRefusals, MaxHeader and MaxDecoded are nobody's to set
		t.Errorf("%d fields, %d limits", n, len(AllLimits))
	}
}

// fields counts the fields of a struct and of the structs in it.
func fields(t reflect.Type) (n int) {
	for i := range t.NumField() {
		if f := t.Field(i).Type; f.Kind() == reflect.Struct {
			n += fields(f)
		} else {
			n++
		}
	}
	return n
}

func TestWriteLimits(t *testing.T) {
	span, size := Limit{Unit: UnitSpan}, Limit{Unit: UnitSize}
	for want, got := range map[string]string{
		"1h": span.Format(int64(time.Hour)), "5m": span.Format(int64(5 * time.Minute)), "10m30s": span.Format(int64(630 * time.Second)),
		"1h0m5s": span.Format(int64(time.Hour + 5*time.Second)), "250ms": span.Format(int64(250 * time.Millisecond)),
		"0": span.Format(0), "64M": size.Format(64 << 20), "1T": size.Format(1 << 40), "1025": size.Format(1025), "20s": span.Format(int64(20 * time.Second)),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, bad := range []string{"", "5", "-", "1x", "K", "9999999T", "1 s"} {
		if _, err := ParseSpan(bad); err == nil {
			t.Errorf("%q is taken for a span", bad)
		}
		if _, err := ParseSize(bad); (err == nil) != (bad == "5") || err != nil && !strings.Contains(err.Error(), "not a size") {
			t.Errorf("%q as a size: %v", bad, err)
		}
	}
}

// Who waits longer for an answer than a lease lasts without one is told so, whatever is set and whatever is a default.
func TestPatienceBeyondLeases(t *testing.T) {
	ms := int64(time.Millisecond)
	for _, c := range []struct {
		limits, site map[string]int64
		want         string
	}{
		{nil, nil, ""},
		{map[string]int64{"header_timeout": 120_000 * ms}, nil, "limits: header_timeout 2m0s: a lease is recalled after 1m0s without an answer (limits.recycle_after)"},
		{map[string]int64{"header_timeout": 120_000 * ms, "recycle_after": 120_000 * ms}, nil, ""},
		{map[string]int64{"recycle_after": 20_000 * ms}, nil, "limits: header_timeout 30s: a lease is recalled after 20s without an answer (limits.recycle_after)"},
		{map[string]int64{"recycle_after": 30_000 * ms}, map[string]int64{"connect_timeout": 31_000 * ms, "delay": 99_000 * ms}, "a.test: connect_timeout 31s: a lease is recalled after 30s without an answer (limits.recycle_after)"},
	} {
		j := Job{Limits: DefaultLimits(), Sites: []SiteRule{{Hosts: []string{"a.test", "b.test"}, Limits: c.site}}}
		for name, n := range c.limits {
			d, _ := LimitNamed(name)
			d.Set(&j.Limits, n)
		}
		if got := strings.Join(j.Impatient(), "; "); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.limits, c.site, got, c.want)
		}
	}
}
