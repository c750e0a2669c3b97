package frontier

import (
	"fmt"
	"net/url"
	"testing"

	"argosy/internal/crawl"
)

// links applies one part with links of a page; from "" is robots.txt.
func (w *walk) links(from string, links ...crawl.Link) {
	w.t.Helper()
	var parent crawl.Key
	if from != "" {
		parent = key(w.t, from)
	}
	w.no++
	w.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
		Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: w.no, Found: []crawl.Found{{Parent: parent, Links: links}},
	}}})
}

func to(path string) crawl.Link        { return crawl.Link{URL: "http://s.test" + path} }
func notTo(path string) crawl.Link     { return crawl.Link{URL: "http://s.test" + path, NoFollow: true} }
func sitemapAt(url string) crawl.Link  { return crawl.Link{URL: url, Sitemap: true} }
func redirectTo(url string) crawl.Link { return crawl.Link{URL: url, Redirect: true} }

func (w *walk) reason(url string) (string, crawl.State) {
	w.t.Helper()
	var found *URL
	err := w.f.URLs(1, func(u URL) error {
		if u.URL == url {
			found = &u
		}
		return nil
	})
	if err != nil || found == nil {
		w.t.Fatalf("%s: %v, %v", url, found, err)
	}
	return string(found.Reason), found.State
}

// What only pages name that ask not to follow their links is refused, once, and admitted as soon as another page names it.
func TestNoFollowDependsOnThePath(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	w.links("/", notTo("/a"), notTo("/b"), notTo("/a"))
	w.links("/x", notTo("/a"))
	if c := w.f.Counts(1); c.Reasons["nofollow"] != 2 || c.Excluded != 2 || c.Discovered != 3 {
		t.Errorf("%+v", c)
	}
	w.links("/y", to("/a"))
	if s := w.state("/a"); s != crawl.Pending {
		t.Errorf("/a is %v", s)
	}
	w.links("/z", notTo("/a"), notTo("/y"))
	if s := w.state("/a"); s != crawl.Pending {
		t.Errorf("/a is %v", s)
	}
	if c := w.f.Counts(1); c.Reasons["nofollow"] != 2 || c.Pending != 2 { // /b and /y
		t.Errorf("%+v", c)
	}
	check(t, w.f)
}

// A way over a page that asks not to follow its links brings nothing nearer.
func TestNoFollowIsNoShortcut(t *testing.T) {
	w := newWalk(t, 2)
	defer w.f.Close()
	w.links("/", to("/1"), notTo("/deep"), notTo("/3"))
	w.links("/1", to("/2"))
	w.links("/2", to("/3"))
	if reason, s := w.reason("http://s.test/3"); s != crawl.Excluded || reason != "depth" {
		t.Errorf("/3 is three links away and %v: %s", s, reason)
	}
	w.links("/1", to("/deep"))
	w.links("/deep", to("/below"))
	if reason, s := w.reason("http://s.test/below"); s != crawl.Excluded || reason != "depth" {
		t.Errorf("/below is three links away and %v: %s", s, reason)
	}
	job := w.f.Job(1).Job
	job.Limits.MaxDepth = 3
	w.apply(&crawl.Entry{Kind: crawl.EntryLimits, Epoch: 1, Job: &job})
	for _, path := range []string{"/3", "/below"} {
		if s := w.state(path); s != crawl.Pending {
			t.Errorf("%s is %v with a depth of 3", path, s)
		}
	}
	check(t, w.f)
}

// What was refused for its depth, and is found nearer but not near enough, is admitted when the limit reaches the nearer way.
func TestNearerButNotNearEnough(t *testing.T) {
	w := newWalk(t, 1)
	defer w.f.Close()
	w.links("/", to("/1"))
	w.links("/1", to("/2"))
	w.links("/2", to("/y"))
	w.links("/1", to("/y"))
	job := w.f.Job(1).Job
	job.Limits.MaxDepth = 2
	w.apply(&crawl.Entry{Kind: crawl.EntryLimits, Epoch: 1, Job: &job})
	if s := w.state("/y"); s != crawl.Pending {
		t.Errorf("/y is two links away and %v", s)
	}
}

// An index that names two new ones each time ends by itself, and what it names beyond has a reason. A shorter way to a
// sitemap admits it.
func TestNestedSitemapsEnd(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	w.links("", sitemapAt("http://s.test/0"))
	level, refused := []string{"/0"}, 0
	for n := 0; len(level) > 0 && n < 20; n++ {
		var next []string
		for _, at := range level {
			for i := range 2 {
				child := fmt.Sprintf("%s%d", at, i)
				w.links(at, sitemapAt("http://s.test"+child))
				if w.state(child) == crawl.Pending {
					next = append(next, child)
				} else {
					refused++
				}
			}
		}
		level = next
	}
	c := w.f.Counts(1)
	if c.Pending != 1+1+2+4+8 || refused != 16 || c.Reasons["trap-sitemap"] != 16 {
		t.Errorf("%d refused, counts %+v", refused, c)
	}
	w.links("", sitemapAt("http://s.test/00000"))
	if s := w.state("/00000"); s != crawl.Pending {
		t.Errorf("a sitemap that robots.txt names is %v", s)
	}
	check(t, w.f)
}

// A site has so many sitemaps and no more, until the limit is raised.
func TestSitemapsPerSite(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	w.f.Job(1).Limits.MaxSitemaps = 3
	for i := range 5 {
		w.links("", sitemapAt(fmt.Sprintf("http://s.test/%d.xml", i)))
	}
	if c := w.f.Counts(1); c.Pending != 4 || c.Reasons["trap-sitemap"] != 2 {
		t.Errorf("%+v", c)
	}
	job := w.f.Job(1).Job
	job.Limits.MaxSitemaps = 4
	w.apply(&crawl.Entry{Kind: crawl.EntryLimits, Epoch: 1, Job: &job})
	if c := w.f.Counts(1); c.Pending != 5 || c.Reasons["trap-sitemap"] != 1 {
		t.Errorf("with one more: %+v", c)
	}
	check(t, w.f)
}

// A sitemap may be anywhere if robots.txt names it, or where such a one redirects; one that a sitemap names must be on its
// site or in the scope.
func TestSitemapsOfOtherSites(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	w.links("", sitemapAt("http://cdn.test/a.xml"), sitemapAt("http://s.test/b.xml"), sitemapAt("http://s.test/c.xml"))
	w.links("/b.xml", sitemapAt("http://evil.test/1.xml"), sitemapAt("http://s.test/2.xml"))
	w.links("/c.xml", redirectTo("http://other.test/c.xml"))
	w.links("/2.xml", redirectTo("http://evil.test/3.xml"))
	for url, want := range map[string]crawl.State{
		"http://cdn.test/a.xml": crawl.Pending, "http://s.test/2.xml": crawl.Pending, "http://other.test/c.xml": crawl.Pending,
		"http://evil.test/1.xml": crawl.Excluded, "http://evil.test/3.xml": crawl.Excluded,
	} {
		if reason, s := w.reason(url); s != want || s == crawl.Excluded && reason != "scope" {
			t.Errorf("%s is %v %s", url, s, reason)
		}
	}
	check(t, w.f)
}

// A page that waits and is named as a sitemap as well is read as one.
func TestWaitingPageBecomesASitemap(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	w.links("/", to("/map.xml"))
	w.links("", sitemapAt("http://s.test/map.xml"))
	ts, err := w.f.Next(1, 10)
	if err != nil || len(ts) != 1 || ts[0].Flags&crawl.FlagSitemap == 0 {
		t.Errorf("%+v, %v", ts, err)
	}
}

// With --resources what a page needs is had from other hosts too, also if a link names it first; pages there are not.
func TestResourcesOfOtherHosts(t *testing.T) {
	for _, linkFirst := range []bool{false, true} {
		v := newVisit(t, func(string, url.Values) string { return "" })
		v.give()
		links := []crawl.Link{{URL: "http://cdn.test/a.css", Resource: true}, {URL: "http://cdn.test/page"}}
		if linkFirst {
			links = append([]crawl.Link{{URL: "http://cdn.test/a.css"}}, links...)
		}
		p := v.part()
		p.Found = []crawl.Found{{Parent: v.held[0].Key, Links: links}}
		v.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
		got := map[string]crawl.State{}
		if err := v.f.URLs(1, func(u URL) error { got[u.URL] = u.State; return nil }); err != nil {
			t.Fatal(err)
		}
		if got["http://cdn.test/a.css"] != crawl.Pending || got["http://cdn.test/page"] != crawl.Excluded {
			t.Errorf("link first %v: %v", linkFirst, got)
		}
	}
}

// Where a seed redirects joins the scope, also for links that were refused before: in entries before, and in the very one that says so.
func TestJoinedInOneEntry(t *testing.T) {
	for _, entries := range []int{1, 2} {
		w := newWalk(t, -1)
		links := []crawl.Link{{URL: "http://other.test/early"}, {URL: "http://third.test/"}, redirectTo("http://other.test/")}
		if entries == 2 {
			w.links("/", links[:2]...)
			links = links[2:]
		}
		w.links("/", links...)
		if reason, state := w.reason("http://other.test/early"); state != crawl.Pending {
			t.Errorf("in %d entries: the link is %v, %s", entries, state, reason)
		}
		if reason, state := w.reason("http://third.test/"); state != crawl.Excluded || reason != string(crawl.ReasonScope) {
			t.Errorf("in %d entries: what is outside is %v, %s", entries, state, reason)
		}
		check(t, w.f)
		w.f.Close()
	}
}
