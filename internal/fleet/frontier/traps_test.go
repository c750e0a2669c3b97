package frontier

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
	"argosy/internal/testkit/seeds"
)

// site answers the requests of a simulated crawl: a page of HTML, or where it redirects ("→ /x"); "" is not there.
type site func(path string, query url.Values) string

// visit crawls a site: the real frontier gives out URLs, the real scanner reads them, and what an agent does is played: it
// holds up to want URLs, and drops links that it has sent before. It returns what was asked for, in order.
type visit struct {
	t     *testing.T
	f     *Frontier
	fs    *vfs.MemFS
	web   site
	seq   uint64
	no    uint32
	lease uint64
	held  []crawl.Target
	sent  map[string]bool
	asked []string
	most  int // requests
	want  int

	skipped int // queue entries that had to wait for room
}

func newVisit(t *testing.T, web site) *visit {
	v := &visit{t: t, fs: vfs.NewCrashableMem(), web: web, sent: map[string]bool{}, most: 20_000, want: 64}
	v.f = open(t, v.fs)
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}
	v.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	v.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	return v
}

func (v *visit) apply(e *crawl.Entry) Effects {
	v.t.Helper()
	v.seq++
	fx, err := v.f.Apply(v.seq, int64(v.seq), e)
	if err != nil {
		v.t.Fatal(err)
	}
	if v.seq%16 == 0 {
		v.weighs()
	}
	for _, l := range fx.Granted {
		v.held = append(v.held, l.Targets...)
	}
	for _, r := range fx.Refilled {
		v.held = append(v.held, r.Targets...)
	}
	return fx
}

// weighs looks whether the models take as much as is counted.
func (v *visit) weighs() {
	v.t.Helper()
	v.f.weighModels()
	sum := 0
	for _, t := range v.f.models {
		sum += t.yield.Size() + t.memory.size()
	}
	if sum != v.f.modelBytes {
		v.t.Fatalf("entry %d: models take %d bytes, %d are counted", v.seq, sum, v.f.modelBytes)
	}
}

// run crawls until nothing is pending.
func (v *visit) run() {
	v.t.Helper()
	for v.f.Job(1).Totals.Pending() > 0 {
		v.give()
		if len(v.held) == 0 {
			v.close()
			continue
		}
		n := min(len(v.held), 16)
		p := v.part()
		for _, g := range v.held[:n] {
			v.fetch(&p, &g)
		}
		v.held = v.held[n:]
		v.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
		if len(v.asked) > v.most {
			traps, _ := v.f.Traps(1)
			v.t.Fatalf("no end after %d requests; the last ones: %q; traps: %+v", len(v.asked), v.asked[len(v.asked)-5:], traps)
		}
	}
}

func (v *visit) part() crawl.Part {
	v.no++
	return crawl.Part{Lease: v.lease, Attempt: uint32(v.lease), Epoch: 1, Secret: "s", No: v.no}
}

// give lets the lease have more URLs, or makes one.
func (v *visit) give() {
	v.t.Helper()
	var id uint32
	v.f.Tasks(func(t *Task) { id = t.ID })
	ts, err := v.f.Next(id, v.want-len(v.held))
	if task := v.f.Task(id); task != nil { // what is remembered of the queue changes nothing
		was := task.memory
		for _, e := range was.entries {
			if e.template != 0 {
				v.skipped++
			}
		}
		task.memory = memory{}
		again, err := v.f.Next(id, v.want-len(v.held))
		task.memory = was
		if err != nil || !reflect.DeepEqual(ts, again) {
			v.t.Fatalf("task %d: %d targets with what is remembered, %d without (%v)", id, len(ts), len(again), err)
		}
	}
	if err != nil {
		v.t.Fatal(err)
	}
	if v.lease != 0 && v.f.Lease(v.lease) != nil {
		if len(ts) > 0 {
			v.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Refills: []crawl.Refill{{Lease: v.lease, Targets: ts}}})
		}
		return
	}
	v.lease++
	v.no = 0
	v.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
		ID: v.lease, Job: 1, Task: id, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: uint32(v.lease), Secret: "s", Quota: 1 << 30, Targets: ts,
	}}})
}

func (v *visit) close() {
	p := v.part()
	p.Final, p.Reason = true, crawl.EndDone
	v.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
}

// fetch does what an agent does with a target.
func (v *visit) fetch(p *crawl.Part, g *crawl.Target) {
	u, err := crawl.Parse(g.URL)
	if err != nil {
		v.t.Fatal(err)
	}
	v.asked = append(v.asked, u.RequestURI())
	q, _ := url.ParseQuery(strings.TrimPrefix(u.Query(), "?"))
	path, _ := url.PathUnescape(u.Path())
	body := v.web(path, q)
	o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: true, Bytes: int64(len(body))}
	found := crawl.Found{Parent: g.Key}
	link := func(to crawl.URL, redirect bool) {
		if s := to.String(); !v.sent[s] {
			v.sent[s] = true
			found.Links = append(found.Links, crawl.Link{URL: s, Redirect: redirect})
		}
	}
	if to, ok := strings.CutPrefix(body, "→ "); ok {
		w, _ := u.Resolve(to)
		o.Status, o.HTML, o.Redirect = 302, false, w.String()
		h := fnv.New64a()
		h.Write([]byte(o.Redirect))
		o.Shows = h.Sum64() | 1
		link(w, true)
	} else {
		if body == "" {
			o.Status, body = 404, "<h1>Nothing here</h1>"
		}
		var page parse.Page
		parse.Scan([]byte(body), parse.Options{}, &page)
		o.Links = len(page.Links)
		for _, l := range page.Links {
			w, err := u.Resolve(string(l.Ref))
			if err != nil {
				continue
			}
			o.Back = o.Back || g.Parent != nil && w.Key() == *g.Parent
			link(w, false)
		}
		if g.Mark != crawl.MarkNone {
			m := parse.Mark([]byte(body), g.URL, page.Links, g.Mark >= crawl.MarkClosely)
			o.Shows, o.Sample, o.Figures, o.Pictures = m.Text, m.Sample, m.Figures, m.Pictures
		} else {
			o.Back = false
		}
	}
	if len(found.Links) > 0 {
		p.Found = append(p.Found, found)
	}
	p.Outcomes = append(p.Outcomes, o)
}

// of counts the requests that match.
func (v *visit) of(match func(string) bool) (n int) {
	for _, a := range v.asked {
		if match(a) {
			n++
		}
	}
	return n
}

func has(prefix string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, prefix) }
}

// random is a text that only its seed decides: words of letters.
func random(seed string, words int) string {
	h := fnv.New64a()
	h.Write([]byte(seed))
	rng := rand.New(rand.NewPCG(h.Sum64(), 7))
	var b strings.Builder
	for range words {
		for range 3 + rng.IntN(6) {
			b.WriteByte(byte('a' + rng.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func token(rng *rand.Rand) string { return fmt.Sprintf("%08x%08x", rng.Uint32(), rng.Uint32()) }

func num(s string) int {
	n := 0
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil {
		return -1
	}
	return n
}

func links(hrefs ...string) string {
	var b strings.Builder
	for _, h := range hrefs {
		fmt.Fprintf(&b, `<a href="%s">go</a> `, h)
	}
	return b.String()
}

// What differs in numbers only and is finite is had whole.
func TestListingIsWhole(t *testing.T) {
	for _, pages := range []int{60, 600} {
		v := newVisit(t, func(path string, _ url.Values) string {
			switch {
			case path == "/":
				return "<h1>News</h1>" + links("/page/1")
			case strings.HasPrefix(path, "/page/"):
				n := num(path[6:])
				s := fmt.Sprintf("<title>Page %d</title>", n)
				for i := range 10 {
					s += links(fmt.Sprintf("/story/%d", n*10+i))
				}
				if n < pages {
					s += links(fmt.Sprintf("/page/%d", n+1))
				}
				return s
			case strings.HasPrefix(path, "/story/"):
				return "<h1>Story " + path[7:] + "</h1><p>It happened.</p>"
			}
			return ""
		})
		v.run()
		if n := v.of(has("/page/")) + v.of(has("/story/")); n != pages*11 {
			t.Errorf("%d of %d URLs", n, pages*11)
		}
	}
}

// chainOfPosts is a site of so many posts that differ in a number, each of which names the next one.
func chainOfPosts(most int) func(path string, _ url.Values) string {
	return func(path string, _ url.Values) string {
		n := num(strings.TrimPrefix(path, "/post/"))
		if path == "/" {
			return links("/post/1")
		}
		s := fmt.Sprintf("<p>post %d</p>", n)
		if n < most {
			s += links(fmt.Sprintf("/post/%d", n+1))
		}
		return s
	}
}

func TestChainOfPostsIsWhole(t *testing.T) {
	v := newVisit(t, chainOfPosts(500))
	v.run()
	if n := v.of(has("/post/")); n != 500 {
		t.Errorf("%d of 500 posts", n)
	}
}

// Pages of measurements differ in figures only; nothing but the one before names them.
func TestChainOfTablesIsWhole(t *testing.T) {
	const tables = 900
	v := newVisit(t, func(path string, _ url.Values) string {
		if path == "/" {
			return links("/station/0")
		}
		n := num(strings.TrimPrefix(path, "/station/"))
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		s := fmt.Sprintf("<h1>Station %d</h1><table>", n)
		for _, month := range strings.Fields("January February March April May June") {
			s += fmt.Sprintf("<tr><td>%s<td>%.1f<td>%d", month, rng.Float64()*50-20, rng.IntN(1000))
		}
		s += "</table>" + links(fmt.Sprintf("/station/%d", max(0, n-1)))
		if n+1 < tables {
			s += links(fmt.Sprintf("/station/%d", n+1))
		}
		return s
	})
	v.run()
	if n := v.of(has("/station/")); n != tables {
		t.Errorf("%d of %d tables", n, tables)
	}
}

// Pages that differ in numbers only, and lead back to those that name them, are had whole if they name little that is new.
func TestManualIsWhole(t *testing.T) {
	const modules, each = 60, 50
	v := newVisit(t, func(path string, _ url.Values) string {
		m := num(strings.TrimPrefix(path, "/std/module-"))
		if path == "/" {
			m = 0
		}
		if m >= 0 {
			s := "<p>" + random(fmt.Sprint(m), 60) + "</p>" + links(fmt.Sprintf("/std/module-%d", min(m+1, modules-1)))
			for i := range each {
				s += links(fmt.Sprintf("/core/arch/fn-%d", m*each+i))
			}
			return s
		}
		if n := num(strings.TrimPrefix(path, "/core/arch/fn-")); n >= 0 {
			return fmt.Sprintf("<p>Reads %d bits from memory.</p>", n) + links(fmt.Sprintf("/std/module-%d", n%modules))
		}
		return ""
	})
	v.run()
	if n := v.of(has("/core/arch/fn-")); n != modules*each {
		t.Errorf("%d of %d functions", n, modules*each)
	}
}

func TestOddPathsAreFetched(t *testing.T) {
	odd := []string{"/0/0/0/0/tile.png", "/archive/node/node/node/node/x", "/wiki/A/B/A/B/A/B/A/B", "/q?" + strings.Repeat("a=1&", 40) + "b=2"}
	v := newVisit(t, func(path string, _ url.Values) string {
		if path == "/" {
			return links(odd...)
		}
		return "<p>" + random(path, 30) + "</p>"
	})
	v.run()
	for _, o := range odd {
		if !slices.Contains(v.asked, o) {
			t.Errorf("%s was not fetched", o)
		}
	}
}

// beside adds a shop of real pages to a trap: every page is linked from a list.
func beside(real int, trap site) site {
	return func(path string, q url.Values) string {
		switch {
		case path == "/":
			return "<h1>Home</h1>" + links("/real/list?page=1", "/trap/")
		case path == "/real/list":
			n := num(q.Get("page"))
			s := fmt.Sprintf("<h1>List %d</h1>", n)
			for i := (n - 1) * 20; i < n*20 && i < real; i++ {
				s += links(fmt.Sprintf("/real/item-%d", i))
			}
			if n*20 < real {
				s += links(fmt.Sprintf("/real/list?page=%d", n+1))
			}
			return s + links("/", "/trap/")
		case strings.HasPrefix(path, "/real/item-"):
			return "<h1>Item</h1><p>" + random(path, 40) + "</p>" + links("/", "/real/list?page=1", "/trap/")
		}
		return trap(path, q)
	}
}

func TestTrapsEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	day := func(y, m, d int) string { return fmt.Sprintf("/trap/%04d/%02d/%02d", y, m, d) }
	for name, trap := range map[string]site{
		"calendar": func(path string, _ url.Values) string {
			var y, m, d int
			if path == "/trap/" {
				path = "/trap/2026/11"
			}
			if n, _ := fmt.Sscanf(path, "/trap/%d/%d/%d", &y, &m, &d); n == 3 {
				return fmt.Sprintf("<h1>%d-%d-%d</h1><p>No events.</p>", y, m, d) + links(fmt.Sprintf("/trap/%04d/%02d", y, m), "/")
			} else if n != 2 {
				return ""
			}
			at := y*12 + m - 1
			s := fmt.Sprintf("<h1>%d-%d</h1>", y, m) + links(fmt.Sprintf("/trap/%04d/%02d", (at+1)/12, (at+1)%12+1), fmt.Sprintf("/trap/%04d/%02d", (at-1)/12, (at-1)%12+1), "/")
			for d := range 30 {
				s += fmt.Sprintf(`<a href="%s">%d</a>`, day(y, m, d+1), d+1)
			}
			return s
		},
		"session in the path": func(string, url.Values) string {
			return "<h1>Welcome</h1>" + links("/trap/;s="+token(rng), "/trap/;s="+token(rng), "/")
		},
		"session in the query": func(string, url.Values) string {
			return "<h1>Welcome</h1>" + links("/trap/?zz="+token(rng), "/trap/?zz="+token(rng), "/")
		},
		"facets": func(_ string, q url.Values) string {
			s := "<h1>Filter</h1>"
			color, size := q["color"], q["size"]
			for i := range 40 {
				if (len(color) == 0 || num(color[len(color)-1]) == i%5) && (len(size) == 0 || num(size[len(size)-1]) == i%3) {
					s += "<p>" + random(fmt.Sprint("product", i), 6) + "</p>"
				}
			}
			was := "/trap/?"
			for _, c := range color {
				was += "color=" + c + "&"
			}
			for _, c := range size {
				was += "size=" + c + "&"
			}
			for i := range 5 {
				s += links(fmt.Sprintf("%scolor=%d", was, i))
			}
			for i := range 3 {
				s += links(fmt.Sprintf("%ssize=%d", was, i))
			}
			return s
		},
		"growing": func(path string, _ url.Values) string {
			seg := strings.Split(strings.Trim(path, "/"), "/")
			return "<h1>" + random(seg[len(seg)-1], 20) + "</h1>" + links("x0/", "x1/", "about/", "news/")
		},
		"not there": func(path string, _ url.Values) string {
			return "<h1>Sorry</h1><p>The page " + path + " was not found.</p>" + links("/trap/"+random(path+"1", 1)+"/"+random(path+"2", 1), "/trap/"+random(path+"3", 2), "/trap/"+random(path+"4", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVisit(t, beside(300, trap))
			v.run()
			if n := v.of(has("/trap/")); n > 600 {
				t.Errorf("%d answers of the trap", n)
			} else {
				t.Logf("%d answers of the trap", n)
			}
			if n := v.of(has("/real/item")); n != 300 {
				t.Errorf("%d of 300 real pages", n)
			}
			traps, err := v.f.Traps(1)
			if err != nil || len(traps) == 0 {
				t.Errorf("nothing is said of the trap: %v", err)
			}
			for _, tr := range traps {
				t.Logf("%+v", tr)
			}
			check(t, v.f)
		})
	}
}

// Where addresses say what was seen before, each article has as many as there are ways to it: articles of which none was had come before
// further names of those that were, and what the crawl spends on names is little.
func TestNewArticlesComeFirst(t *testing.T) {
	const articles = 200
	v := newVisit(t, beside(20, func(path string, q url.Values) string {
		n := 0
		if path != "/trap/" {
			n = num(path[len("/trap/"):])
		}
		s := "<h1>" + random(path, 3) + "</h1><p>" + random(path, 80) + "</p>"
		for before := range strings.SplitSeq(q.Get("seen"), ".") {
			s += "<p>" + random("article"+before, 3) + "</p>"
		}
		seen := strings.Split(strings.TrimPrefix(q.Get("seen")+"."+fmt.Sprint(n), "."), ".")
		for _, to := range []int{2*n + 1, 2*n + 2, n * 7 % articles, n * 13 % articles} {
			if to < articles {
				s += links(fmt.Sprintf("/trap/%d?seen=%s", to, strings.Join(seen[max(0, len(seen)-4):], ".")))
			}
		}
		return s
	}))
	v.run()
	had := map[string]bool{}
	last, all := 0, 0
	for _, u := range v.asked {
		if path, _, ok := strings.Cut(u, "?seen="); ok {
			if all++; !had[path] {
				had[path], last = true, all
			}
		}
	}
	if len(had) < articles-1 || last > 2*articles || all > 600+articles {
		t.Errorf("%d of %d articles, the last by request %d of %d", len(had), articles-1, last, all)
	}
	t.Logf("%d articles, the last by request %d of %d", len(had), last, all)
	check(t, v.f)
}

// What lies behind too many redirects is named at the end, also after a restart.
func TestRedirectsAreNamed(t *testing.T) {
	v := newVisit(t, func(path string, _ url.Values) string {
		if path == "/" {
			return links("/go/0")
		}
		return fmt.Sprint("→ /go/", num(strings.TrimPrefix(path, "/go/"))+1)
	})
	v.run()
	check(t, v.f)
	traps, err := v.f.Traps(1)
	if err != nil || len(traps) != 1 || !traps[0].Chain || traps[0].Waiting != 1 || traps[0].Example != fmt.Sprintf("http://s.test/go/%d", crawl.MaxRedirects+1) {
		t.Errorf("%+v, %v", traps, err)
	}
}

// A listing of many directories is had whole, although the directories' own listings differ in names and numbers only: what they lead to
// comes after all of them.
func TestListingOfDirectoriesIsWhole(t *testing.T) {
	const dirs = 900
	v := newVisit(t, func(path string, _ url.Values) string {
		d, file, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		switch {
		case path == "/":
			s := "<h1>Index of /</h1>"
			for i := range dirs {
				s += fmt.Sprintf(`<a href="lib%s%d/">lib</a> %d-Nov-2026 -`, strings.Fields(random(fmt.Sprint(i), 1))[0], i, i%28)
			}
			return s
		case file == "":
			return fmt.Sprintf(`<h1>Index of %s</h1><a href="../">../</a> <a href="copyright">copyright</a> %d <a href="changelog.gz">changelog.gz</a> %d`, path, len(d)*77, len(d)*991)
		}
		return "<p>Permission is granted to everybody for everything.</p>"
	})
	v.run()
	if n := v.of(func(s string) bool { return strings.Count(s, "/") == 2 }); n != 3*dirs {
		t.Errorf("%d of %d URLs", n, 3*dirs)
	}
}

// A whole shop behind random sessions is had once.
func TestLongShopBehindSessions(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for name, spell := range map[string]func(string) string{
		"segment parameter": func(p string) string { return p + ";s=" + token(rng) },
		"query":             func(p string) string { return p + "?zz=" + token(rng) },
		"directory":         func(p string) string { return "/s/" + token(rng) + p },
	} {
		t.Run(name, func(t *testing.T) {
			items := int(seeds.Of(500, 1000))
			v := newVisit(t, func(path string, _ url.Values) string {
				path, _, _ = strings.Cut(path, ";")
				if rest, ok := strings.CutPrefix(path, "/s/"); ok {
					_, path, _ = strings.Cut(rest, "/")
					path = "/" + path
				}
				s := "<h1>Shop</h1>" + links(spell("/"), spell("/cart"))
				for c := range 10 {
					s += links(spell(fmt.Sprintf("/cat/%d", c)))
				}
				switch {
				case path == "/":
					return s + "<p>Welcome</p>"
				case path == "/cart":
					return s + "<p>Your cart is empty</p>"
				case strings.HasPrefix(path, "/cat/"):
					c := num(path[5:])
					s += "<h2>" + random(path, 3) + "</h2>"
					for i := c; i < items; i += 10 {
						s += links(spell(fmt.Sprintf("/item/%d", i)))
					}
					return s
				case strings.HasPrefix(path, "/item/"):
					i := num(path[6:])
					return s + "<p>" + random(path, 20) + "</p>" + links(spell(fmt.Sprintf("/item/%d", (i*7+1)%items)), spell(fmt.Sprintf("/item/%d", (i*3+2)%items)))
				}
				return ""
			})
			v.run()
			got := map[string]bool{}
			for _, a := range v.asked {
				a, _, _ = strings.Cut(a, ";")
				a, _, _ = strings.Cut(a, "?")
				if i := strings.Index(a, "/item/"); i >= 0 {
					got[a[i:]] = true
				}
			}
			t.Logf("%d requests, %d items", len(v.asked), len(got))
			if v.skipped == 0 {
				t.Error("no group ran out of room: this says nothing of what is skipped")
			}
			if len(got) < items*99/100 {
				t.Errorf("%d of %d items", len(got), items)
			}
			if len(v.asked) > items+600 {
				t.Errorf("%d requests", len(v.asked))
			}
			check(t, v.f)
		})
	}
}

// What was cut goes on when a person wants it.
func TestCutGoesOn(t *testing.T) {
	v := newVisit(t, chainOfPosts(2000))
	v.run()
	traps, err := v.f.Traps(1)
	if n := v.of(has("/post/")); n < 500 || n > 600 || err != nil || len(traps) != 1 || traps[0].Waiting != 1 {
		t.Fatalf("%d posts, %+v, %v", n, traps, err)
	}
	v.apply(&crawl.Entry{Kind: crawl.EntryRetry, Epoch: 1, Release: &crawl.Release{Job: 1, Cut: true}})
	check(t, v.f)
	v.run()
	if n := v.of(has("/post/")); n != 2000 {
		t.Errorf("%d of 2000 posts", n)
	}
}

// Links that are dead are asked for, however many there are: they lead nowhere.
func TestDeadLinksAreFinite(t *testing.T) {
	v := newVisit(t, func(path string, _ url.Values) string {
		if n := num(strings.TrimPrefix(path, "/page/")); path == "/" || n >= 0 && n < 100 {
			s := "<p>" + random(path, 40) + "</p>"
			for i := range 10 {
				s += links(fmt.Sprintf("/gone/%d.hpp", max(n, 0)*10+i), fmt.Sprintf("/page/%d", max(n, 0)+i%2))
			}
			return s
		}
		return ""
	})
	v.run()
	if n := v.of(has("/gone/")); n != 1000 {
		t.Errorf("%d of 1000 dead links", n)
	}
}

// A URL that waits since the very entry that lets its group go on is asked for as well: the view does not have it when the others are
// looked at again.
func TestTakenAndLiftedInOneEntry(t *testing.T) {
	v := newVisit(t, func(path string, _ url.Values) string {
		if n := num(strings.TrimPrefix(path, "/day/")); n >= 0 || path == "/" {
			return "<p>No entries.</p>" + links(fmt.Sprintf("/day/%d", n+1), fmt.Sprintf("/day/%d", n+2))
		}
		return ""
	})
	var task *Task
	for v.f.Tasks(func(t *Task) { task = t }); task.Cuts == 0; {
		v.give()
		p := v.part()
		for _, g := range v.held {
			v.fetch(&p, &g)
		}
		v.held = nil
		v.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
	}
	for len(v.held) == 0 { // those that are tried again
		v.give()
	}
	p, g := v.part(), v.held[0]
	u, _ := crawl.Parse("http://s.test/day/100000")
	p.Found = []crawl.Found{{Parent: g.Key, Links: []crawl.Link{{URL: u.String()}}}}
	o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: true, Shows: 1<<40 | 1}
	for k := range uint32(40) {
		o.Sample = append(o.Sample, 1e6+2*k)
	}
	p.Outcomes = []crawl.Outcome{o}
	v.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
	if task.Cuts > 0 {
		t.Fatal("the group was not let go on")
	}
	if err := v.f.URLs(1, func(w URL) error {
		if w.URL == u.String() && w.State != crawl.Pending {
			t.Errorf("%s is %s: %s", w.URL, w.State, w.Reason)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Pages of a trap were fetched before it was one. Where they are lost afterwards, they are fetched again: what is fetched in the end is the
// same as if nothing had been lost.
func TestLostPagesOfATrap(t *testing.T) {
	v := newVisit(t, func(path string, _ url.Values) string {
		n := num(path[strings.LastIndexByte(path, '/')+1:]) + 1
		if path != "/" {
			var year int
			_, _ = fmt.Sscanf(path, "/month/%d/", &year)
			n += year * 12
		}
		return fmt.Sprintf(`<title>Calendar</title><p>Nothing is planned for this month.</p><a href="/month/%d/%d">next month</a>`, n/12, n%12)
	})
	v.run()
	counts := func() map[crawl.State][]string {
		out := map[crawl.State][]string{}
		if err := v.f.URLs(1, func(u URL) error { out[u.State] = append(out[u.State], u.URL); return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := counts()
	if len(want[crawl.Excluded]) != 1 {
		t.Fatalf("not a trap that was cut: %+v", want)
	}
	for i := range 6 {
		n, mend := []int{1, 10, 1000}[i/2], i%2 == 0
		var lost []crawl.Page
		if err := v.f.URLs(1, func(u URL) error {
			if u.State == crawl.Fetched && len(lost) < n {
				lost = append(lost, crawl.Page{Layer: u.Layer, Key: u.Key})
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		v.apply(&crawl.Entry{Kind: crawl.EntryRetry, Epoch: 1, Release: &crawl.Release{Job: 1, Lost: lost, Mend: mend}})
		before := len(v.asked)
		v.run()
		if asked := len(v.asked) - before; asked != len(lost) {
			t.Errorf("mend %v: %d were lost, and %d asked for", mend, len(lost), asked)
		}
		if got := counts(); !reflect.DeepEqual(got, want) {
			t.Errorf("mend %v: %d fetched and %d excluded after %d were lost, before %d and %d", mend, len(got[crawl.Fetched]), len(got[crawl.Excluded]), n,
				len(want[crawl.Fetched]), len(want[crawl.Excluded]))
		}
	}
}
