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

	"argosy/internal/testkit/fleettest"
	"argosy/internal/testkit/seeds"
	"argosy/internal/webs"
)

// lapsing is a site whose pages are shown to a reader with a session, which is good for so many answers. Whoever has none is sent for one.
type lapsing struct {
	how    string // one is sent there, or told on the spot: "itself", "reload", "denied", "script"
	behind string // the gates: "home", "back" to the page that one came for, or "stay"
	gates  int
	good   int  // answers
	forget bool // whoever comes with an old session is told to forget it
	first  bool // one has a session from the first answer on; the gate lets it in without another cookie
	pages  int
	links  int

	mu   sync.Mutex
	next int
	left map[string]int
}

func (s *lapsing) give(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, err := r.Cookie("s"); s.first && err == nil {
		s.left[c.Value] = s.good
		return
	}
	s.next++
	s.left[fmt.Sprint(s.next)] = s.good
	http.SetCookie(w, &http.Cookie{Name: "s", Value: fmt.Sprint(s.next), Path: "/"})
}

func (s *lapsing) in(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := r.Cookie("s")
	if err != nil && s.first {
		s.next++
		http.SetCookie(w, &http.Cookie{Name: "s", Value: fmt.Sprint(s.next), Path: "/"})
	}
	if err != nil {
		return false
	}
	if s.left[c.Value] > 0 {
		s.left[c.Value]--
		return true
	}
	if s.forget && !s.first {
		http.SetCookie(w, &http.Cookie{Name: "s", Path: "/", MaxAge: -1})
	}
	return false
}

func (s *lapsing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	way := &gated{how: s.how, behind: s.behind, gates: s.gates, pages: s.pages, links: s.links}
	if no, ok := strings.CutPrefix(r.URL.Path, "/gate"); ok {
		n, _ := strconv.Atoi(no)
		if n+1 == s.gates {
			s.give(w, r)
		}
		way.onward(w, r, n)
		return
	}
	if !s.in(w, r) {
		switch s.how {
		case "itself":
			s.give(w, r)
			send(w, r, r.URL.Path)
		case "reload":
			s.give(w, r)
			fmt.Fprint(w, `<!doctype html><meta http-equiv=refresh content=1>One moment`)
		case "denied":
			s.give(w, r)
			w.WriteHeader(http.StatusForbidden)
		case "script":
			s.give(w, r)
			fmt.Fprint(w, `<!doctype html><script>location.reload()</script>`)
		default:
			way.sendToGate(w, r)
		}
		return
	}
	way.page(w, r)
}

func (s *lapsing) String() string {
	return fmt.Sprintf("%s, %s, %d gates, good %d, forget %v, first %v", s.how, s.behind, s.gates, s.good, s.forget, s.first)
}

// Pages behind a session that lapses in the middle are all had, in whichever way one gets a new one, also where a run of the crawl ends; and no
// site is asked without end.
func TestSessionsLapse(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(1, 20) {
		chance := rand.New(rand.NewPCG(seed, 21))
		one := func(of ...string) string { return of[chance.IntN(len(of))] }
		w := webs.New()
		port := served(t, w)
		c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 2)
		c.Job.Identity.Seeds = nil
		sites := map[string]*lapsing{}
		for i := range 20 {
			s := &lapsing{
				how:    one("redirect", "redirect", "redirect", "refresh", "header", "403", "itself", "reload", "denied", "script"),
				behind: one("home", "home", "back", "stay"), gates: 1 + chance.IntN(3), good: []int{1, 2, 7, 25}[chance.IntN(4)], forget: chance.IntN(2) == 0,
				pages: 30, links: 1 + chance.IntN(5), left: map[string]int{},
			}
			s.first = s.how == "redirect" && s.good > 1 && chance.IntN(2) == 0
			host := fmt.Sprintf("s%d.test", i)
			sites[host], w.Sites[host] = s, s
			c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
		}
		runInPieces(t, c, chance, 100, 200)
		got := titled(t, c.Dir)
		for host, s := range sites {
			shown := map[string]bool{} // a gate may show one page under two addresses
			for _, title := range got[host] {
				shown[title] = true
			}
			hits := len(w.Hits(host))
			if len(shown) != s.pages {
				t.Errorf("seed %d, %s: %d pages, asked %d times: %v", seed, host, len(shown), hits, s)
			}
			if hits > 10*s.pages {
				t.Errorf("seed %d, %s was asked %d times: %v", seed, host, hits, s)
			}
		}
		sound(t, c.Dir)
	}
}
