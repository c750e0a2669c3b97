package assemble_test

import (
	"path/filepath"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/topic"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// topical is a crawl of a web of pages about a topic.
func topical(t *testing.T, dir string, web *webs.Topical, port string, change func(*crawl.Job)) assemble.Summary {
	t.Helper()
	c := fleettest.Crawl(dir, port, 0, 2)
	about, err := topic.Words(webs.TopicalWords, "en")
	if err != nil {
		t.Fatal(err)
	}
	c.Job.Identity.Seeds, c.Job.Identity.Topic, c.Job.Identity.Order, c.Job.Identity.Tunnel = web.Seeds(port), about, crawl.OrderBest, -1
	c.Job.Limits.SiteConnections = 2
	change(&c.Job)
	cr, err := assemble.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := cr.Run(t.Context(), nil)
	if cerr := cr.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	return sum
}

// had returns what a crawl's ledger says: pages that are on the topic by the web, by their scores, and by both.
func had(t *testing.T, dir string, on map[string]bool) (pages, truly, judged, both int) {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.Pages(t.Context(), 1, func(p *ledger.Page) error {
		if p.State != "fetched" || !p.HTML {
			return nil
		}
		pages++
		if on[p.URL] {
			truly++
		}
		if p.Score >= crawl.DefaultThreshold {
			judged++
			if on[p.URL] {
				both++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages, truly, judged, both
}

// A topical crawl over HTTP, with two nodes: at a budget of a fifth of the web it has far more pages on the topic than a crawl that takes
// what comes first; what it judges to be on the topic is; it goes on with its scores, and in the end every page was had once.
func TestTopicalCrawl(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 3, Sites: 4, Pages: 300, Share: 0.06, Near: 0.6, Told: 0.5})
	port := served(t, web)
	on := web.OnTopic(port)
	budget := func(j *crawl.Job) { j.Limits.MaxPages = 240 }
	first := t.TempDir()
	topical(t, first, web, port, func(j *crawl.Job) { budget(j); j.Identity.Order = crawl.OrderBreadth })
	_, breadth, _, _ := had(t, first, on)

	dir := t.TempDir()
	sum := topical(t, dir, web, port, budget)
	pages, truly, judged, both := had(t, dir, on)
	t.Logf("of %d pages on the topic: %d breadth first, %d the best first, in %d pages; %d judged to be, %d of them truly", len(on), breadth, truly, pages, judged, both)
	if sum.State != crawl.JobLimited || truly < 2*breadth || both < judged*9/10 || both < truly*9/10 || sum.Relevant != int64(judged) {
		t.Errorf("breadth first %d, best first %d, judged %d, both %d; %+v", breadth, truly, judged, both, sum.JobCounts)
	}
	sum = topical(t, dir, web, port, func(*crawl.Job) {})
	pages, truly, _, _ = had(t, dir, on)
	if sum.State != crawl.JobDone || pages != 1200 || truly != len(on) || sum.Pending != 0 {
		t.Errorf("gone on: %d pages, %d of %d on the topic, %+v", pages, truly, len(on), sum.JobCounts)
	}
	sound(t, dir)
}

// From one page of many sites, with users' limits: what promises most on all sites is asked for first, and not what each site happens to have.
func TestOneSeedOfManySites(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 7, Sites: 40, Pages: 50, Share: 0.04, Near: 0.6, Told: 0.5})
	port := served(t, web)
	on, dir := web.OnTopic(port), t.TempDir()
	sum := topical(t, dir, web, port, func(j *crawl.Job) {
		j.Identity.Seeds, j.Identity.Scope, j.Identity.Tunnel = web.Seeds(port)[:1], crawl.ScopeAny, 2
		j.Limits.SiteConnections, j.Limits.MaxPages = crawl.DefaultLimits().SiteConnections, 400
	})
	pages, truly, _, _ := had(t, dir, on)
	t.Logf("%d of %d pages on the topic in %d", truly, len(on), pages)
	if sum.State != crawl.JobLimited || truly < len(on)*7/10 {
		t.Errorf("%d of %d pages on the topic in %d; %+v", truly, len(on), pages, sum.JobCounts)
	}
}

// With links followed from pages on the topic only, a crawl ends by itself, has most of what is on the topic, and says what it left out.
func TestTopicalCrawlEnds(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 5, Sites: 3, Pages: 300, Share: 0.05, Near: 0.7, Told: 0.5})
	port := served(t, web)
	on := web.OnTopic(port)
	dir := t.TempDir()
	sum := topical(t, dir, web, port, func(j *crawl.Job) { j.Identity.Tunnel = 0 })
	pages, truly, _, _ := had(t, dir, on)
	t.Logf("%d pages, %d of %d on the topic; reasons %v", pages, truly, len(on), sum.Reasons)
	if sum.State != crawl.JobDone || pages >= 700 || sum.Reasons[string(crawl.ReasonTopic)] == 0 || truly < len(on)*6/10 {
		t.Errorf("%d pages, %d of %d on the topic; %+v", pages, truly, len(on), sum.JobCounts)
	}
}
