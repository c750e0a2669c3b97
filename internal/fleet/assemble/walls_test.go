package assemble_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verdict"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// wallPages is how many pages lie behind a wall, each naming the next one, / the first.
const wallPages = 12

// behind answers with a page behind a wall.
func behind(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil && r.URL.Path != "/" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%d</title><p>This is page %d", n, n)
	if n+1 < wallPages {
		fmt.Fprintf(w, ` <a href="/%d">next</a>`, n+1)
	}
}

func has(r *http.Request, cookie string) bool {
	_, err := r.Cookie(cookie)
	return err == nil
}

func send(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

// tickets are each good once.
type tickets struct {
	n    atomic.Int64
	good sync.Map
}

func (t *tickets) give() string {
	id := fmt.Sprint(t.n.Add(1))
	t.good.Store(id, true)
	return id
}

func (t *tickets) take(id string) bool { return t.good.CompareAndDelete(id, true) }

// walls are sites that show their pages only to a reader that has passed a wall of cookies. They have the ways of a browser: a cookie that is
// set while it is sent about, and the page that it came for.
func walls(port string) map[string]http.HandlerFunc {
	var visits atomic.Int64
	var tickets tickets
	set := func(w http.ResponseWriter, name string) {
		http.SetCookie(w, &http.Cookie{Name: name, Value: "1", Path: "/"})
	}
	first := func(wall http.HandlerFunc) http.HandlerFunc { // it is shown, with a cookie, to a reader without
		return func(w http.ResponseWriter, r *http.Request) {
			if has(r, "k") {
				behind(w, r)
				return
			}
			set(w, "k")
			wall(w, r)
		}
	}
	return map[string]http.HandlerFunc{
		"self.test": func(w http.ResponseWriter, r *http.Request) { // to itself, twice
			switch {
			case !has(r, "a"):
				set(w, "a")
				send(w, r, r.URL.Path)
			case !has(r, "b"):
				set(w, "b")
				send(w, r, r.URL.Path)
			default:
				behind(w, r)
			}
		},
		"bounce.test": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/check" {
				set(w, "k")
				send(w, r, r.FormValue("back"))
			} else if !has(r, "k") {
				send(w, r, "/check?back="+r.URL.Path)
			} else {
				behind(w, r)
			}
		},
		"two.test": func(w http.ResponseWriter, r *http.Request) { // two hops, each with a cookie of its own
			switch {
			case r.URL.Path == "/one", r.URL.Path == "/two":
				set(w, r.URL.Path[1:])
				send(w, r, r.FormValue("back"))
			case !has(r, "one"):
				send(w, r, "/one?back="+r.URL.Path)
			case !has(r, "two"):
				send(w, r, "/two?back="+r.URL.Path)
			default:
				behind(w, r)
			}
		},
		"twice.test": func(w http.ResponseWriter, r *http.Request) { // the same hop, twice
			if r.URL.Path == "/check" {
				if has(r, "first") {
					set(w, "second")
				}
				set(w, "first")
				send(w, r, r.FormValue("back"))
			} else if !has(r, "second") {
				send(w, r, "/check?back="+r.URL.Path)
			} else {
				behind(w, r)
			}
		},
		"gate.test": func(w http.ResponseWriter, r *http.Request) { // one gate for all pages, which leads to the first one
			if r.URL.Path == "/gate" {
				set(w, "k")
				send(w, r, "/")
			} else if !has(r, "k") {
				send(w, r, "/gate")
			} else {
				behind(w, r)
			}
		},
		"far.test": func(w http.ResponseWriter, r *http.Request) { // over another host, which knows who is there
			if r.URL.Path == "/in" {
				set(w, "k")
				send(w, r, r.FormValue("back"))
			} else if !has(r, "k") {
				send(w, r, "http://sso.test:"+port+"/?back="+url.QueryEscape("http://far.test:"+port+"/in?back="+r.URL.Path))
			} else {
				behind(w, r)
			}
		},
		"sso.test": func(w http.ResponseWriter, r *http.Request) { send(w, r, r.FormValue("back")) },
		"moment.test": first(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `<!doctype html><meta http-equiv=refresh content="0;url=%s">One moment`, r.URL.Path)
		}),
		"reload.test": first(func(w http.ResponseWriter, r *http.Request) { // a refresh that names no URL, among other links
			fmt.Fprint(w, `<!doctype html><meta http-equiv=refresh content=1>One moment <a href=/imprint>Imprint</a> <a href="/?help">Help</a>`)
		}),
		"header.test": first(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Refresh", "0")
			w.WriteHeader(http.StatusAccepted)
		}),
		"forbidden.test": func(w http.ResponseWriter, r *http.Request) { // twice, with another cookie each
			switch {
			case !strings.Contains(r.Header.Get("Cookie"), `a[1]="x"`):
				w.Header().Add("Set-Cookie", `a[1]="x"; path=/; expires=Wed, 01-Jan-31 00:00:00 GMT`)
				w.WriteHeader(http.StatusForbidden)
			case !has(r, "b"):
				set(w, "b")
				w.WriteHeader(http.StatusForbidden)
			default:
				behind(w, r)
			}
		},
		"unavailable.test": first(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `<meta http-equiv=refresh content=5>Checking your browser`)
		}),
		"script.test": first(func(w http.ResponseWriter, r *http.Request) { // it names nothing, and a script would come back
			fmt.Fprint(w, `<!doctype html><script>location.reload()</script>`)
		}),
		"refhome.test": first(func(w http.ResponseWriter, r *http.Request) { // whoever comes is shown the first page
			fmt.Fprint(w, `<!doctype html><meta http-equiv=refresh content="0; url=/">One moment <a href=/imprint>Imprint</a>`)
		}),
		"refgate.test": func(w http.ResponseWriter, r *http.Request) { // to a gate and on to the first page
			switch {
			case r.URL.Path == "/gate":
				set(w, "k")
				fmt.Fprint(w, `<!doctype html><meta http-equiv=refresh content="0; url=/">Welcome`)
			case !has(r, "k"):
				fmt.Fprint(w, `<!doctype html><meta http-equiv=refresh content="0; url=/gate">One moment <a href=/imprint>Imprint</a>`)
			default:
				behind(w, r)
			}
		},
		"once.test": func(w http.ResponseWriter, r *http.Request) { // a session is good for one answer
			if c, err := r.Cookie("k"); err != nil || !tickets.take(c.Value) {
				http.SetCookie(w, &http.Cookie{Name: "k", Value: tickets.give(), Path: "/"})
				w.WriteHeader(http.StatusForbidden)
			} else {
				behind(w, r)
			}
		},
		"oncegate.test": func(w http.ResponseWriter, r *http.Request) {
			c, err := r.Cookie("k")
			switch {
			case r.URL.Path == "/check":
				http.SetCookie(w, &http.Cookie{Name: "k", Value: tickets.give(), Path: "/"})
				send(w, r, r.FormValue("back"))
			case err != nil || !tickets.take(c.Value):
				send(w, r, "/check?back="+r.URL.Path)
			default:
				behind(w, r)
			}
		},
		"never.test": func(w http.ResponseWriter, r *http.Request) { // nobody passes it
			http.SetCookie(w, &http.Cookie{Name: "k", Value: fmt.Sprint(visits.Add(1)), Path: "/"})
			if r.URL.Path == "/check" {
				send(w, r, r.FormValue("back"))
			} else {
				send(w, r, "/check?back="+r.URL.Path)
			}
		},
		"circle.test": func(w http.ResponseWriter, r *http.Request) { // and there is no cookie here
			send(w, r, map[string]string{"/": "/a", "/a": "/b", "/b": "/"}[r.URL.Path])
		},
		"changing.test": func(w http.ResponseWriter, r *http.Request) { // every cookie has a new name
			set(w, fmt.Sprintf("k%d", visits.Add(1)))
			send(w, r, r.URL.Path)
		},
	}
}

// A site that shows its pages to a reader that comes back with its cookie is crawled as a browser would go through it; what nobody passes ends,
// and is told of.
func TestCookieWalls(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 2)
	c.Job.Identity.Seeds = nil
	for host, answer := range walls(port) {
		w.Sites[host] = answer
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
	}
	for n := 1; n < wallPages; n++ { // all at once: nobody has a cookie then
		for _, host := range []string{"gate", "self", "forbidden", "refhome", "refgate", "once", "oncegate"} {
			c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, fmt.Sprintf("http://%s.test:%s/%d", host, port, n))
		}
	}
	sum := runConfig(t, c)
	got := titled(t, c.Dir)
	for host := range walls(port) {
		want := wallPages
		switch host {
		case "sso.test", "never.test", "circle.test", "changing.test":
			want = 0
		}
		shown := map[string]bool{} // a wall may show one page under two addresses
		for _, title := range got[host] {
			shown[title] = true
		}
		if len(shown) != want {
			t.Errorf("%s: %d pages, want %d", host, len(shown), want)
		}
		if n := len(w.Hits(host)); n > 10*wallPages {
			t.Errorf("%s was asked %d times", host, n)
		}
	}
	if i := slices.IndexFunc(sum.Losses, func(v verdict.Loss) bool { return v.Why == string(crawl.ReasonRedirects) }); i < 0 || sum.Losses[i].Sites != 3 {
		t.Errorf("of the circles that nobody leaves it says %+v", sum.Losses)
	}
	sound(t, c.Dir)
}

// notWalls are sites whose answers bring cookies, and look like walls or stand beside some; a page of theirs that must be had has a title. Every
// cookie that fresh sets has a name of its own.
func notWalls(fresh func(http.ResponseWriter)) map[string]http.HandlerFunc {
	var busy atomic.Bool
	links := func(w http.ResponseWriter, format string, n int) {
		w.Header().Set("Content-Type", "text/html")
		for i := range n {
			fmt.Fprintf(w, "<a href="+format+">%d</a> ", i, i)
		}
	}
	return map[string]http.HandlerFunc{
		"dead.test": func(w http.ResponseWriter, r *http.Request) { // dead links, and walls that are some
			switch {
			case r.URL.Path == "/":
				links(w, "/gone/%d", 8)
				links(w, "/in/%d", notWallPages)
			case strings.HasPrefix(r.URL.Path, "/gone"):
				fresh(w)
				http.NotFound(w, r)
			case !has(r, "k"):
				http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: r.URL.Path})
				w.Header().Set("Refresh", "0")
				w.WriteHeader(http.StatusForbidden)
			default:
				fmt.Fprint(w, "<title>in</title>in")
			}
		},
		"splash.test": func(w http.ResponseWriter, r *http.Request) { // what is shown once only is followed
			switch {
			case r.URL.Path != "/":
				fmt.Fprintf(w, "<title>in</title>%s", r.URL.Path)
			case !has(r, "been"):
				http.SetCookie(w, &http.Cookie{Name: "been", Value: "1"})
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<meta http-equiv=refresh content="10; url=/intro">`)
				links(w, "/first/%d", notWallPages/2)
			default:
				links(w, "/later/%d", notWallPages-notWallPages/2-1)
			}
		},
		"worse.test": func(w http.ResponseWriter, r *http.Request) { // a page that is shown once
			name := "seen" + strings.ReplaceAll(r.URL.Path, "/", "_")
			switch {
			case r.URL.Path == "/":
				links(w, "/in/%d", notWallPages)
			case has(r, name):
				w.WriteHeader(http.StatusInternalServerError)
			default:
				http.SetCookie(w, &http.Cookie{Name: name, Value: "1", Path: "/"})
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<title>in</title><script>document.location.hash</script>in")
			}
		},
		"moved.test": func(w http.ResponseWriter, r *http.Request) { // a wall that leads away once it is passed
			switch {
			case strings.HasPrefix(r.URL.Path, "/in"):
				fmt.Fprint(w, "<title>in</title>in")
			case r.URL.Path == "/":
				links(w, "/from/%d", notWallPages)
			case has(r, "k"):
				send(w, r, "/in"+r.URL.Path)
			default:
				http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: r.URL.Path})
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<meta http-equiv=refresh content=0>One moment")
			}
		},
		"busy.test": func(w http.ResponseWriter, r *http.Request) { // the first who comes back finds it busy
			switch {
			case r.URL.Path != "/":
				fmt.Fprint(w, "<title>in</title>in")
			case !has(r, "k"):
				http.SetCookie(w, &http.Cookie{Name: "k", Value: "1"})
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<meta http-equiv=refresh content=0>One moment")
			case !busy.Swap(true):
				w.WriteHeader(http.StatusServiceUnavailable)
			default:
				fmt.Fprint(w, "<title>in</title>")
				links(w, "/in/%d", notWallPages-1)
			}
		},
		"paths.test": func(w http.ResponseWriter, r *http.Request) { // each directory has a cookie of its own, and nothing depends on it
			dir, _, _ := strings.Cut(r.URL.Path[1:], "/")
			http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: "/" + dir})
			w.Header().Set("Content-Type", "text/html")
			switch {
			case dir == "":
				fmt.Fprint(w, "<title>in</title>")
				links(w, "/d%d/denied", notWallPages)
				links(w, "/s%d/script", notWallPages)
				links(w, "/r%d/refresh", notWallPages-1)
			case strings.HasSuffix(r.URL.Path, "denied"):
				w.WriteHeader(http.StatusForbidden)
			case strings.HasSuffix(r.URL.Path, "script"):
				fmt.Fprint(w, "<script>document.location.hash</script>in")
			default:
				fmt.Fprint(w, "<title>in</title><meta http-equiv=refresh content=300>in")
			}
		},
		"slides.test": func(w http.ResponseWriter, r *http.Request) { // each leads on to the next
			n, _ := strconv.Atoi(r.URL.Path[1:])
			fresh(w)
			w.Header().Set("Content-Type", "text/html")
			if fmt.Fprint(w, "<title>in</title>in"); n < notWallPages-1 {
				fmt.Fprintf(w, `<meta http-equiv=refresh content="9; url=/%d">`, n+1)
			}
		},
	}
}

// notWallPages is how many pages each of these has.
const notWallPages = 24

// Where an answer only looks like a wall nothing is lost, and it is asked for a few times at most: what helps nowhere each lease of a site finds
// out for itself.
func TestAnswersThatAreNoWalls(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	var made atomic.Int64
	sites := notWalls(func(w http.ResponseWriter) {
		http.SetCookie(w, &http.Cookie{Name: fmt.Sprintf("n%d", made.Add(1)), Value: "1", Path: "/"})
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 2)
	c.Job.Identity.Seeds = nil
	for host, answer := range sites {
		w.Sites[host] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			answer(w, r)
		})
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
	}
	runConfig(t, c)
	got, leases := titled(t, c.Dir), leasesThatAsked(t, c.Dir)
	for host := range sites {
		if n := len(got[host]); n != notWallPages {
			t.Errorf("%s: %d pages, want %d", host, n, notWallPages)
		}
		robots, hits := 0, w.Hits(host)
		for _, h := range hits {
			if h.Path == "/robots.txt" {
				robots++
			}
		}
		held := leases[host+":"+port]
		most := 6*notWallPages + 20*held
		switch host {
		case "slides.test": // to come back to those before helps nowhere, nor to go to what looks like a gate: four times, and once more after two
			most = notWallPages + (notWallPages+20+5*3)*held
		case "paths.test": // of each of the three kinds a lease asks for four again
			most = 3*notWallPages + 20*held
		}
		if len(hits) > most || robots > 3 {
			t.Errorf("%s was asked %d times by %d leases, %d of them for robots.txt", host, len(hits), held, robots)
		}
	}
}

// leasesThatAsked returns how many leases of a crawl asked for a page, by site.
func leasesThatAsked(t *testing.T, dir string) map[string]int {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := map[string]int{}
	err = l.Spans(t.Context(), 1, func(s *ledger.Span) error { n[s.Site]++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// titled returns the pages with a title that a crawl has had, by host and URL.
func titled(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := map[string]map[string]string{}
	err = l.Pages(t.Context(), 1, func(p *ledger.Page) error {
		u, err := crawl.Parse(p.URL)
		if err == nil && p.Status == http.StatusOK && p.Title != "" {
			if got[u.Host()] == nil {
				got[u.Host()] = map[string]string{}
			}
			got[u.Host()][p.URL] = p.Title
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The rules and the sitemap of a site whose robots.txt lies behind its wall are read as a visitor reads them who has passed it: whether the
// wall's cookie comes on the way to robots.txt, or with a page only.
func TestRulesBehindWalls(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	inside := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprintf(w, "User-agent: *\nDisallow: /private\nSitemap: http://%s/map.xml\n", r.Host)
		case "/map.xml":
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/only</loc></url></urlset>", r.Host)
		case "/", "/only", "/private":
			fmt.Fprintf(w, "<title>%s</title>Welcome. <a href=/private>in</a>", r.URL.Path)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
	enter := func(w http.ResponseWriter) { http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: "/"}) }
	walls := map[string]http.HandlerFunc{
		"bounce.test": func(w http.ResponseWriter, r *http.Request) { // back to robots.txt
			if r.URL.Path == "/check" {
				enter(w)
				send(w, r, r.FormValue("back"))
			} else {
				send(w, r, "/check?back="+r.URL.Path)
			}
		},
		"home.test": func(w http.ResponseWriter, r *http.Request) { // to the first page
			enter(w)
			send(w, r, "/")
		},
		"moment.test": func(w http.ResponseWriter, r *http.Request) {
			enter(w)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<meta http-equiv=refresh content=0>One moment")
		},
		"forbidden.test": func(w http.ResponseWriter, r *http.Request) {
			enter(w)
			w.WriteHeader(http.StatusForbidden)
		},
		"page.test": func(w http.ResponseWriter, r *http.Request) { // robots.txt brings no cookie
			if r.URL.Path != "/robots.txt" {
				enter(w)
			}
			w.WriteHeader(http.StatusForbidden)
		},
		"gate.test": func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/robots.txt":
				w.WriteHeader(http.StatusForbidden)
			case "/gate":
				enter(w)
				send(w, r, "/")
			default:
				send(w, r, "/gate")
			}
		},
	}
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 2)
	c.Job.Identity.Seeds, c.Job.Identity.Sitemaps = nil, true
	for host, wall := range walls {
		w.Sites[host] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if has(r, "k") {
				inside(w, r)
			} else {
				wall(w, r)
			}
		})
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
	}
	runConfig(t, c)
	for host := range walls {
		hits := map[string]int{}
		for _, h := range w.Hits(host) {
			hits[h.Path]++
		}
		if hits["/only"] != 1 || hits["/private"] > 0 || hits["/robots.txt"] > 3 {
			t.Errorf("%s: asked were %v", host, hits)
		}
	}
}

// A site whose robots.txt says nothing to a reader without a cookie may give that cookie with a page that is no wall, too. Its rules are known before
// what a page names is asked for that came with the cookie.
func TestRulesBehindACookie(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	w.Sites["open.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch next := map[string]string{"/": "/in", "/in": "/private"}[r.URL.Path]; {
		case r.URL.Path == "/robots.txt" && !has(r, "k"):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		default:
			http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: "/"})
			fmt.Fprintf(w, "<title>%s</title>Welcome. <a href=%s>on</a>", r.URL.Path, next)
		}
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://open.test:" + port + "/"}
	runConfig(t, c)
	hits := map[string]int{}
	for _, h := range w.Hits("open.test") {
		hits[h.Path]++
	}
	if hits["/in"] != 1 || hits["/private"] > 0 || hits["/robots.txt"] != 2 {
		t.Errorf("asked were %v", hits)
	}
}

// A lease that begins with the cookies of an earlier one asks for robots.txt again that said nothing to a reader that had none, once, and obeys it.
func TestRulesBehindTheWallOfAnEarlierLease(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	w.Sites["late.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt" && !has(r, "k"):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /9\n")
		default:
			http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: "/"})
			behind(w, r)
		}
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://late.test:" + port + "/"}
	for _, pages := range []int64{3, 5, 0} {
		c.Job.Limits.MaxPages = pages
		runConfig(t, c)
	}
	hits := map[string]int{}
	for _, h := range w.Hits("late.test") {
		hits[h.Path]++
	}
	if hits["/8"] != 1 || hits["/9"] != 0 || hits["/robots.txt"] != 2 {
		t.Errorf("asked were %v", hits)
	}
}

// A gate gives two cookies, one behind the other. Pages that were asked again for the first, and wait to go about while the second comes, are asked
// with both.
func TestGateOfTwoCookies(t *testing.T) {
	t.Parallel()
	const pages, between = 12, 5
	w := webs.New()
	port := served(t, w)
	first, second := make(chan struct{}), make(chan struct{}) // all have been asked without a cookie, and some with the first one
	var without, with atomic.Int64
	wait := func(until chan struct{}) {
		select {
		case <-until:
		case <-time.After(100 * time.Millisecond): // not all come at once: then this says less
		}
	}
	set := func(w http.ResponseWriter, name string) {
		http.SetCookie(w, &http.Cookie{Name: name, Value: "1", Path: "/"})
	}
	w.Sites["gates.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/one":
			wait(first)
			set(w, "one")
			send(w, r, "/two")
		case r.URL.Path == "/two":
			wait(second)
			set(w, "two")
			send(w, r, "/")
		case has(r, "two"):
			fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
		case has(r, "one"):
			if n := with.Add(1); n == between {
				close(second)
			} else if n < between {
				wait(second)
			}
			send(w, r, "/one")
		default:
			if without.Add(1) == pages {
				close(first)
			}
			send(w, r, "/one")
		}
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://gates.test:" + port + "/"}
	for n := 1; n < pages; n++ {
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, fmt.Sprintf("http://gates.test:%s/%d", port, n))
	}
	runConfig(t, c)
	if got := titled(t, c.Dir)["gates.test"]; len(got) != pages {
		t.Errorf("%d pages, want %d; asked were %v", len(got), pages, w.Hits("gates.test"))
	}
	sound(t, c.Dir)
}

// A site may have one page only that anybody names beside its sitemaps. They are found when that page has let the lease through, although nothing
// else waits then that a later lease would have.
func TestSitemapBehindTheWallOfTheOnlyPage(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	other := make(chan struct{}) // where a sitemap may be that nobody names has been asked for
	w.Sites["only.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/sitemap.xml":
			http.NotFound(w, r)
			close(other)
		case r.URL.Path == "/robots.txt" && !has(r, "k"):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/robots.txt":
			fmt.Fprintf(w, "Sitemap: http://%s/map.xml\n", r.Host)
		case r.URL.Path == "/map.xml":
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/only</loc></url></urlset>", r.Host)
		case !has(r, "k"):
			<-other
			http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: "/"})
			w.WriteHeader(http.StatusForbidden)
		default:
			fmt.Fprintf(w, "<title>%s</title>Welcome.", r.URL.Path)
		}
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds, c.Job.Identity.Sitemaps = []string{"http://only.test:" + port + "/"}, true
	runConfig(t, c)
	if got := titled(t, c.Dir)["only.test"]; len(got) != 2 {
		t.Errorf("pages had are %v; asked were %v", got, w.Hits("only.test"))
	}
}

// Several redirects lead to a gate, and the lease that saw them is over when it opens: all of them are asked again, not just the one that the gate
// was found by.
func TestGateThatSeveralRedirectsLeadTo(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	known := make(chan struct{})
	var asked atomic.Int64
	w.Sites["gate.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case has(r, "k"):
			fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
		case r.URL.Path != "/gate":
			if r.URL.Path != "/first" {
				<-known
			}
			send(w, r, "/gate")
		case asked.Add(1) == 1:
			close(known)
			w.WriteHeader(http.StatusServiceUnavailable) // by which the lease ends
		default:
			http.SetCookie(w, &http.Cookie{Name: "k", Value: "1", Path: "/"})
			send(w, r, "/")
		}
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = nil
	for _, path := range []string{"first", "", "third"} {
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://gate.test:"+port+"/"+path)
	}
	runConfig(t, c)
	if got := titled(t, c.Dir)["gate.test"]; len(got) != 3 {
		t.Errorf("pages had are %v; asked were %v", got, w.Hits("gate.test"))
	}
	sound(t, c.Dir)
}
