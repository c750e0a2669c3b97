package crawl

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The rules of a site are those of which a pattern matches its name, as one sees by trying all.
func TestSitesOf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	name := func() string {
		parts := make([]string, 1+rnd.IntN(3))
		for i := range parts {
			parts[i] = string("abc"[rnd.IntN(3)])
		}
		s := strings.Join(parts, ".")
		if rnd.IntN(3) == 0 {
			s += fmt.Sprintf(":%d", 81+rnd.IntN(2))
		}
		return s
	}
	matches := func(pattern, site string) bool {
		host, _, port := strings.Cut(site, ":")
		below, wide := strings.CutPrefix(pattern, "*.")
		return pattern == "*" || pattern == host || port && pattern == site || wide && strings.HasSuffix(host, "."+below)
	}
	for range 500 {
		rules := make([]SiteRule, rnd.IntN(5))
		for i := range rules {
			for range 1 + rnd.IntN(3) {
				p := name()
				switch rnd.IntN(6) {
				case 0:
					p = "*"
				case 1:
					p, _, _ = strings.Cut("*."+p, ":")
				}
				if err := checkPattern(p); err != nil {
					t.Fatalf("%q: %v", p, err)
				}
				rules[i].Hosts = append(rules[i].Hosts, p)
			}
		}
		s := NewSites(rules)
		for range 20 {
			site := name()
			var want []*SiteRule
			for i := range rules {
				if slices.ContainsFunc(rules[i].Hosts, func(p string) bool { return matches(p, site) }) {
					want = append(want, &rules[i])
				}
			}
			if got := s.Of(site); !slices.Equal(got, want) {
				t.Fatalf("%s: %d rules, want %d of %+v", site, len(got), len(want), rules)
			}
		}
	}
}

func TestSiteRules(t *testing.T) {
	s := NewSites([]SiteRule{
		{Hosts: []string{"*"}, Limits: map[string]int64{"delay": int64(time.Second), "site_pages": 9}, Headers: []Header{{"A", "1"}, {"B", "1"}}},
		{Hosts: []string{"a.test"}, Limits: map[string]int64{"delay": 0}, Headers: []Header{{"a", "2"}}},
	})
	def := DefaultLimits()
	if l := s.Limits(def, "a.test:81"); l.Delay != 0 || l.SitePages != 9 || l.MaxCrawlDelay != def.MaxCrawlDelay {
		t.Errorf("%+v", l)
	}
	if d := cmp.Diff([]Header{{"B", "1"}, {"a", "2"}}, s.Headers("a.test")); d != "" {
		t.Error(d)
	}
	for want, r := range map[string]SiteRule{
		"hosts: name at least one":         {},
		"host: allowed are hosts, headers": {Limits: map[string]int64{"host": 0}},
		`exclude: "(": missing closing )`:  {Hosts: []string{"*"}, Exclude: []string{"x", "("}},
		`hosts: "A.test": allowed are`:     {Hosts: []string{"A.test"}},
		`hosts: "a.test:443": allowed are`: {Hosts: []string{"a.test:443"}},
		`hosts: "a.*": allowed are`:        {Hosts: []string{"a.*"}},
		`hosts: "a.test/x": allowed are`:   {Hosts: []string{"a.test/x"}},
		`hosts: "*.10.0.0.1": an address`:  {Hosts: []string{"*.10.0.0.1"}},
		"max_pages: allowed are hosts":     {Hosts: []string{"*"}, Limits: map[string]int64{"max_pages": 1}},
		"delay: -1ns: allowed are 0":       {Hosts: []string{"*"}, Limits: map[string]int64{"delay": -1}},
		`headers: "X Y": not the name`:     {Hosts: []string{"*"}, Headers: []Header{{"X Y", ""}}},
		`headers: "X": its value has`:      {Hosts: []string{"*"}, Headers: []Header{{"X", "1\r\nHost: evil"}}},
		`headers: "cookie": secrets are`:   {Hosts: []string{"*"}, Headers: []Header{{"cookie", "a=b"}}},
		`headers: "Host": this field`:      {Hosts: []string{"*"}, Headers: []Header{{"Host", "x"}}},
	} {
		if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestUnmatched(t *testing.T) {
	rules := []SiteRule{{Hosts: []string{"a.test", "*.b.test", "*"}}, {Hosts: []string{"typo.test", "a.test:81", "c.test:82", "*.test", "*.a.test"}}}
	got := Unmatched(rules, slices.Values([]string{"a.test:81", "x.y.b.test", "c.test"}))
	if want := []string{"typo.test", "c.test:82", "*.a.test"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a person changes of some sites leaves what was said of others, and of the same ones what is not named.
func TestRulesMerge(t *testing.T) {
	was := []SiteRule{
		{Hosts: []string{"a.test"}, Limits: map[string]int64{"delay": 1, "retries": 2}, Headers: []Header{{"X-A", "1"}, {"X-B", "1"}}, Exclude: []string{"x"}},
		{Hosts: []string{"b.test"}, Limits: map[string]int64{"delay": 3}},
	}
	got := Merge(was, []SiteRule{
		{Hosts: []string{"a.test"}, Limits: map[string]int64{"delay": 9}, Headers: []Header{{"x-b", "2"}}},
		{Hosts: []string{"c.test"}, Limits: map[string]int64{"delay": 4}},
	})
	want := []SiteRule{
		{Hosts: []string{"a.test"}, Limits: map[string]int64{"delay": 9, "retries": 2}, Headers: []Header{{"X-A", "1"}, {"x-b", "2"}}, Exclude: []string{"x"}},
		was[1], {Hosts: []string{"c.test"}, Limits: map[string]int64{"delay": 4}},
	}
	if !reflect.DeepEqual(got, want) || !SameFilters(was, got) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if was[0].Limits["delay"] != 1 || len(was[0].Headers) != 2 {
		t.Errorf("the rules before are others now: %+v", was[0])
	}
}
