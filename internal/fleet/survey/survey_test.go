package survey_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/survey"
	"argosy/internal/fleet/verify"
)

// planted is a site with broken links that somebody has planted: by URL, the pages that link there with the words of the link.
type planted struct {
	pages  map[string]string
	moved  map[string]string            // redirects
	broken map[string]map[string]string // path → page → words
}

// plant makes a site of so many pages that all lead to each other in a tree, and plants broken links.
func plant(rng *rand.Rand, pages, broken int) *planted {
	w := &planted{pages: map[string]string{}, moved: map[string]string{}, broken: map[string]map[string]string{}}
	links := make([][]string, pages)
	path := func(i int) string {
		if i == 0 {
			return "/"
		}
		return fmt.Sprintf("/d%d/p%d.html", i%7, i)
	}
	for i := 1; i < pages; i++ {
		links[(i-1)/8] = append(links[(i-1)/8], fmt.Sprintf(`<a href="%s">page</a>`, path(i)))
	}
	note := func(to, page, words string) {
		if w.broken[to] == nil {
			w.broken[to] = map[string]string{}
		}
		w.broken[to][page] = words
	}
	for b := range broken {
		to := fmt.Sprintf("/gone/%d.html", b)
		for n := range 1 + rng.IntN(5) {
			at := rng.IntN(pages)
			if _, twice := w.broken[to][path(at)]; twice {
				continue
			}
			words := fmt.Sprintf("gone & lost – %d.%d", b, n)
			ref := to
			if at > 0 && rng.IntN(2) == 0 {
				ref = "../gone/x/../" + to[len("/gone/"):] + "#part"
			}
			links[at] = append(links[at], fmt.Sprintf(`<A class=x HREF='%s'> <b>gone</b> &amp;
 lost – %d.%d</A>`, ref, b, n))
			note(to, path(at), words)
		}
	}
	// A copy of a page has the same links by other words of its own URL; a redirect leads nowhere; a page in UTF-8 says so late.
	links[0] = append(links[0], `<a href="/d1/copy.html">copy</a> <a href="/old">old</a> <a href="/d1/empty.html">no words</a>`)
	w.moved["/old"] = "/nowhere"
	w.moved["/check"] = "/nowhere" // no page links there: see ServeHTTP
	note("/nowhere", "/old", "(redirects there)")
	note("/nowhere", "/check", "(redirects there)")
	note("/old", "/", "old")
	for i := range pages {
		w.pages[path(i)] = `<!doctype html><title>x</title><meta charset=utf-8><p>` + path(i) + strings.Repeat(" words", 20) + strings.Join(links[i], " ")
	}
	w.pages["/d1/copy.html"] = w.pages["/d1/p1.html"]
	for to, from := range w.broken {
		if words, ok := from["/d1/p1.html"]; ok {
			w.broken[to]["/d1/copy.html"] = words
		}
	}
	w.pages["/d1/empty.html"] = `<base href="/other/"><a href="../gone/base"><img src=x></a>`
	note("/gone/base", "/d1/empty.html", "")
	return w
}

func (w *planted) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if _, err := r.Cookie("k"); err != nil && r.URL.Path == "/nowhere" { // by way of a page that nobody knows
		http.SetCookie(rw, &http.Cookie{Name: "k", Value: "1"})
		http.Redirect(rw, r, "/check", http.StatusFound)
		return
	}
	if to := w.moved[r.URL.Path]; to != "" {
		http.Redirect(rw, r, to, http.StatusFound)
		return
	}
	page, ok := w.pages[r.URL.Path]
	if !ok {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "text/html")
	_, _ = rw.Write([]byte(page))
}

// crawlSite crawls a site into a directory.
func crawlSite(t *testing.T, url string) string {
	t.Helper()
	cfg := assemble.DefaultConfig(filepath.Join(t.TempDir(), "c"))
	cfg.Job.Identity = crawl.Identity{Seeds: []string{url}, Scope: crawl.ScopeSite, UserAgent: "argosy-test", Sitemaps: true} // there are none
	cfg.Job.Limits.Delay = 0
	cfg.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cr, err := assemble.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = cr.Run(t.Context(), nil)
	if cerr := cr.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	return cfg.Dir
}

// Every planted broken link is found, with every page that links there and the words of the link, and no other.
func TestBrokenLinks(t *testing.T) {
	w := plant(rand.New(rand.NewPCG(15, 1)), 300, 200)
	srv := httptest.NewServer(w)
	defer srv.Close()
	r, err := survey.Make(t.Context(), verify.Place{Dir: crawlSite(t, srv.URL+"/")}, 1, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{}
	for _, b := range r.Broken {
		if b.Why != "404" || b.Links != len(b.From) {
			t.Errorf("%s: %s, %d links, %d of them named", b.URL, b.Why, b.Links, len(b.From))
		}
		from := map[string]string{}
		for _, l := range b.From {
			from[strings.TrimPrefix(l.Page, srv.URL)] = l.Text
		}
		got[strings.TrimPrefix(b.URL, srv.URL)] = from
	}
	for to, want := range w.broken {
		if !maps.Equal(got[to], want) {
			t.Errorf("%s: found on %v, planted on %v", to, got[to], want)
		}
	}
	if len(w.broken) < 200 || len(got) != len(w.broken) {
		t.Errorf("%d broken URLs found, %d planted", len(got), len(w.broken))
	}
	if r.Redirected != 2 || len(r.Same) != 1 || r.Same[0].URLs != 2 || r.Counts.Fetched == 0 || r.Unread != 0 {
		t.Errorf("%d redirects, %+v the same, %+v", r.Redirected, r.Same, r.Counts)
	}
	urls := int64(0)
	for _, b := range r.Timeline {
		urls += b.URLs
	}
	if urls != r.Counts.Fetched {
		t.Errorf("%d URLs over time, %d fetched", urls, r.Counts.Fetched)
	}
	var html strings.Builder
	if err := r.HTML(&html, func(string) (string, string) { return "", "" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/gone/199.html", "gone &amp; lost – 7.0", "<svg"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if m := regexp.MustCompile(`(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)|<script|@import|url\(`).FindString(html.String()); m != "" {
		t.Errorf("the page needs something else: %s", m)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// An expression that a report proposes matches every URL of its template.
func TestExcludeMatchesItsTemplate(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 2))
	words := []string{"a", "news", "2024", "x-y", "a+b", "(c)", "p%20q", "index.html", "v1.2", "", "img.png", "12", "日", "a.b*c"}
	pick := func() string { return words[rng.IntN(len(words))] }
	for range 20_000 {
		var b strings.Builder
		b.WriteString("http://site.example:8080")
		for range rng.IntN(6) {
			b.WriteString("/" + pick())
		}
		for i := range rng.IntN(4) {
			b.WriteString(string("?&&&"[i]) + pick())
			if rng.IntN(2) == 0 {
				b.WriteString("=" + pick())
			}
		}
		u, err := crawl.Parse(b.String())
		if err != nil {
			continue
		}
		shape := survey.Shape(u)
		e := survey.Exclude(u.Site(), shape)
		if re, err := regexp.Compile(e); err != nil || !re.MatchString(u.String()) {
			t.Fatalf("%s has the template %s, and %s does not match it (%v)", u, shape, e, err)
		}
	}
}

// What brought next to nothing is told with the expression that would have saved it, and what is useful is not.
func TestUselessTemplates(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/":
			for i := range 40 {
				fmt.Fprintf(rw, `<a href="/story/%d.html">x</a> <a href="/print?id=%d">x</a>`, i, i)
			}
		case strings.HasPrefix(r.URL.Path, "/story/"):
			fmt.Fprintf(rw, "a story of its own: %s %s", r.URL.Path, strings.Repeat("x", 100))
		case r.URL.Path == "/print":
			_, _ = rw.Write([]byte(strings.Repeat("please log in ", 20)))
		default:
			http.NotFound(rw, r)
		}
	}))
	defer srv.Close()
	r, err := survey.Make(t.Context(), verify.Place{Dir: crawlSite(t, srv.URL+"/")}, 1, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	of := func(shape string) survey.Template {
		i := slices.IndexFunc(r.Templates, func(t survey.Template) bool { return t.Template == shape })
		if i < 0 {
			t.Fatalf("no template %s in %+v", shape, r.Templates)
		}
		return r.Templates[i]
	}
	if s := of("/story/*.html"); s.Exclude != "" || s.Fresh != 40 {
		t.Errorf("stories: %+v", s)
	}
	if s := of("/*?id"); s.Exclude == "" || s.Fresh > 1 {
		t.Errorf("prints: %+v", s)
	}
}
