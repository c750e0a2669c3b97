package main

import (
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/verdict"
)

// A run that nofollow has kept from going on says so, and names the flag.
func TestSummaryNamesNofollow(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "1 URL ", 1200: "1,200 URLs "} {
		var b strings.Builder
		printCounts(&b, ended(crawl.Counts{Discovered: 1 + n, Fetched: 1, Excluded: n}, map[string]int64{"nofollow": n}))
		if strings.Contains(b.String(), "--ignore-nofollow") != (n > 0) || !strings.Contains(b.String(), want) {
			t.Errorf("%d URLs:\n%s", n, b.String())
		}
	}
}

// The first line off a terminal, after ten seconds, has the rate of these; what earlier runs had fetched is not in it.
func TestPaceCountsFromTheStart(t *testing.T) {
	start := time.Unix(1000, 0)
	p := pace{at: start, fetched: 1000, bytes: 1 << 20}
	p.sample(start.Add(10*time.Second), 1500, 11<<20)
	if p.rate != 50 || p.speed != 1<<20 {
		t.Errorf("after ten seconds: %g URLs/s, %g bytes/s", p.rate, p.speed)
	}
	p.sample(start.Add(20*time.Second), 1500, 11<<20)
	if p.rate <= 0 || p.rate >= 50 {
		t.Errorf("after ten idle seconds: %g URLs/s", p.rate)
	}
}

// What lies behind too many redirects is told of in words, and not where there is none.
func TestSummaryNamesRedirects(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "1 URL lies behind", 30: "30 URLs lie behind"} {
		var b strings.Builder
		printCounts(&b, ended(crawl.Counts{Discovered: 1 + n, Fetched: 1, Excluded: n}, map[string]int64{"redirects": n}))
		if strings.Contains(b.String(), "more than 10 redirects") != (n > 0) || !strings.Contains(b.String(), want) {
			t.Errorf("%d URLs:\n%s", n, b.String())
		}
	}
}

// ended is the summary of a crawl that is done.
func ended(c crawl.Counts, reasons map[string]int64) assemble.Summary {
	return assemble.Summary{State: crawl.JobDone, JobCounts: crawl.JobCounts{Tally: crawl.TallyOf(c, reasons)}}
}

// A crawl of one page that names no other says so: what scripts do is not seen.
func TestPageWithoutLinks(t *testing.T) {
	for discovered := range int64(3) {
		var b strings.Builder
		printCounts(&b, ended(crawl.Counts{Discovered: discovered, Fetched: discovered, Pages: min(discovered, 1)}, nil))
		if says := strings.Contains(b.String(), "names no other"); says != (discovered == 1) {
			t.Errorf("%d discovered: %s", discovered, b.String())
		}
	}
}

// What was lost on sites that work otherwise is told with a URL, and with what can be done: not what helps where nothing was had.
func TestPrintLosses(t *testing.T) {
	var b strings.Builder
	printLosses(&b, assemble.Summary{Out: "D", Losses: []verdict.Loss{
		{Why: "robots", URLs: 40, Sites: 1, Example: "http://a.test/p"},
		{Why: "body-large", URLs: 3, Sites: 2, Example: "http://a.test/big"},
		{Why: "403", URLs: 1, Sites: 1, Example: "http://a.test/secret"},
		{Why: "418", URLs: 1, Sites: 1, Example: "http://a.test/odd"},
		{Why: "protocol", URLs: 1, Sites: 1, Example: "http://a.test/bad", Detail: "read body a.test: protocol: parse: protocol: chunk without end"},
		{Why: "scope", URLs: 5, Sites: 1, Example: "http://www.b.test/", Flag: "--scope domain", Admits: 4},
	}})
	const want = `  3 URLs on 2 sites: a body is larger than --max-body; one: http://a.test/big
    → --max-body takes larger ones
  1 URL: access is refused (403): http://a.test/secret
    → argosy retry D --status 403, and then the same crawl with --cookies of a login, asks for them once more
  1 URL: the answer's status is 418: http://a.test/odd
  1 URL: what it answers is not valid HTTP: chunk without end: http://a.test/bad
    → argosy retry D, and then the same crawl again, asks for them once more
  5 URLs: outside the scope, where a seed brings no further page; one: http://www.b.test/
    → --scope domain, in a new directory, lets 4 of them in
  40 URLs: its robots.txt forbids it to us; one: http://a.test/p
    → ask its operator; --ignore-robots, in a new directory (-o), is for your own sites
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// Who asks to be left alone for long is told of with the time and the step that helps; while nothing else happens, the lines say until when.
func TestRestThatIsLong(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 17, 20, 0, 0, time.Local)
	long := agent.Problem{At: at, Site: "a.test", URL: "http://a.test/", Kind: crawl.KindStatus, Status: 429, Again: true, Rest: time.Hour}
	lim := crawl.Limits{Retries: 3, Backoff: 5 * time.Second}
	teller := newTeller("D")
	short := agent.Problem{At: at, Site: "b.test", URL: "http://b.test/", Kind: crawl.KindStatus, Status: 503, Again: true, Patience: 35 * time.Second}
	ended := agent.Problem{At: at, Site: "c.test", Kind: crawl.KindReset, Detail: "EOF", Again: true}
	got := strings.Join(teller.lines([]agent.Problem{long, short, ended}), "\n")
	for _, want := range []string{"the answer did; trying again (check the port, and http:// or https://; --user-agent, in a new directory (-o), says who you are)", "it asks to wait until 18:20 (Ctrl-C, and argosy crawl -o D later goes on; --max-time", "(503); trying again for some 35s"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said: %s", want, got)
		}
	}
	if more := teller.waits("a.test"); more != "" {
		t.Errorf("that one waits is said after a problem has said more: %s", more)
	}
	if first := newTeller("D"); first.waits("") != "" || !strings.Contains(first.waits("a.test"), "waits for a.test to answer (--connect-timeout") || first.waits("a.test") != "" {
		t.Error("it is not said once that an answer is waited for")
	}
	page := agent.Problem{At: at, Site: "d.test", URL: "http://d.test/", Kind: crawl.KindSlow, Again: true}
	if of := newTeller("D").lines([]agent.Problem{page}); of != nil {
		t.Errorf("one page of a site that shows others is told of: %v", of)
	}
	page.Unseen = true
	if of := newTeller("D").lines([]agent.Problem{page}); len(of) != 1 || !strings.Contains(of[0], "http://d.test/: it is too slow; trying again (--min-rate") {
		t.Errorf("of the first page of a site it is said: %v", of)
	}
	p := newPanel("D", lim, at)
	status := coordinator.Status{State: "running", Counts: crawl.Counts{Discovered: 1}, NextSite: "a.test", NextMS: at.Add(time.Hour).UnixMilli()}
	p.sample(at, status, agent.Stats{}, nil, []agent.Problem{long})
	if pic := strings.Join(p.picture(at).draw(80, 12), "\n"); !strings.Contains(pic, "waits until 18:20") || !strings.Contains(pic, "asks to wait until 18:20") || !strings.Contains(pic, "crawl -o D later") {
		t.Errorf("the panel does not say it:\n%s", pic)
	}
}

// While nothing comes it is said whose answer is waited for, or until when which site rests.
func TestQuiet(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 17, 20, 0, 0, time.Local)
	rests := func(after time.Duration, discovered int64) coordinator.Status {
		return coordinator.Status{Counts: crawl.Counts{Discovered: discovered}, NextSite: "a.test", NextMS: at.Add(after).UnixMilli()}
	}
	asked := []agent.SiteStats{{Site: "b.test"}, {Site: "a.test"}, {Site: "b.test"}}
	for _, c := range []struct {
		after   time.Duration
		status  coordinator.Status
		running []agent.SiteStats
		open    int
		want    string
	}{
		{0, rests(time.Hour, 1), nil, 0, "waits until 18:20 to ask a.test"},
		{0, rests(10*time.Second, 1), nil, 0, "waits until 17:20:10 to ask a.test"},
		{0, rests(time.Hour, 0), nil, 0, ""},
		{2 * time.Hour, rests(time.Hour, 1), nil, 0, ""},
		{time.Second, rests(0, 1), asked, 2, ""},
		{quietAfter, rests(0, 1), asked, 2, "waits for a.test and 1 more to answer"},
		{quietAfter, rests(0, 1), asked[1:2], 1, "waits for a.test to answer"},
		{quietAfter, rests(0, 1), asked, 0, ""}, // none is asked: their turn has not come
	} {
		var q quiet
		q.sample(at, c.status.Counts)
		if got := q.text(at.Add(c.after), c.status, c.running, c.open); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
