package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
)

// searchable is a search engine and the sites that it knows, each on a port of its own.
type searchable struct {
	engine *httptest.Server
	sites  []*httptest.Server
	docs   map[string]string // URL to text
	moved  map[string]string // URL to where it redirects
	kinds  map[string]string // URL to Content-Type; empty: HTML
	same   bool              // documents with one text have the same bytes
	broken atomic.Bool       // documents are answered with 500, robots.txt is not

	mu     sync.Mutex
	asked  []string          // queries, with their pages
	hits   map[string]int    // of documents
	by     map[string]string // address that a document was sent to
	robots string
	answer func(w http.ResponseWriter, r *http.Request) bool
}

const perPage = 3

// newLibrary serves so many sites with documents about milk, tea or both.
func newSearchable(t *testing.T, sites, docs int) *searchable {
	l := &searchable{docs: map[string]string{}, hits: map[string]int{}, by: map[string]string{}}
	for range sites {
		s := httptest.NewServer(http.HandlerFunc(l.document))
		t.Cleanup(s.Close)
		l.sites = append(l.sites, s)
		for d := range docs {
			text := []string{"milk", "tea", "milk tea"}[d%3]
			l.docs[fmt.Sprintf("%s/doc/%d", s.URL, d)] = text
		}
	}
	l.engine = httptest.NewServer(http.HandlerFunc(l.search))
	t.Cleanup(l.engine.Close)
	return l
}

func (l *searchable) document(w http.ResponseWriter, r *http.Request) {
	url := "http://" + r.Host + r.URL.Path
	text, ok := l.docs[strings.TrimSuffix(url, "/now")]
	l.mu.Lock()
	l.hits[url]++
	l.by[url], _, _ = strings.Cut(r.RemoteAddr, ":")
	l.mu.Unlock()
	if l.broken.Load() && r.URL.Path != "/robots.txt" {
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	}
	if to := l.moved[url]; to != "" {
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	if kind := l.kinds[url]; kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	if l.same {
		url = text
	}
	fmt.Fprintf(w, `<title>%s</title><p class="text">about %s</p><p class="date">2013-05-0%d</p><a href="/elsewhere">not a result</a>`, url, text, len(text)%9+1)
}

// found lists the documents for a query, such as "milk site:127.0.0.1:80".
func (l *searchable) found(query string) (out []string) {
	words, site, _ := strings.Cut(query, " site:")
	for url, text := range l.docs {
		ok := site == "" || strings.HasPrefix(url, "http://"+site+"/")
		for _, word := range strings.Fields(words) {
			ok = ok && slices.Contains(strings.Fields(text), word)
		}
		if ok {
			out = append(out, url)
		}
	}
	slices.Sort(out)
	return out
}

func (l *searchable) search(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(w, l.robots)
		return
	}
	l.mu.Lock()
	l.asked = append(l.asked, r.URL.RawQuery)
	own := l.answer
	l.mu.Unlock()
	if own != nil && own(w, r) {
		return
	}
	page, _ := strconv.Atoi(r.FormValue("p"))
	found := l.found(r.FormValue("q"))
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<p id="n">%d results</p>`, len(found))
	for _, u := range found[min(len(found), page*perPage):min(len(found), (page+1)*perPage)] {
		fmt.Fprintf(w, `<div class="r"><a href="%s">%s</a></div>`, u, u)
	}
	if (page+1)*perPage < len(found) {
		fmt.Fprintf(w, `<a class="next" href="/s?q=%s&p=%d">next</a>`, strings.ReplaceAll(r.FormValue("q"), " ", "+"), page+1)
	}
}

// job writes a job file for two subjects on all sites, with more keys of its virtual task and of its engine.
func (l *searchable) job(t *testing.T, virtual, engine, top string) string {
	var hosts []string
	for _, s := range l.sites {
		hosts = append(hosts, strings.TrimPrefix(s.URL, "http://"))
	}
	text := fmt.Sprintf(`name: drinks
limits: {delay: 0s, backoff: 10ms, per_ip: 0}
%s
virtual:
  products: [{name: milk}, {name: tea}]
  sites: [%s]
  subset: 2
  pages: 2
%s
  engines:
    - name: library
      url: "%s/s?q={query}&p={page}"
      results: {item: {css: div.r}, link: {css: a, attr: href}}
      next: {css: a.next, attr: href}
      stated: {at: {css: "#n"}}
%s
`, top, strings.Join(hosts, ", "), virtual, l.engine.URL, engine)
	path := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// searches returns what a crawl's directory knows of its searches.
func searches(t *testing.T, dir string) (out []*frontier.Task) {
	t.Helper()
	err := viewSearches(t.Context(), dir, func(task *frontier.Task) { out = append(out, task) })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Everything that the engine names on the sites of a virtual task is collected once, and nothing else; each search counts what it
// stated, found and collected.
func TestVirtual(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 3, 24)
	dir := filepath.Join(t.TempDir(), "out")
	const fields = `  fields:
    - {name: title, css: title}
    - {name: date, css: p.date, as: date}
    - {name: text, xpath: "//p[@class='text']"}`
	code, out, errs := apart(t, "crawl", "--job", l.job(t, fields, "", ""), "-o", dir, "--allow-private", "--agents", "3", "--quiet")
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	want := append(l.found("milk"), l.found("tea")...)
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for url, n := range l.hits {
		if n > 1 && !strings.HasSuffix(url, "/robots.txt") {
			t.Errorf("%s: asked %d times", url, n)
		}
		if !strings.HasSuffix(url, "/robots.txt") {
			got = append(got, url)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("collected %d pages, the engine has %d:\n%v\n%v", len(got), len(want), got, want)
	}
	all := searches(t, dir)
	if len(all) != 6 {
		t.Fatalf("%d searches", len(all))
	}
	for _, task := range all {
		s := task.Of
		n := int64(len(l.found(strings.Join(s.Words, " ") + " site:" + s.Site)))
		if s.Stated != (crawl.Stated{N: n, Kind: crawl.StatedExact}) || s.Found != n || s.Collected != n || s.Lost != 0 || task.Status() != crawl.TaskDone {
			t.Errorf("%s on %s: %d there; %+v, %s", s.Product, s.Site, n, s, task.Status())
		}
		if pages := (n + perPage - 1) / perPage; s.Read != pages || s.Subtasks < int64(bits.Len64(uint64(pages+1)/2)) || s.Subtasks > pages { // one that hears late of its next page ends
			t.Errorf("%s on %s: %d result pages in %d subtasks, want %d by 2, 4, 8 … at most", s.Product, s.Site, s.Read, s.Subtasks, pages)
		}
	}
	if len(l.asked) != len(slices.Compact(slices.Sorted(slices.Values(l.asked)))) {
		t.Errorf("a search was repeated: %v", l.asked)
	}
}

// Engines for nodes of different types are asked by the nodes of one process, however few there are.
func TestVirtualTypes(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 6)
	second := fmt.Sprintf(`      type: "0"
    - name: second
      url: "%s/s?q={query}&p={page}&of=second"
      results: {item: {css: div.r}, link: {css: a, attr: href}}
      type: "1"`, l.engine.URL)
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "", second, ""), "-o", dir, "--allow-private", "--max-time", "20s", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		if task.Status() != crawl.TaskDone {
			t.Errorf("%s: %s", task.Of.Product, task.Status())
		}
	}
}

// An engine that asks for a captcha is left alone, five times; then the task is a person's, with the reason. Released, it finishes.
func TestVirtualBlocked(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 6)
	l.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		fmt.Fprint(w, `<div id="captcha">are you a robot?</div>`)
		return true
	}
	dir := filepath.Join(t.TempDir(), "out")
	code, _, errs := apart(t, "crawl", "--job", l.job(t, "  rest: 1ms", "      blocked: [{at: {css: '#captcha'}, says: it asks for a captcha}]", ""), "-o", dir, "--allow-private", "--quiet")
	if code != exitManual {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		if task.Status() != crawl.TaskManual || !strings.Contains(task.Of.Why, "it asks for a captcha") || task.Recalls != 5 || task.Of.Found != 0 {
			t.Errorf("%s: %s, %d recalls: %s", task.Of.Product, task.Status(), task.Recalls, task.Of.Why)
		}
		_, out, _ := apart(t, "tasks", "show", strconv.Itoa(int(task.ID)), "-o", dir)
		for n := 1; n <= 6; n++ { // each attempt has one line, with why it failed
			line := regexp.MustCompile(fmt.Sprintf(`(?m)^2.*, attempt %d: .*failed after .* s: .*it asks for a captcha`, n))
			if !line.MatchString(out) || strings.Contains(out, "\n  attempt ") {
				t.Errorf("attempt %d is not told with its lease:\n%s", n, out)
			}
		}
	}
	if len(l.asked) != 12 {
		t.Errorf("the engine was asked %d times, want 6 for each search", len(l.asked))
	}
	l.answer = nil
	if code, _, errs = apart(t, "retry", dir); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs = apart(t, "crawl", "-o", dir, "--allow-private", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		if s := task.Of; task.Status() != crawl.TaskDone || s.Collected != s.Stated.N || s.Collected == 0 {
			t.Errorf("%s: %s, %+v", s.Product, task.Status(), s)
		}
	}
}

// What a crawl knows of its searches is shown by task, by queue and by site and node; fields of what was collected are exported.
func TestVirtualShown(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 2, 9)
	dir := filepath.Join(t.TempDir(), "out")
	job := l.job(t, "  fields: [{name: heading, css: title}, {name: date, css: p.date, as: date}]", "", "")
	if code, _, errs := apart(t, "crawl", "--job", job, "-o", dir, "--allow-private", "--agents", "2", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	site := strings.TrimPrefix(l.sites[0].URL, "http://")
	svg := filepath.Join(t.TempDir(), "rates.svg")
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"tasks", dir}, 0, []string{"ACTUAL", "QUEUE", site, "done", "1.00"}},
		{[]string{"tasks", dir, "--manual"}, 0, []string{"no task is manual\n"}},
		{[]string{"tasks", "show", "1", "-o", dir}, 0, []string{"search 1 of actual task", "exists: 6; found by paging: 6 on 2 result pages; collected: 6, lost: 0", "searches on", "collects on", "quota 2"}},
		{[]string{"tasks", "show", "999", "-o", dir}, exitUsage, []string{"no task 999"}},
		{[]string{"tasks", "show", "x", "-o", dir}, exitUsage, []string{`"x": want the number of a task`}},
		{[]string{"tasks", "edit", "1", "-o", dir, "--set", "words=tea"}, exitUsage, []string{"task 1 is done"}},
		{[]string{"tasks", "edit", "1", "-o", dir, "--set", "colour=x"}, exitUsage, []string{"allowed are words=…, site=… and engine=…"}},
		{[]string{"tasks", "edit", "1", "-o", dir, "--set", "words="}, exitUsage, []string{"at least one word"}},
		{[]string{"tasks", "edit", "1", "-o", dir, "--set", "engine=x"}, exitUsage, []string{`there is no engine "x"`}},
		{[]string{"rates", dir, "--svg", svg}, 0, []string{"RATE OVER TIME", site, "█"}},
		{[]string{"export", dir, "--fields"}, 0, []string{`"heading":"` + l.sites[0].URL + `/doc/0"`, `"date":"2013-05-05"`, `"product":"milk, tea"`}},
		{[]string{"export", dir, "--fields", "--format", "table"}, 0, []string{"HEADING", "2013-05-05"}},
		{[]string{"export", dir, "--fields", "--format", "csv"}, 0, []string{"url,product,site,heading,date"}},
		{[]string{"export", dir, "--format", "table"}, exitUsage, []string{"table with --fields"}},
	} {
		code, out, errs := apart(t, c.args...)
		if code != c.code {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, out, errs)
		}
		for _, w := range c.want {
			if !strings.Contains(out+errs, w) {
				t.Errorf("%v: %q is missing in\n%s%s", c.args, w, out, errs)
			}
		}
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "<polyline") {
		t.Errorf("%v %.100s", err, b)
	}
	_, out, _ := apart(t, "export", dir, "--fields")
	if n, want := strings.Count(out, "\n"), 2*9; n != want {
		t.Errorf("%d pages with fields, want %d", n, want)
	}
}

// Results that redirect are the pages that they lead to: those count, once for each search, and those are exported, also a page with the
// same bytes as another and one that is not HTML.
func TestVirtualMoved(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 12)
	l.moved = map[string]string{}
	doc := func(i int) string { return fmt.Sprintf("%s/doc/%d", l.sites[0].URL, i) }
	for i := range 9 {
		l.moved[doc(i)] = doc(i) + "/now"
	}
	l.moved[doc(3)] = doc(0)     // over two redirects, to a page that is named, too
	l.moved[doc(6)] = doc(9)     // to one that is named itself
	l.moved[doc(7)] = "http://[" // to nowhere
	l.same, l.kinds = true, map[string]string{doc(11): "text/plain"}
	dir := filepath.Join(t.TempDir(), "out")
	job := l.job(t, "  fields: [{name: heading, css: title}]", "", "")
	if code, out, errs := apart(t, "crawl", "--job", job, "-o", dir, "--allow-private"); code != 0 || !strings.Contains(out, "13 of the 14 pages that they name collected") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, task := range searches(t, dir) {
		if want := map[string]int64{"milk": 6, "tea": 8}[task.Of.Product]; task.Of.Found != want || task.Of.Found != task.Of.Collected+task.Of.Lost {
			t.Errorf("%s: %d found, want %d; %d collected, %d lost: %s", task.Of.Product, task.Of.Found, want, task.Of.Collected, task.Of.Lost, task.Of.Why)
		}
	}
	_, out, errs := apart(t, "export", dir, "--fields", "--format", "csv")
	site := strings.TrimPrefix(l.sites[0].URL, "http://")
	var want []string
	for i, text := range []string{"milk", "tea", `"milk, tea"`, "", "tea", `"milk, tea"`, "", "", `"milk, tea"`, "milk", "tea", `"milk, tea"`} {
		if text != "" {
			want = append(want, doc(i)+map[bool]string{true: "/now"}[i < 9]+","+text)
		}
	}
	if n := strings.Count(out, "\n") - 1; n != len(want) {
		t.Errorf("%d rows, want %d\n%s%s", n, len(want), out, errs)
	}
	for _, w := range want {
		if i := strings.Index(out, w+","); i < 0 || strings.HasPrefix(w, doc(11)) != strings.HasPrefix(out[i+len(w):], ","+site+",\n") {
			t.Errorf("%q is missing, or has not its fields, in\n%s", w, out)
		}
	}
}

// An engine that asks to be left alone for years is a person's at once, with all searches that wait for it.
func TestVirtualForYears(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 6)
	l.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "999999999999")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "", "", ""), "-o", dir, "--allow-private", "--quiet"); code != exitManual {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		if task.Status() != crawl.TaskManual || !strings.Contains(task.Of.Why, "left alone for 24 hours or longer") {
			t.Errorf("%s: %s", task.Status(), task.Of.Why)
		}
	}
	if len(l.asked) != 1 {
		t.Errorf("the engine was asked %d times", len(l.asked))
	}
}

// Three engines name the same pages, one without a number: each is fetched once and counts for all, in the list of searches, and in the
// rates for the node that fetched it; what the third one names is not in the completion of the others.
func TestVirtualShared(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 2, 9)
	dir := filepath.Join(t.TempDir(), "out")
	more := ""
	for _, e := range [...][2]string{{"second", `      stated: {at: {css: "#n"}}`}, {"third", ""}} {
		more += fmt.Sprintf(`    - name: %s
      url: "%s/s?q={query}&p={page}&of=%[1]s"
      results: {item: {css: div.r}, link: {css: a, attr: href}}
%[3]s
`, e[0], l.engine.URL, e[1])
	}
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "", more, ""), "-o", dir, "--allow-private", "--bind", "127.0.0.2,127.0.0.3,127.0.0.4", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for url, n := range l.hits {
		if n > 1 && !strings.HasSuffix(url, "/robots.txt") {
			t.Errorf("%s: asked %d times", url, n)
		}
	}
	type did struct{ named, pages int64 }
	want, got := map[string]did{}, map[string]did{}
	for url, n := range l.hits {
		u, _ := strings.CutPrefix(url, "http://")
		site, path, _ := strings.Cut(u, "/")
		if n == 0 || path == "robots.txt" {
			continue
		}
		at := site + " node-" + strconv.Itoa(int(l.by[url][len(l.by[url])-1]-'1'))
		d := want[at]
		want[at] = did{d.named + 2*int64(len(strings.Fields(l.docs[url]))), d.pages + 1}
	}
	code, out, errs := apart(t, "rates", dir, "--json")
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var p learn.Rate
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%v: %s%s", err, out, errs)
		}
		if p.Existing != p.Collected {
			t.Errorf("%s %s: %d of %d", p.Site, p.Node, p.Collected, p.Existing)
		}
		if p.Collected+p.Pages > 0 {
			got[p.Site+" "+p.Node] = did{p.Collected, p.Pages}
		}
	}
	if code != 0 || !maps.Equal(got, want) {
		t.Errorf("exit %d: %v, want %v", code, got, want)
	}
	if _, out, _ = apart(t, "tasks", dir); strings.Count(out, "second") != 4 {
		t.Error(out)
	}
}

// An engine whose result pages name each other for ever is asked until they repeat themselves, and what it states is not believed
// to be shown.
func TestVirtualLoop(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 24)
	l.answer = func(w http.ResponseWriter, r *http.Request) bool {
		page, _ := strconv.Atoi(r.FormValue("p"))
		found := l.found(r.FormValue("q"))
		fmt.Fprintf(w, `<p id="n">%d results</p><a class="next" href="/s?q=%s&p=%d">next</a>`, 4*perPage, strings.ReplaceAll(r.FormValue("q"), " ", "+"), page+1)
		for _, u := range found[page%2*perPage : (page%2+1)*perPage] {
			fmt.Fprintf(w, `<div class="r"><a href="%s">%s</a></div>`, u, u)
		}
		return true
	}
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "", "", ""), "-o", dir, "--allow-private", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		if s := task.Of; s.Found != 2*perPage || s.Read != 3 || s.Stop != "nothing new on its result pages" || s.Stated.N != 4*perPage {
			t.Errorf("%+v", s)
		}
	}
}

// An engine that invents results without end is asked for as many result pages as a search may have.
func TestVirtualEndless(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 24)
	l.answer = func(w http.ResponseWriter, r *http.Request) bool {
		page, _ := strconv.Atoi(r.FormValue("p"))
		fmt.Fprintf(w, `<p id="n">1000000 results</p><div class="r"><a href="%s/doc/%d">x</a></div><a class="next" href="/s?q=%s&p=%d">next</a>`,
			l.sites[0].URL, 1000*len(r.FormValue("q"))+page, strings.ReplaceAll(r.FormValue("q"), " ", "+"), page+1)
		return true
	}
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "  max_pages: 7", "", ""), "-o", dir, "--allow-private", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		if s := task.Of; s.Read != 7 || s.Found != 7 || !strings.Contains(s.Stop, "7 result pages were read (virtual.max_pages)") {
			t.Errorf("%+v", s)
		}
	}
}

// A search whose engine has changed its markup is a person's at once; edited, it asks for other words and finishes.
func TestVirtualEdit(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 6)
	l.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.FormValue("q"), "tea") {
			return false
		}
		fmt.Fprint(w, `<p id="n">6 results</p><article>a new design</article>`)
		return true
	}
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "  rest: 1ms", "", ""), "-o", dir, "--allow-private", "--quiet"); code != exitManual {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	asked := len(l.asked)
	manual := 0
	for _, task := range searches(t, dir) {
		if task.Status() != crawl.TaskManual {
			continue
		}
		manual++
		if !strings.Contains(task.Of.Why, "changed: 6 results stated, none found") || task.Recalls != 0 {
			t.Errorf("%d recalls: %s", task.Recalls, task.Of.Why)
		}
		if code, out, errs := apart(t, "tasks", "edit", strconv.Itoa(int(task.ID)), "-o", dir, "--set", "words=milk tea"); code != 0 || !strings.Contains(out, "q=milk+tea") {
			t.Fatalf("%d %s%s", code, out, errs)
		}
	}
	if manual != 1 || asked != 3 {
		t.Errorf("%d manual, asked %d times, want 1, and 1 + 2", manual, asked)
	}
	if code, _, errs := apart(t, "crawl", "-o", dir, "--allow-private", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, task := range searches(t, dir) {
		want := int64(len(l.found(strings.Join(task.Of.Words, " ") + " site:" + task.Of.Site)))
		if task.Status() != crawl.TaskDone || task.Of.Collected != want || want == 0 {
			t.Errorf("%s %v: %s, collected %d, want %d", task.Of.Product, task.Of.Words, task.Status(), task.Of.Collected, want)
		}
	}
}

// A robots.txt that disallows searches holds: the engine is not asked, the line that says so names the way out, and the search waits for a
// person who may take it. One that disallows further result pages ends a search after its first.
func TestLongVirtualRobots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine, disallow string
		asked, code      int
	}{{"", "/s", 0, exitManual}, {"", "/*p=1", 2, 0}, {"      ignore_robots: true", "/s", 4, 0}} {
		l := newSearchable(t, 1, 6)
		l.robots = "User-agent: *\nDisallow: " + c.disallow + "\n"
		dir := filepath.Join(t.TempDir(), "out")
		code, out, errs := apart(t, "crawl", "--job", l.job(t, "", c.engine, ""), "-o", dir, "--allow-private")
		if len(l.asked) != c.asked || code != c.code {
			t.Errorf("%q, %s: asked %d times, exit %d", c.engine, c.disallow, len(l.asked), code)
		}
		for _, shown := range []string{out, tasksOut(t, dir)} {
			if says := strings.Contains(shown, "ignore_robots: true in the entry of engine library"); says == (c.engine != "") {
				t.Errorf("%q, %s: %s\n%s", c.engine, c.disallow, shown, errs)
			}
		}
		if c.code == 0 {
			continue
		}
		mended := filepath.Join(t.TempDir(), "mended.yaml")
		if err := os.WriteFile(mended, []byte("engines: [{name: library, ignore_robots: true}]"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, task := range searches(t, dir) {
			if code, out, errs := apart(t, "tasks", "edit", strconv.Itoa(int(task.ID)), "-o", dir, "--engines", mended, "--set", "engine=library"); code != 0 {
				t.Errorf("exit %d: %s%s", code, out, errs)
			}
		}
		if code, _, errs := apart(t, "crawl", "-o", dir, "--allow-private"); code != 0 || len(l.asked) != 4 {
			t.Errorf("exit %d, asked %d times\n%s", code, len(l.asked), errs)
		}
	}
}

// tasksOut is what argosy tasks prints of a directory.
func tasksOut(t *testing.T, dir string) string {
	t.Helper()
	_, out, _ := apart(t, "tasks", dir)
	return out
}

// A search whose engine has an address that the crawl may not reach waits for a person at once, and so do the others: time does not help.
func TestVirtualDenied(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 2, 3)
	dir, job := filepath.Join(t.TempDir(), "out"), l.job(t, "  rest: 1h", "", "")
	code, out, errs := apart(t, "crawl", "--job", job, "-o", dir, "--agents", "2")
	if code != exitManual || strings.Count(out, "--allow-private allows it (4 URLs)") != 1 || strings.Count(errs, "argosy retry "+dir+" lets them go on") != 1 {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	for _, task := range searches(t, dir) {
		if task.Status() != crawl.TaskManual || !strings.Contains(task.Of.Why, "denied") {
			t.Errorf("%s: %s", task.Status(), task.Of.Why)
		}
	}
	if code, _, errs := apart(t, "retry", dir); code != 0 {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if code, _, errs := apart(t, "crawl", "-o", dir, "--allow-private"); code != 0 {
		t.Errorf("released: exit %d\n%s", code, errs)
	}
}

// A search whose engine has changed its markup is mended by an engine that is described anew, or asks another one; what it had named
// by its old words counts no more.
func TestVirtualMended(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 12)
	l.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.FormValue("q") == "" || r.FormValue("p") == "0" {
			return false
		}
		fmt.Fprintf(w, `<p id="n">%d results</p>`, len(l.found(r.FormValue("q"))))
		page, _ := strconv.Atoi(r.FormValue("p"))
		found := l.found(r.FormValue("q"))
		for _, u := range found[page*perPage : min(len(found), (page+1)*perPage)] {
			fmt.Fprintf(w, `<article><a href="%s">x</a></article>`, u)
		}
		if (page+1)*perPage < len(found) {
			fmt.Fprintf(w, `<a class="next" href="/s?q=%s&p=%d">next</a>`, strings.ReplaceAll(r.FormValue("q"), " ", "+"), page+1)
		}
		return true
	}
	other := newSearchable(t, 0, 0)
	other.docs = l.docs
	dir := filepath.Join(t.TempDir(), "out")
	sign := "      empty: [{at: {css: p.none}}]"
	if code, _, errs := apart(t, "crawl", "--job", l.job(t, "", sign, ""), "-o", dir, "--allow-private", "--quiet"); code != exitManual {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	mended := filepath.Join(t.TempDir(), "mended.yaml")
	text := fmt.Sprintf("engines:\n  - name: library\n    results: {item: {css: \"div.r, article\"}, link: {css: a, attr: href}}\n  - {name: other, like: library, url: \"%s/s?q={query}&p={page}\"}\n", other.engine.URL)
	if err := os.WriteFile(mended, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, task := range searches(t, dir) {
		if task.Status() != crawl.TaskManual || task.Of.Found != perPage || !strings.Contains(task.Of.Why, "changed") {
			t.Errorf("%s, %d found: %s", task.Status(), task.Of.Found, task.Of.Why)
		}
		args := []string{"tasks", "edit", strconv.Itoa(int(task.ID)), "-o", dir, "--engines", mended, "--set", "engine=library"}
		if i == 1 {
			args = append(args[:len(args)-1], "engine=other", "--set", "words=milk tea")
		}
		if code, out, errs := apart(t, args...); code != 0 {
			t.Fatalf("exit %d: %s%s", code, out, errs)
		}
	}
	if code, out, errs := apart(t, "crawl", "-o", dir, "--allow-private", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, task := range searches(t, dir) {
		want := int64(len(l.found(strings.Join(task.Of.Words, " ") + " site:" + task.Of.Site)))
		if task.Status() != crawl.TaskDone || task.Of.Found != want || task.Of.Collected != want || task.Of.Stated.N != want {
			t.Errorf("%v: %s, want %d: %+v", task.Of.Words, task.Status(), want, task.Of)
		}
	}
	if len(other.asked) == 0 {
		t.Error("the other engine was not asked")
	}
	if code, out, errs := apart(t, "verify", dir); code != 0 {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	_, out, _ := apart(t, "tasks", "show", "2", "-o", dir)
	if !strings.Contains(out, "words milk tea instead of") || !strings.Contains(out, "engine other instead of library") {
		t.Error(out)
	}
}

// An engine that names the result pages of another search, or its own next one, among its results takes nothing away from it.
func TestVirtualPoison(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 24)
	l.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.FormValue("of") != "" {
			return false
		}
		fmt.Fprint(w, `<p id="n">9 results</p>`)
		for _, q := range []string{"milk", "tea"} {
			for page := range 4 {
				fmt.Fprintf(w, `<div class="r"><a href="%s/s?q=%s&amp;p=%d&amp;of=second">x</a></div>`, l.engine.URL, q, page)
			}
		}
		return true
	}
	dir := filepath.Join(t.TempDir(), "out")
	second := fmt.Sprintf(`    - name: second
      url: "%s/s?q={query}&p={page}&of=second"
      results: {item: {css: div.r}, link: {css: a, attr: href}}
      stated: {at: {css: "#n"}}`, l.engine.URL)
	job := l.job(t, "", second, "")
	b, err := os.ReadFile(job)
	if err != nil {
		t.Fatal(err)
	}
	b = regexp.MustCompile(`(?m)^  sites: .*\n`).ReplaceAll(b, nil)
	if err := os.WriteFile(job, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := apart(t, "crawl", "--job", job, "-o", dir, "--allow-private", "--quiet"); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, task := range searches(t, dir) {
		s := task.Of
		if want := int64(len(l.found(strings.Join(s.Words, " ")))); s.Engine == 1 && (s.Found != want || s.Collected != want || s.Read != (want+perPage-1)/perPage) {
			t.Errorf("%v: want %d: %+v", s.Words, want, s)
		}
	}
	if code, out, errs := apart(t, "verify", dir); code != 0 {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// A site that shuts out one of two nodes loses nothing: the other one fetches what the search has named, and the rates say which
// node the site is good for. One that shuts out both is asked for each page at most once by each, and its searches are a person's: at once,
// also before all of their result pages are read.
func TestVirtualShutOut(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 2, 9)
	var open atomic.Bool
	for i, s := range l.sites {
		inner := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" && (i == 1 && !open.Load() || strings.HasPrefix(r.RemoteAddr, "127.0.0.2:")) {
				w.WriteHeader(http.StatusForbidden)
				l.mu.Lock()
				l.hits["http://"+r.Host+r.URL.Path]++
				l.mu.Unlock()
				return
			}
			inner.ServeHTTP(w, r)
		})
	}
	dir := filepath.Join(t.TempDir(), "out")
	code, out, errs := apart(t, "crawl", "--job", l.job(t, "", "", ""), "-o", dir, "--allow-private", "--bind", "127.0.0.2,127.0.0.3")
	if code != exitManual {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	end, orders, done := out+errs, []string{"tasks", "release", "-o", dir}, ""
	for _, task := range searches(t, dir) {
		s, want, state := task.Of, int64(6), crawl.TaskDone
		if "http://"+s.Site == l.sites[1].URL {
			want, state = 0, crawl.TaskManual
			orders = append(orders, strconv.Itoa(int(task.ID)))
			if site := strings.TrimPrefix(l.sites[1].URL, "http://"); !strings.Contains(end, "\n  "+site+": attempt ") {
				t.Errorf("the end does not say what is wrong with %s:\n%s", site, end)
			}
			if !strings.Contains(s.Why, "refuses every node (403)") || s.Lost > 0 {
				t.Errorf("%s on %s: %s", s.Product, s.Site, s.Why)
			}
		}
		if task.Status() != state || s.Found != 6 && (s.Found != perPage || want > 0) || s.Collected != want {
			t.Errorf("%s on %s: %s, %+v", s.Product, s.Site, task.Status(), s)
		}
		if state == crawl.TaskDone {
			done = strconv.Itoa(int(task.ID))
		}
	}
	for url, n := range l.hits {
		if n > 3 && !strings.HasSuffix(url, "/robots.txt") {
			t.Errorf("%s: asked %d times", url, n)
		}
	}
	_, out, _ = apart(t, "rates", dir, "--json")
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var p learn.Rate
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		if blocked := p.Node == "node-1" || "http://"+p.Site == l.sites[1].URL; blocked && p.Collected > 0 {
			t.Errorf("%+v", p)
		}
	}
	open.Store(true)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{append(slices.Clone(orders), done), 0, "task " + done + " stays as it is: it is done, and waits for nobody\n"}, {orders, exitUsage, ", and waits for nobody"},
		{[]string{"crawl", "-o", dir, "--allow-private", "--bind", "127.0.0.2,127.0.0.3", "--quiet"}, 0, ""},
		{[]string{"tasks", "drop", orders[4], "-o", dir}, exitUsage, "stays as it is: it is done, and nothing of it is left to be given up"},
	} {
		if code, out, errs := apart(t, c.args...); code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, out, errs)
		}
	}
	for _, task := range searches(t, dir) {
		if task.Status() != crawl.TaskDone || task.Of.Collected != 6 {
			t.Errorf("%s, %d collected: %s", task.Status(), task.Of.Collected, task.Of.Why)
		}
	}
}

// Where nothing is recycled, a site that refuses one node is not asked by the next for the same search: a person decides.
func TestVirtualNotRecycled(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 9)
	l.sites[0].Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		node, _, _ := strings.Cut(r.RemoteAddr, ":")
		l.mu.Lock()
		defer l.mu.Unlock()
		if url := l.sites[0].URL + r.URL.Path; l.docs[url] != "" {
			l.hits[url]++
			l.by[url] = node
		}
	})
	dir := filepath.Join(t.TempDir(), "out")
	job := l.job(t, "  policies: {recycling: off}", "", "")
	if code, out, errs := apart(t, "crawl", "--job", job, "-o", dir, "--allow-private", "--bind", "127.0.0.2,127.0.0.3", "--quiet"); code != exitManual {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	nodes := map[string]string{} // by the words of a document: those with one word are of one search
	for url, n := range l.hits {
		words, node := l.docs[url], l.by[url]
		if other := nodes[words]; n > 1 || !strings.Contains(words, " ") && other != "" && other != node {
			t.Errorf("%s, of %s: asked %d times, by %s, and pages like it by %s", url, words, n, node, other)
		}
		nodes[words] = node
	}
	if len(l.hits) == 0 {
		t.Error("the site was not asked")
	}
	for _, task := range searches(t, dir) {
		if task.Of.Left() > 0 && task.Status() != crawl.TaskManual && len(task.Of.Shared) == 0 {
			t.Errorf("%s: %s, %s", task.Of.Product, task.Status(), task.Of.Why)
		}
	}
}

// A search whose results lie elsewhere says where.
func TestVirtualElsewhere(t *testing.T) {
	t.Parallel()
	l := newSearchable(t, 1, 6)
	dir, job := filepath.Join(t.TempDir(), "out"), l.job(t, "", "", "")
	text, err := os.ReadFile(job)
	if err != nil {
		t.Fatal(err)
	}
	site := strings.TrimPrefix(l.sites[0].URL, "http://")
	l.answer = func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = fmt.Fprintf(w, `<p id="n">2</p><div class="r"><a href="%s/a">a</a></div><div class="r"><a href="%[1]s/b">b</a></div>`, l.sites[0].URL)
		return true
	}
	if err := os.WriteFile(job, []byte(strings.Replace(string(text), "sites: ["+site, "sites: [nowhere.test", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := apart(t, "crawl", "--job", job, "-o", dir, "--allow-private"); code != 0 {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if out := tasksOut(t, dir); strings.Count(out, "2 results are not on nowhere.test (but, say, on "+site+")") != 2 {
		t.Error(out)
	}
}
