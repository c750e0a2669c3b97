package scope

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

func rules(t *testing.T, id crawl.Identity) *Rules {
	t.Helper()
	r, err := Compile(id, crawl.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func verdict(t *testing.T, r *Rules, url string, flags uint8) crawl.Kind {
	t.Helper()
	u, err := crawl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return r.Check(u, flags).Reason
}

func TestScopes(t *testing.T) {
	seed := []string{"http://www.example.co.uk:8080/docs/index.html"}
	in := map[crawl.Scope][]string{
		crawl.ScopeSite:   {"https://www.example.co.uk:8080/x"},
		crawl.ScopeHost:   {"https://www.example.co.uk/x", "http://www.example.co.uk:81/"},
		crawl.ScopeDomain: {"http://example.co.uk/", "http://a.b.example.co.uk/"},
		crawl.ScopePrefix: {"https://www.example.co.uk:8080/docs/", "http://www.example.co.uk:8080/docs/a/b?c"},
		crawl.ScopeAny:    {"http://elsewhere.test/"},
	}
	out := map[crawl.Scope][]string{
		crawl.ScopeSite:   {"http://www.example.co.uk/x", "http://example.co.uk:8080/"},
		crawl.ScopeHost:   {"http://example.co.uk/"},
		crawl.ScopeDomain: {"http://other.co.uk/", "http://notexample.co.uk/"},
		crawl.ScopePrefix: {"http://www.example.co.uk:8080/", "http://www.example.co.uk:8080/docs2/"},
	}
	for s, urls := range in {
		r := rules(t, crawl.Identity{Seeds: seed, Scope: s})
		for _, u := range urls {
			if got := verdict(t, r, u, 0); got != "" {
				t.Errorf("scope %s refuses %s: %s", s, u, got)
			}
		}
		for _, u := range out[s] {
			if got := verdict(t, r, u, 0); got != crawl.ReasonScope {
				t.Errorf("scope %s on %s: %q", s, u, got)
			}
		}
	}
}

// What a page needs may lie anywhere, but not over any number of others, and what is excluded is not had.
func TestResourcesOfOtherHosts(t *testing.T) {
	r := rules(t, crawl.Identity{Seeds: []string{"http://a.test/"}, Scope: crawl.ScopeSite, Exclude: []string{"tracker"}})
	for _, c := range []struct {
		url   string
		level int
		want  crawl.Kind
	}{
		{"http://cdn.test/x.png", 0, crawl.ReasonScope},
		{"http://cdn.test/x.png", 1, ""},
		{"http://cdn.test/x.png", crawl.MaxResource, ""},
		{"http://cdn.test/x.png", crawl.MaxResource + 1, crawl.ReasonScope},
		{"http://a.test/x.png", 7, ""},
		{"http://tracker.test/x.png", 1, crawl.ReasonExclude},
	} {
		if got := verdict(t, r, c.url, crawl.ResourceFlags(c.level)); got != c.want {
			t.Errorf("%s at level %d: %q, want %q", c.url, c.level, got, c.want)
		}
	}
}

func TestJoin(t *testing.T) {
	r := rules(t, crawl.Identity{Seeds: []string{"http://example.com/"}, Scope: crawl.ScopeSite})
	u, err := crawl.Parse("https://www.example.com/")
	if err != nil {
		t.Fatal(err)
	}
	if r.InScope(u) || !r.Join(u) || r.Join(u) || !r.InScope(u) {
		t.Error("a redirect's target joins once, and is in scope then")
	}
}

func TestFilters(t *testing.T) {
	r := rules(t, crawl.Identity{Seeds: []string{"http://a.test/"}, Scope: crawl.ScopeSite, Exclude: []string{`/private/`}, Include: []string{`\.html$|/$|/a/|/x`}})
	long := "/x" + repeat("y", 2100)
	for u, want := range map[string]crawl.Kind{
		"/":                        "",
		"/page.html":               "",
		"/page.pdf":                crawl.ReasonInclude,
		"/private/page.html":       crawl.ReasonExclude,
		long:                       crawl.ReasonTrapLength,
		"/a/a/a/a/":                "", // what repeats is judged by what it brings
		"/a/b/a/b/a/b/a/b/":        "",
		"/x?" + repeat("a=1&", 45): "",
	} {
		if got := verdict(t, r, "http://a.test"+u, 0); got != want {
			t.Errorf("%.60s: %q, want %q", u, got, want)
		}
	}
	if got := verdict(t, r, "http://b.test/private/", crawl.FlagSeed); got != "" {
		t.Errorf("a seed is refused: %s", got)
	}
	if _, err := Compile(crawl.Identity{Scope: "moon"}, crawl.Limits{}); err == nil {
		t.Error("an unknown scope is accepted")
	}
}

func repeat(s string, n int) (out string) {
	for range n {
		out += s
	}
	return out
}

// With many prefixes a URL is in scope exactly if it begins with one of them.
func TestPrefixes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	word := func() string { return string("ab/?c"[rnd.IntN(5)]) }
	text := func() string {
		s := "http://h" + fmt.Sprint(rnd.IntN(2)) + ".test/"
		for range rnd.IntN(7) {
			s += word()
		}
		return s
	}
	for range 300 {
		id := crawl.Identity{Scope: crawl.ScopePrefix}
		for range rnd.IntN(4) {
			id.Seeds = append(id.Seeds, text())
		}
		r := rules(t, id)
		for range 30 {
			u, err := crawl.Parse(text())
			if err != nil {
				t.Fatal(err)
			}
			want := false
			for _, s := range id.Seeds {
				seed, err := crawl.Parse(s)
				if err != nil {
					t.Fatal(err)
				}
				want = want || strings.HasPrefix(u.String(), seed.Dir())
			}
			if r.InScope(u) != want {
				t.Fatalf("seeds %q: %s in scope is %v", id.Seeds, u, !want)
			}
		}
	}
}

// A URL must pass the filters of the job and of every rule of its site.
func TestFiltersOfSites(t *testing.T) {
	r, err := Compile(crawl.Identity{Scope: crawl.ScopeAny, Exclude: []string{"never"}}, crawl.DefaultLimits(),
		crawl.SiteRule{Hosts: []string{"*"}, Limits: map[string]int64{"delay": 1}},
		crawl.SiteRule{Hosts: []string{"*.test"}, Exclude: []string{"draft"}},
		crawl.SiteRule{Hosts: []string{"a.test"}, Include: []string{"/docs/"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]crawl.Kind{
		"http://a.test/docs/x": "", "http://a.test/x": crawl.ReasonInclude, "http://a.test/docs/draft": crawl.ReasonExclude,
		"http://b.test/x": "", "http://b.test/draft": crawl.ReasonExclude, "http://c.example/draft": "", "http://c.example/never": crawl.ReasonExclude,
	} {
		if got := verdict(t, r, url, 0); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if got := verdict(t, r, "http://a.test/map.xml", crawl.FlagSitemap); got != "" {
		t.Errorf("a sitemap: %s", got)
	}
	if _, err := Compile(crawl.Identity{Scope: crawl.ScopeAny}, crawl.DefaultLimits(), crawl.SiteRule{Hosts: []string{"*"}, Include: []string{"("}}); err == nil {
		t.Error("an expression that is none")
	}
}
