package assemble_test

import (
	"fmt"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// A page that asks not to follow its links is obeyed, and what it names is counted; --ignore-nofollow follows it and still
// obeys robots.txt.
func TestNofollow(t *testing.T) {
	t.Parallel()
	h := serveByHand(t, fixed(map[string]string{
		"/robots.txt": "User-agent: *\nDisallow: /private\n",
		"/":           `<meta name=robots content="index, nofollow"><a href=/1>1</a><a href=/2>2</a><a href=/1#x>1</a><a href=/private>3</a>`,
		"/1":          `<a href=/3>3</a>`, "/2": "x", "/3": "x", "/open": `<a href=/2>2</a>`,
	}))
	c := h.config(t)
	if sum := runConfig(t, c); sum.Fetched != 1 || sum.Excluded != 3 || sum.Reasons["nofollow"] != 3 || sum.Discovered != 4 {
		t.Errorf("%+v", sum)
	}
	c = h.config(t)
	c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, c.Job.Identity.Seeds[0]+"open")
	if sum := runConfig(t, c); sum.Fetched != 3 || sum.Excluded != 2 || sum.Reasons["nofollow"] != 2 {
		t.Errorf("where another page names one of them: %+v", sum)
	}
	c = h.config(t)
	c.Job.Identity.IgnoreNofollow = true
	if sum := runConfig(t, c); sum.Fetched != 4 || sum.Reasons["robots"] != 1 || sum.Excluded != 1 {
		t.Errorf("ignored: %+v", sum)
	}
	if h.requests("/private") != 0 {
		t.Error("robots.txt was not obeyed")
	}
	c = h.config(t)
	c.Job.Identity.IgnoreRobots = true
	if sum := runConfig(t, c); sum.Fetched != 5 || sum.Excluded != 0 {
		t.Errorf("with robots.txt ignored: %+v", sum)
	}
}

// Sitemaps that name two new ones each time end by themselves, and everything that they name is accounted for.
func TestSitemapsEnd(t *testing.T) {
	t.Parallel()
	h := serveByHand(t, func(path string) (string, bool) {
		switch {
		case path == "/":
			return "x", true
		case path == "/robots.txt":
			return "Sitemap: /map/\n", true
		case strings.HasPrefix(path, "/map/"):
			return fmt.Sprintf(`<?xml version="1.0"?><sitemapindex><sitemap><loc>%s0</loc></sitemap><sitemap><loc>%[1]s1</loc></sitemap></sitemapindex>`, path), true
		}
		return "", false
	})
	c := h.config(t)
	c.Job.Identity.Sitemaps = true
	sum := runConfig(t, c)
	if sum.State != crawl.JobDone || sum.Fetched != 1+1+2+4+8 || sum.Reasons["trap-sitemap"] != 16 || sum.Discovered != 32 {
		t.Errorf("%+v", sum)
	}
}

// Every entry of a sitemap is accounted for: 50,000 as URLs, those beyond and those that are not URLs for their length as counts.
func TestSitemapEntriesBeyondTheLimit(t *testing.T) {
	t.Parallel()
	const entries, long = 60_000, 7
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for range long {
		b.WriteString("<url><loc>/" + strings.Repeat("x", 9000) + "</loc></url>")
	}
	for i := range entries - long {
		fmt.Fprintf(&b, "<url><loc>/p/%d</loc></url>", i)
	}
	b.WriteString("</urlset>")
	h := serveByHand(t, fixed(map[string]string{"/": "x", "/robots.txt": "Sitemap: /all.xml\n", "/all.xml": b.String()}))
	c := h.config(t)
	c.Job.Identity.Sitemaps = true
	c.Job.Identity.Exclude = []string{"/p/"}
	for range 2 { // again: nothing is counted twice
		sum := runConfig(t, c)
		if sum.Discovered != 2+entries || sum.Reasons["trap-sitemap"] != entries-50_000 || sum.Reasons["trap-length"] != long {
			t.Errorf("%+v", sum)
		}
	}
}

// Lists of URLs and feeds that are served as HTML are sitemaps like others, however they write the scheme.
func TestSitemapsServedAsPages(t *testing.T) {
	t.Parallel()
	var h *handSite
	h = serveByHand(t, func(path string) (string, bool) {
		site := "://s0.test:" + h.port
		body, ok := map[string]string{
			"/robots.txt": "Sitemap: /urls.txt\nSitemap: /feed.php\nSitemap: /commented\n", "/": "x",
			"/urls.txt":  "http" + site + "/1\n HTTP" + site + "/2\nnot one\n",
			"/feed.php":  `<rss version="2.0"><channel><item><link>http` + site + `/3</link></item></channel></rss>`,
			"/commented": "<!--" + strings.Repeat(" a licence", 200) + " --><urlset><url><loc>/4</loc></url></urlset>",
			"/1":         "<p>one", "/2": "<p>two", "/3": "<p>three", "/4": "<p>four",
		}[path]
		return body, ok
	})
	c := h.config(t)
	c.Job.Identity.Sitemaps = true
	runConfig(t, c)
	for _, path := range []string{"/1", "/2", "/3", "/4"} {
		if h.requests(path) != 1 {
			t.Errorf("%s was asked for %d times", path, h.requests(path))
		}
	}
}
