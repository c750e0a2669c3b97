package frontier

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/yield"
)

// What has no template yet is remembered as that: until the site has another template, no walk reads it again; then each one finds out of so many
// whether they have one now.
func TestWithoutTemplateIsRemembered(t *testing.T) {
	t.Parallel()
	f, apply := many(t, 1, 64)
	task := f.tasks[1]
	none := func() (now, before int) {
		for _, e := range task.memory.entries {
			switch {
			case e.template == noTemplate|task.yield.Templates:
				now++
			case e.template&noTemplate != 0:
				before++
			}
		}
		return now, before
	}
	next := func() {
		t.Helper()
		if _, err := f.Next(1, 4*againAtOnce); err != nil {
			t.Fatal(err)
		}
	}
	found := crawl.Found{}
	for i := range 3 * againAtOnce {
		found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://s0.test/shape%d/of/its-own.html", i)})
	}
	lease := uint64(1<<32 | 1)
	for _, target := range mustNext(t, f, 1) {
		found.Parent = target.Key
		apply(crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Refills: []crawl.Refill{{Lease: lease, Targets: []crawl.Target{target}}}})
		apply(crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{Lease: lease, Attempt: 1, Epoch: 1, No: 3, Found: []crawl.Found{found},
			Outcomes: []crawl.Outcome{{Key: target.Key, URL: target.URL, State: crawl.Fetched, Status: 200}}}}})
	}
	next()
	if now, before := none(); now < 2*againAtOnce || before != 0 {
		t.Fatalf("%d have no template, %d had none", now, before)
	}
	task.yield.Templates++
	for range 2 {
		_, was := none()
		if next(); was > 0 {
			if _, before := none(); was-before < againAtOnce || was-before > againAtOnce+yield.MaxLoose { // and those that may have been given out
				t.Errorf("%d were read again, want %d", was-before, againAtOnce)
			}
		}
	}
}

func mustNext(t *testing.T, f *Frontier, n int) []crawl.Target {
	t.Helper()
	next, err := f.Next(1, n)
	if err != nil || len(next) != n {
		t.Fatalf("%d targets: %v", len(next), err)
	}
	return next
}

// A record's template is what it was found to be, until a view of a bag is let go: from then on it is found anew.
func TestTemplateIsFoundAnew(t *testing.T) {
	t.Parallel()
	m := yield.New()
	u, err := crawl.Parse("http://s.test/a/1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ template, views, want uint32 }{
		{template: 7, views: m.Views(), want: 7},
		{template: 7, views: m.Views() + 1, want: m.Template(u)},
		{want: m.Template(u)},
	} {
		r := &record{URL: u.String(), template: c.template, views: c.views}
		if got := (&tx{}).template(m, r, crawl.URL{}); got != c.want || r.views != m.Views() {
			t.Errorf("%+v: %d, of %d views", c, got, r.views)
		}
	}
}
