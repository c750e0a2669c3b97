package assemble_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/survey"
	"argosy/internal/fleet/verdict"
	"argosy/internal/fleet/verify"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/testkit/seeds"
	"argosy/internal/webs"
)

// placePages is how many pages a site of these tests has: / names some of them, and each some others.
const placePages = 60

// placed answers with a page of words of its own.
func placed(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil && r.URL.Path != "/" || n >= placePages {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>page %d</title><h1>%s</h1>", n, said(n, 3))
	for i := range 12 {
		fmt.Fprintf(w, "<p>%s.", said(n*31+i, 5))
	}
	for i := n*4 + 1; i <= n*4+4 && i < placePages; i++ {
		fmt.Fprintf(w, " <a href=/%d>%s</a>", i, said(i, 2))
	}
}

// withoutRules answers for a site that has no robots.txt.
func withoutRules(answer http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	})
}

// said is a few words that hardly another number says.
func said(n, words int) string {
	const letters = "bdfgklmnprstvz"
	out, h := "", uint32(n)*2654435761+12345
	for range words {
		for range 3 {
			h = h*1664525 + 1013904223
			out += string(letters[h>>8%uint32(len(letters))]) + string("aeiou"[h>>20%5])
		}
		out += " "
	}
	return strings.TrimSpace(out)
}

func give(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/"})
}

// consents answers with a page that stands in the place of another one.
func consents(w http.ResponseWriter, more string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><title>Your privacy</title><h1>We value your privacy</h1><p>We and our partners store information on a device. "+
		"Go on if you agree.<form method=get><button>Agree</button></form>%s", more)
}

// sessions are each good for so many answers.
type sessions struct {
	mu   sync.Mutex
	left map[string]int
}

func (s *sessions) give(answers int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		s.left = map[string]int{}
	}
	id := fmt.Sprint("s", len(s.left))
	s.left[id] = answers
	return id
}

func (s *sessions) take(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[id]--
	return s.left[id] >= 0
}

// inPlace are sites that show something else in the place of their pages, with status 200 and at the same address, until one comes again.
func inPlace() map[string]http.HandlerFunc {
	var nonce, asked, still, stays atomic.Int64
	first := func(name string, wall func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if has(r, name) {
				placed(w, r)
				return
			}
			give(w, name, "1")
			wall(w, r)
		}
	}
	isPage := func(r *http.Request) bool { return r.URL.Path != "/robots.txt" }
	var good sessions
	return map[string]http.HandlerFunc{
		"consent.test": first("seen_consent", func(w http.ResponseWriter, r *http.Request) { consents(w, "") }),
		"seeds.test":   first("seen_consent", func(w http.ResponseWriter, r *http.Request) { consents(w, "") }),
		"nonce.test": first("ok", func(w http.ResponseWriter, r *http.Request) {
			n := nonce.Add(1)
			consents(w, fmt.Sprintf("<input type=hidden name=csrf value=%x><p>Reference %x-%d, 12:%02d:07", n*7919, n*104729, n, n%60))
		}),
		"naming.test": first("ok", func(w http.ResponseWriter, r *http.Request) {
			consents(w, fmt.Sprintf(`<p>You go on to <a href="%s">%s</a>`, r.URL.Path, r.URL.Path))
		}),
		"links.test": first("ok", func(w http.ResponseWriter, r *http.Request) {
			consents(w, `<a href="/privacy">Privacy</a> <a href="/accept">Accept</a> <a href="/imprint">Imprint</a>`)
		}),
		"robots.test": func(w http.ResponseWriter, r *http.Request) { // robots.txt as well
			switch {
			case !has(r, "ok"):
				if isPage(r) {
					give(w, "ok", "1")
				}
				consents(w, "")
			case !isPage(r):
				fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			case r.URL.Path == "/0":
				fmt.Fprint(w, "<a href=/private>in</a>")
			default:
				placed(w, r)
			}
		},
		"steps.test": func(w http.ResponseWriter, r *http.Request) { // two of them
			switch {
			case !has(r, "ok"):
				give(w, "ok", "1")
				consents(w, "")
			case !has(r, "age"):
				give(w, "age", "18")
				fmt.Fprint(w, "<!doctype html><title>Age</title><p>What this is about is for adults. Say how old you are.")
			default:
				placed(w, r)
			}
		},
		"second.test": func(w http.ResponseWriter, r *http.Request) { // from the second page on
			if isPage(r) && asked.Add(1) == 1 {
				give(w, "PHPSESSID", "x")
				placed(w, r)
				return
			}
			if isPage(r) && !has(r, "ok") {
				give(w, "ok", "1")
				consents(w, "")
				return
			}
			placed(w, r)
		},
		"still.test": func(w http.ResponseWriter, r *http.Request) { // in the middle of a session, which asks with the next answer
			if n := still.Add(1); !has(r, "s") || n%5 == 0 {
				give(w, "s", fmt.Sprint(n))
				if has(r, "s") {
					fmt.Fprint(w, "<!doctype html><title>Still there?</title><p>Are you still there? Your session goes on.")
					return
				}
			}
			placed(w, r)
		},
		"stays.test": func(w http.ResponseWriter, r *http.Request) { // the same without another cookie
			if !has(r, "s") {
				give(w, "s", "1")
			}
			if n := stays.Add(1); n%5 == 0 {
				fmt.Fprint(w, "<!doctype html><title>Still there?</title><p>Are you still there? Your session goes on.")
				return
			}
			placed(w, r)
		},
		"lapses.test": func(w http.ResponseWriter, r *http.Request) { // a session from a page in place is good for five answers
			c, err := r.Cookie("s")
			if isPage(r) && (err != nil || !good.take(c.Value)) {
				give(w, "s", good.give(5))
				consents(w, "")
				return
			}
			placed(w, r)
		},
		"xhtml.test": first("ok", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/xhtml+xml")
			fmt.Fprint(w, `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Privacy</title></head><body><p>We value your privacy.</p></body></html>`)
		}),
		"busy.test": first("ok", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "Checking your browser")
		}),
	}
}

// Pages are had that something else stands in the place of, for whoever comes without a cookie that it gives, or in the middle of a session.
func TestWallsInPlace(t *testing.T) {
	t.Parallel()
	for name, connections := range map[string]int{"side by side": 0, "one by one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wallsInPlace(t, connections)
		})
	}
}

// wallsInPlace crawls these sites with so many connections to each, 0 for as many as usual. What asks every so many answers, whoever they are for, is asked
// one by one only.
func wallsInPlace(t *testing.T, connections int) {
	w := webs.New()
	port := served(t, w)
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 2)
	c.Job.Identity.Seeds = nil
	sites := inPlace()
	if connections == 0 {
		delete(sites, "still.test")
		delete(sites, "stays.test")
	} else {
		c.Job.Limits.SiteConnections = connections
	}
	for host, answer := range sites {
		w.Sites[host] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" && host != "robots.test" {
				http.NotFound(w, r)
				return
			}
			answer(w, r)
		})
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
	}
	for n := 1; n < placePages; n++ {
		for _, host := range []string{"seeds", "nonce", "naming"} {
			c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, fmt.Sprintf("http://%s.test:%s/%d", host, port, n))
		}
	}
	runConfig(t, c)
	got := titled(t, c.Dir)
	for host := range sites {
		if n := len(shownPages(got[host])); n != placePages {
			t.Errorf("%s: %d pages, want %d; asked %d times", host, n, placePages, len(w.Hits(host)))
		}
		if n := len(w.Hits(host)); n > 2*placePages {
			t.Errorf("%s was asked %d times", host, n)
		}
		for _, h := range w.Hits(host) {
			if h.Path == "/private" {
				t.Errorf("%s: its rules were not obeyed", host)
			}
		}
	}
	sound(t, c.Dir)
}

// A site that shows its first page, and then asks for money at the same address, has that page taken for what it is.
func TestTheFirstPageIsFree(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	w.Sites["metered.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case has(r, "read"):
			consents(w, "<p>You have read your free page. <a href=/subscribe>Subscribe</a> <a href=/login>Log in</a>")
		default:
			give(w, "read", "1")
			placed(w, r)
			for n := range 2 * 10 {
				fmt.Fprintf(w, "<a href=/%d>%s</a> ", n, said(n, 2))
			}
		}
	})
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://metered.test:" + port + "/0"}
	runConfig(t, c)
	if got := titled(t, c.Dir)["metered.test"]; !shownPages(got)["page 0"] {
		t.Errorf("the page that was shown is not one: %v", got)
	}
	sound(t, c.Dir)
}

// shownPages are the pages among titles.
func shownPages(titles map[string]string) map[string]bool {
	shown := map[string]bool{}
	for _, title := range titles {
		if strings.HasPrefix(title, "page ") {
			shown[title] = true
		}
	}
	return shown
}

// givers are sites that give cookies to everybody, and hide nothing behind them.
func givers() map[string]http.HandlerFunc {
	var n atomic.Int64
	always := func(name func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			give(w, name(), fmt.Sprint(n.Add(1)))
			placed(w, r)
		}
	}
	once := func(name string, also func(w http.ResponseWriter, r *http.Request, fresh bool)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			fresh := !has(r, name)
			if fresh {
				give(w, name, "1")
			}
			also(w, r, fresh)
		}
	}
	return map[string]http.HandlerFunc{
		"php.test":     once("PHPSESSID", func(w http.ResponseWriter, r *http.Request, _ bool) { placed(w, r) }),
		"counter.test": always(func() string { return "visits" }),
		"names.test":   always(func() string { return fmt.Sprint("n", n.Add(1)) }),
		"paths.test": func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "p" + strings.ReplaceAll(r.URL.Path, "/", "_"), Value: "1", Path: r.URL.Path})
			placed(w, r)
		},
		"greets.test": once("been", func(w http.ResponseWriter, r *http.Request, fresh bool) { // a banner above the page
			placed(w, r)
			if fresh {
				fmt.Fprint(w, "<p>We use cookies to make this site better. Read our policy, or go on.")
			} else {
				fmt.Fprintf(w, "<p>Welcome back, reader. It is visit %d, token %x.", n.Add(1), n.Add(1)*7919)
			}
		}),
		"lang.test": once("lang", func(w http.ResponseWriter, r *http.Request, fresh bool) { // in another language from the second answer on
			if fresh {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>page 0</title><h1>%s</h1><p>%s<a href=/1>%s</a>", said(1234, 9), said(1235, 30), said(77, 2))
				return
			}
			placed(w, r)
		}),
		"soft.test": once("s", func(w http.ResponseWriter, r *http.Request, _ bool) { // what is not there is a page
			if r.URL.Path == "/" {
				for i := range 20 {
					fmt.Fprintf(w, "<a href=/not/%d>x</a> ", i)
				}
			}
			if strings.HasPrefix(r.URL.Path, "/not/") {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<title>Oh</title><p>This page is not there any more, or never was.")
				return
			}
			placed(w, r)
		}),
		"random.test": always(func() string { return fmt.Sprint("n", n.Add(1)) }), // and each answer says something else: see below
	}
}

// A site that hides nothing has to bear two requests more at most, three where many of its URLs show the same, whatever cookies it gives to whom.
func TestCookiesForEverybody(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = nil
	sites := givers()
	var n atomic.Int64
	for host, answer := range sites {
		w.Sites[host] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			answer(w, r)
			if host == "random.test" {
				fmt.Fprintf(w, "<p>%s", said(int(n.Add(1))+5000, 200))
			}
		})
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
	}
	runConfig(t, c)
	got := titled(t, c.Dir)
	for host := range sites {
		want := placePages + 2 // robots.txt
		switch host {
		case "soft.test":
			want += 20 + 1
		case "random.test": // twice four and twice two
			want += 4
		}
		if n := len(shownPages(got[host])); n != placePages {
			t.Errorf("%s: %d pages, want %d", host, n, placePages)
		}
		if n := len(w.Hits(host)); n > want+1 {
			t.Errorf("%s was asked %d times, want %d", host, n, want)
		} else {
			t.Logf("%s was asked %d times for %d pages", host, n, placePages)
		}
	}
	sound(t, c.Dir)
}

// veiled is a site that shows something else in the place of its pages to whoever has no session, which is good for so many answers.
type veiled struct {
	good    int    // answers; 0: all
	every   int    // so many answers to whoever has a session bring it as well; 0: none
	name    string // of the session's cookie: "same", or "new" each time
	says    string // "same" for all, "nonce", "url", "links", "menu"
	php     bool   // everybody has another cookie from the first answer on
	robots  bool   // it stands before robots.txt as well
	seeds   bool   // all pages are
	busy    bool   // its status is 503
	visits  atomic.Int64
	session sessions
}

func (v *veiled) String() string {
	return fmt.Sprintf("good %d, every %d, %s name, says %s, php %v, robots %v, seeds %v, busy %v", v.good, v.every, v.name, v.says, v.php, v.robots, v.seeds, v.busy)
}

func (v *veiled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" && !v.robots {
		http.NotFound(w, r)
		return
	}
	if v.php && !has(r, "PHPSESSID") {
		give(w, "PHPSESSID", "1")
	}
	in := false
	for _, c := range r.Cookies() {
		in = in || strings.HasPrefix(c.Name, "ok") && v.session.take(c.Value)
	}
	n := v.visits.Add(1)
	if in && (v.every == 0 || n%int64(v.every) > 0) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			return
		}
		placed(w, r)
		return
	}
	if !in {
		good := v.good
		if good == 0 {
			good = 1 << 30
		}
		name := "ok"
		if v.name == "new" {
			name = fmt.Sprint("ok", n)
		}
		give(w, name, v.session.give(good))
	}
	if v.busy {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	switch v.says {
	case "nonce":
		consents(w, fmt.Sprintf("<input type=hidden name=csrf value=%x><p>Reference %x-%d, 12:%02d:07", n*7919, n*104729, n, n%60))
	case "url":
		consents(w, fmt.Sprintf(`<p>You go on to <a href="%s">%s</a>`, r.URL.Path, r.URL.Path))
	case "links":
		consents(w, `<a href="/privacy">Privacy</a> <a href="/accept">Accept</a>`)
	case "menu":
		for i := range 12 {
			fmt.Fprintf(w, "<a href=/menu/%d>%s</a> ", i, said(i, 2))
		}
		consents(w, "")
	default:
		consents(w, "")
	}
}

// Pages that something else stands in the place of are all had, whatever that is and when, and wherever a run of the crawl ends.
func TestVeils(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(2, 12) {
		chance := rand.New(rand.NewPCG(seed, 31))
		w := webs.New()
		port := served(t, w)
		c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1+chance.IntN(2))
		c.Job.Identity.Seeds = nil
		sites := map[string]*veiled{}
		for i := range 20 {
			v := &veiled{
				good: []int{0, 0, 7, 25}[chance.IntN(4)], name: []string{"same", "same", "new"}[chance.IntN(3)], says: []string{"same", "nonce", "url", "links", "menu"}[chance.IntN(5)],
				php: chance.IntN(2) == 0, robots: chance.IntN(3) == 0, seeds: chance.IntN(2) == 0, busy: chance.IntN(5) == 0,
			}
			if v.good == 0 && v.says == "same" && !v.busy {
				v.every = []int{0, 5, 11}[chance.IntN(3)]
			}
			host := fmt.Sprintf("v%d.test", i)
			sites[host], w.Sites[host] = v, v
			c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
			for n := 1; v.seeds && n < placePages; n++ {
				c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, fmt.Sprintf("http://%s:%s/%d", host, port, n))
			}
		}
		runInPieces(t, c, chance, 100, 400)
		got := titled(t, c.Dir)
		for host, v := range sites {
			if n := len(shownPages(got[host])); n != placePages {
				t.Errorf("seed %d, %s: %d pages, asked %d times: %v", seed, host, n, len(w.Hits(host)), v)
			}
			if n := len(w.Hits(host)); n > 3*placePages {
				t.Errorf("seed %d, %s was asked %d times: %v", seed, host, n, v)
			}
		}
		sound(t, c.Dir)
	}
}

// What stands in the place of pages and lets nobody through is told of at the end, with an example: a page that many URLs show or lead to, and a seed's page
// that names no other. What a site only has twice is not.
func TestWhatStandsInTheWayIsTold(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	var had, tokens atomic.Int64
	sites := map[string]http.HandlerFunc{
		"limit.test": func(w http.ResponseWriter, r *http.Request) { // so many pages for everybody
			switch {
			case r.URL.Path == "/limit":
				fmt.Fprint(w, "<title>Limit</title><p>Come again tomorrow.")
			case had.Add(1) > 30:
				send(w, r, "/limit")
			default:
				placed(w, r)
			}
		},
		"form.test": func(w http.ResponseWriter, r *http.Request) { // only a form opens it
			give(w, "s", "1")
			consents(w, "")
		},
		"token.test": func(w http.ResponseWriter, r *http.Request) { // the same, with other bytes each time
			give(w, "s", fmt.Sprint(tokens.Add(1)))
			consents(w, fmt.Sprintf("<p>Reference %x", tokens.Add(7919)))
		},
		"lone.test": func(w http.ResponseWriter, r *http.Request) {
			give(w, "s", "1")
			consents(w, "")
		},
		"open.test": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/50" || r.URL.Path == "/51" {
				consents(w, "")
			} else if r.URL.Path == "/52" || r.URL.Path == "/53" {
				send(w, r, "/")
			} else {
				placed(w, r)
			}
		},
	}
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds = nil
	for host, answer := range sites {
		w.Sites[host] = withoutRules(answer)
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
	}
	for n := 1; n < placePages; n++ {
		for _, host := range []string{"form", "token"} {
			c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, fmt.Sprintf("http://%s.test:%s/%d", host, port, n))
		}
	}
	sum := runConfig(t, c)
	got := map[string]verdict.Loss{}
	for _, l := range sum.Losses {
		got[l.Why] = l
	}
	same, titled, led, lone := got[ledger.LossSame], got[ledger.LossTitled], got[ledger.LossLed], got[ledger.LossAlone]
	if titled.URLs != placePages || titled.Sites != 1 || !strings.HasPrefix(titled.Example, "http://token.test:"+port+"/") {
		t.Errorf("of one text for all: %+v", titled)
	}
	if same.URLs != placePages || same.Sites != 1 || !strings.HasPrefix(same.Example, "http://form.test:"+port+"/") {
		t.Errorf("of one page for all: %+v", same)
	}
	if led.URLs < 20 || led.Sites != 1 || led.Detail != "http://limit.test:"+port+"/limit" || !strings.HasPrefix(led.Example, "http://limit.test:"+port+"/") {
		t.Errorf("of a limit: %+v", led)
	}
	if lone.URLs != 1 || lone.Example != "http://lone.test:"+port+"/" {
		t.Errorf("of a page that names no other: %+v", lone)
	}
	if len(sum.Losses) != 4 || len(sum.Troubles) > 0 {
		t.Errorf("it says %+v, %+v", sum.Losses, sum.Troubles)
	}
	r, err := survey.Make(t.Context(), verify.Place{Dir: c.Dir}, 1, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.InTheWay) != 3 || r.InTheWay[0].Why != ledger.LossSame || r.InTheWay[1].Why != ledger.LossTitled || r.InTheWay[2].To != led.Detail {
		t.Errorf("the report says %+v", r.InTheWay)
	}
	if n := len(w.Hits("form.test")); n > placePages+1+3 {
		t.Errorf("form.test was asked %d times", n)
	}
}

// A wall in the middle of a session is found out also where each lease meets it once only.
func TestWallThatEachLeaseMeetsOnce(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	c := fleettest.Crawl(filepath.Join(t.TempDir(), "crawl"), port, 0, 1)
	c.Job.Identity.Seeds, c.Job.Limits.LeasePages, c.Job.Limits.SiteConnections = nil, 4, 1
	for _, host := range []string{"still.test", "stays.test"} {
		answer := inPlace()[host]
		w.Sites[host] = withoutRules(answer)
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, "http://"+host+":"+port+"/")
	}
	runConfig(t, c)
	got := titled(t, c.Dir)
	for host, had := range got {
		if n := len(shownPages(had)); n != placePages {
			t.Errorf("%s: %d pages, want %d; asked %d times", host, n, placePages, len(w.Hits(host)))
		}
	}
	sound(t, c.Dir)
}
