package assemble_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"argosy/internal/testkit/fleettest"
	"argosy/internal/testkit/seeds"
	"argosy/internal/webs"
)

// gated is a site whose pages send everybody to a row of gates, some of which give a cookie each, who does not have all of these.
type gated struct {
	how        string // one is sent there
	gates      int
	cookies    int    // the first so many gates give one
	behind     string // the gates: "home", "back" to the page that one came for, or "stay", a link to the first page
	pages      int
	links      int  // of a page
	seeds      bool // all pages are
	mu         sync.Mutex
	late       int // answers take up to so many milliseconds
	chance     *rand.Rand
	gatesAsked int
}

func (g *gated) String() string {
	return fmt.Sprintf("%s, %d gates, %d cookies, %s, %d pages, %d links, seeds %v, %d ms late", g.how, g.gates, g.cookies, g.behind, g.pages, g.links, g.seeds, g.late)
}

// delay has some answers come late.
func (g *gated) delay() (d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.late > 0 && g.chance.IntN(3) == 0 {
		d = time.Duration(g.chance.IntN(g.late)) * time.Millisecond
	}
	return d
}

func (g *gated) send(w http.ResponseWriter, to string) {
	w.Header().Set("Content-Type", "text/html")
	switch g.how {
	case "refresh":
		fmt.Fprintf(w, `<!doctype html><meta http-equiv=refresh content="0;url=%s">One moment`, to)
	case "header":
		w.Header().Set("Refresh", "0; url="+to)
		fmt.Fprint(w, "One moment")
	case "403":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<!doctype html><meta http-equiv=refresh content="0;url=%s">One moment`, to)
	default:
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

func (g *gated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	<-time.After(g.delay())
	if no, ok := strings.CutPrefix(r.URL.Path, "/gate"); ok {
		n, _ := strconv.Atoi(no)
		g.gate(w, r, n)
		return
	}
	for n := range g.cookies {
		if !has(r, fmt.Sprint("k", n)) {
			g.sendToGate(w, r)
			return
		}
	}
	g.page(w, r)
}

// sendToGate sends a reader to the first gate.
func (g *gated) sendToGate(w http.ResponseWriter, r *http.Request) {
	to := "/gate0"
	if g.behind == "back" {
		to += "?back=" + r.URL.Path
	}
	g.send(w, to)
}

// page answers with a page, which names some of the others.
func (g *gated) page(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if r.URL.Path != "/" && (err != nil || n >= g.pages) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>page %d</title>", n)
	for i := n*g.links + 1; i <= (n+1)*g.links && i < g.pages; i++ {
		fmt.Fprintf(w, "<a href=/%d>%d</a>", i, i)
	}
}

// gate answers for the n-th gate.
func (g *gated) gate(w http.ResponseWriter, r *http.Request, n int) {
	g.mu.Lock()
	g.gatesAsked++
	g.mu.Unlock()
	if n < g.cookies {
		http.SetCookie(w, &http.Cookie{Name: fmt.Sprint("k", n), Value: "1", Path: "/"})
	}
	g.onward(w, r, n)
}

// onward sends a reader on from the n-th gate.
func (g *gated) onward(w http.ResponseWriter, r *http.Request, n int) {
	back := r.FormValue("back")
	switch {
	case n+1 < g.gates && back != "":
		g.send(w, fmt.Sprintf("/gate%d?back=%s", n+1, back))
	case n+1 < g.gates:
		g.send(w, fmt.Sprintf("/gate%d", n+1))
	case g.behind == "stay":
		fmt.Fprint(w, "Welcome. <a href=/>Enter</a>")
	case back != "":
		g.send(w, back)
	default:
		g.send(w, "/")
	}
}

// Pages behind gates are all had, whichever way one is sent there and on, whatever comes late, and wherever a run of the crawl ends.
func TestGates(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(3, 60) {
		chance := rand.New(rand.NewPCG(seed, 12))
		one := func(of ...string) string { return of[chance.IntN(len(of))] }
		w := webs.New()
		port := served(t, w)
		c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1+chance.IntN(2))
		c.Job.Identity.Seeds = nil
		sites := map[string]*gated{}
		for i := range 20 {
			g := &gated{
				how: one("redirect", "redirect", "refresh", "header", "403"), behind: one("home", "home", "back", "stay"),
				gates: 1 + chance.IntN(3), pages: 5 + chance.IntN(25), links: 1 + chance.IntN(8), seeds: chance.IntN(2) == 0,
				late: []int{0, 3, 30, 80}[chance.IntN(4)], chance: rand.New(rand.NewPCG(seed, uint64(i))),
			}
			g.cookies = 1 + chance.IntN(g.gates)
			host := fmt.Sprintf("g%d.test", i)
			sites[host], w.Sites[host] = g, g
			c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
			for n := 1; g.seeds && n < g.pages; n++ {
				c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, fmt.Sprintf("http://%s:%s/%d", host, port, n))
			}
		}
		runInPieces(t, c, chance, 20, 150)
		got := titled(t, c.Dir)
		for host, g := range sites {
			shown := map[string]bool{} // a gate may show one page under two addresses
			for _, title := range got[host] {
				shown[title] = true
			}
			if len(shown) != g.pages {
				t.Errorf("seed %d, %s: %d pages; the gates were asked %d times: %v", seed, host, len(shown), g.gatesAsked, g)
			}
			if n := len(w.Hits(host)); n > 12*(g.pages+g.gates)+20 {
				t.Errorf("seed %d, %s was asked %d times: %v", seed, host, n, g)
			}
		}
		sound(t, c.Dir)
	}
}
