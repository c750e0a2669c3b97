package survey_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
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
	dir := crawlSite(t, srv.URL+"/")
	r, err := survey.Make(t.Context(), verify.Place{Dir: dir}, 1, time.Now())
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
	if r.Redirected != 2 || len(r.Same) != 1 || r.Same[0].URLs != 2 || r.Counts.Fetched == 0 || r.Unread+r.Missing != 0 {
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
	without, err := survey.Make(t.Context(), verify.Place{Dir: removed(t, dir)}, 1, time.Now())
	if err != nil || without.Missing == 0 || without.Unread > 0 {
		t.Errorf("of a crawl without its archives %d are missed, %d not read; %v", without.Missing, without.Unread, err)
	}
}

// removed removes the archives of a crawl: who links where cannot be told then, and that is to be said.
func removed(t *testing.T, dir string) string {
	archives, err := filepath.Glob(filepath.Join(dir, "warc", "*.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What brought next to nothing is told with the expression that would have saved it: printed pages, pages with a session's number, one page
// for all. The expressions match every URL of that kind and none of another, and what is useful has none.
func TestUselessTemplates(t *testing.T) {
	story := func(i int) string {
		rng, words := rand.New(rand.NewPCG(uint64(i), 3)), ""
		for range 60 {
			words += fmt.Sprintf(" w%d", rng.IntN(5000))
		}
		return words
	}
	kinds := map[string]string{ // by a part of the URL: the template
		"/print.php": "/print.php?id", "/login": "/login?back", "sid=": "/show?id&sid", "/view/": "", "/story.php": "", "/show?id": "", "/old": "",
	}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		var id int
		_, _ = fmt.Sscan(r.FormValue("id"), &id)
		switch {
		case r.URL.Path == "/all":
			for i := range 40 {
				fmt.Fprintf(rw, "<p>%s", story(2000+i))
			}
		case r.URL.Path == "/":
			_, _ = rw.Write([]byte("<a href=/all>x</a>"))
			for i := range 40 {
				fmt.Fprintf(rw, `<a href="/story.php?id=%d">x</a> <a href="/print.php?id=%[1]d">x</a> <a href="/show?id=%[1]d">x</a>
					<a href="/show?sid=a%[1]db&id=%[1]d">x</a> <a href="/view/%[1]d">x</a> <a href="/login?back=%[1]d">x</a> <a href="/old?to=%[1]d">x</a>`, i)
			}
		case r.URL.Path == "/story.php":
			fmt.Fprintf(rw, "<title>Story %d</title><nav>news sport weather</nav><p>%s", id, story(id))
		case r.URL.Path == "/print.php":
			fmt.Fprintf(rw, "<title>Story %d</title><p>%s<p>Printed.", id, story(id))
		case r.URL.Path == "/show":
			fmt.Fprintf(rw, "<p>%s<p><!-- %s -->", story(1000+id), r.FormValue("sid"))
		case strings.HasPrefix(r.URL.Path, "/view/"):
			_, _ = fmt.Sscanf(r.URL.Path, "/view/%d", &id)
			fmt.Fprintf(rw, "<p>%s", story(2000+id))
		case r.URL.Path == "/login":
			_, _ = rw.Write([]byte(strings.Repeat("please log in ", 20)))
		case r.URL.Path == "/old":
			http.Redirect(rw, r, "/only?"+r.FormValue("to"), http.StatusFound)
		case r.URL.Path == "/only":
			fmt.Fprintf(rw, "<p>%s", story(3000+len(r.URL.RawQuery)))
		default:
			http.NotFound(rw, r)
		}
	}))
	defer srv.Close()
	r, err := survey.Make(t.Context(), verify.Place{Dir: crawlSite(t, srv.URL+"/")}, 1, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	proposed := map[string]*regexp.Regexp{}
	for _, of := range r.Templates {
		if of.Exclude != "" {
			proposed[of.Template] = regexp.MustCompile(of.Exclude)
		}
	}
	if len(proposed) != 3 {
		t.Errorf("proposed: %v", proposed)
	}
	for i := range 40 {
		for _, uri := range []string{"/", "/story.php?id=%d", "/print.php?id=%d", "/show?id=%d", "/show?sid=a%[1]db&id=%[1]d", "/view/%d", "/login?back=%d", "/old?to=%d"} {
			if uri = srv.URL + uri; strings.Contains(uri, "%") {
				uri = fmt.Sprintf(uri, i)
			}
			want := ""
			for part, template := range kinds {
				if template != "" && strings.Contains(uri, part) {
					want = template
				}
			}
			for template, e := range proposed {
				if e.MatchString(uri) != (template == want) {
					t.Errorf("%s, of %q: %s has --exclude '%s'", uri, want, template, e)
				}
			}
			if want != "" && proposed[want] == nil {
				t.Fatalf("nothing is proposed against %s: %+v", want, r.Templates)
			}
		}
	}
}
