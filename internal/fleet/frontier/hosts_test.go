package frontier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// domainVisit crawls the hosts of a domain, in turn and a page at a time, until nothing is left or a page is empty. It returns what was
// asked for.
func domainVisit(t *testing.T, seed string, most int, page func(u crawl.URL) string) (f *Frontier, seq uint64, asked map[string]bool) {
	t.Helper()
	fs := vfs.NewCrashableMem()
	f = open(t, fs)
	asked = map[string]bool{}
	apply := func(e *crawl.Entry) Effects {
		seq++
		fx, err := f.Apply(seq, int64(seq), e)
		if err != nil {
			t.Fatal(err)
		}
		return fx
	}
	apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{
		ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeDomain, Seeds: []string{seed}},
	}})
	for lease := uint64(1); f.Job(1).Totals.Pending() > 0; lease++ {
		var task *Task
		f.Tasks(func(c *Task) {
			if c.Queued() > 0 && (task == nil || c.Since < task.Since || c.Since == task.Since && c.ID < task.ID) {
				task = c
			}
		})
		targets, err := f.Next(task.ID, 8)
		if err != nil || len(targets) == 0 {
			t.Fatalf("task %d with %d URLs gives nothing (%v)", task.ID, task.Queued(), err)
		}
		apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
			ID: lease, Job: 1, Task: task.ID, Site: task.Site, Node: "n", Incarnation: "i", Epoch: 1, Attempt: uint32(lease), Secret: "s", Quota: 1 << 30, Targets: targets,
		}}})
		p := crawl.Part{Lease: lease, Attempt: uint32(lease), Epoch: 1, Secret: "s", No: 1, Final: true, Reason: crawl.EndDone}
		for _, g := range targets {
			u, err := crawl.Parse(g.URL)
			if err != nil {
				t.Fatal(err)
			}
			if asked[g.URL] = true; len(asked) > most {
				traps, _ := f.Traps(1)
				t.Fatalf("no end after %d answers, the last of %s; %+v", len(asked), g.URL, traps)
			}
			body := page(u)
			if body == "" {
				return f, seq, asked
			}
			var read parse.Page
			parse.Scan([]byte(body), parse.Options{}, &read)
			o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: true, Bytes: int64(len(body)), Links: len(read.Links)}
			found := crawl.Found{Parent: g.Key}
			for _, l := range read.Links {
				if to, err := u.Resolve(string(l.Ref)); err == nil {
					found.Links = append(found.Links, crawl.Link{URL: to.String()})
				}
			}
			if g.Mark != crawl.MarkNone {
				m := parse.Mark([]byte(body), g.URL, read.Links, false)
				o.Shows, o.Sample, o.Figures, o.Pictures = m.Text, m.Sample, m.Figures, m.Pictures
			}
			p.Found, p.Outcomes = append(p.Found, found), append(p.Outcomes, o)
		}
		apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
		if lease%50 == 0 { // what a view knows of hosts survives
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f = open(t, fs)
		}
	}
	return f, seq, asked
}

// Every name of a domain answers with the same site, and names more: the crawl ends, says which hosts it left out, and goes on with them
// when a person wants that.
func TestHostsWithoutEnd(t *testing.T) {
	for name, next := range map[string]func(host string, n int) string{
		"numbers": func(_ string, n int) string { return fmt.Sprintf("n%d.sub.test", n+1) },
		"words": func(_ string, n int) string {
			return strings.Fields("red green blue pink grey")[n%5] + random(fmt.Sprint(n), 1)[:3] + ".sub.test"
		},
		"deeper": func(host string, n int) string { return fmt.Sprintf("%c.", 'a'+n%26) + host },
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			f, seq, asked := domainVisit(t, "http://sub.test/", 2000, func(u crawl.URL) string {
				host := u.Host()
				if u.Path() != "/" {
					return "<h1>" + u.Path() + "</h1><p>" + random(u.Path(), 40) + "</p>" + links("/")
				}
				n++
				if len(host) > 200 {
					return "<h1>Welcome</h1>"
				}
				return "<h1>Welcome to " + host + "</h1><p>" + random("home", 60) + "</p>" + links("/a", "/b", "/c", "/d", "/e", "http://"+next(host, n)+"/", "http://"+next(host, n+7)+"/")
			})
			if len(asked) > 600 {
				t.Errorf("%d answers", len(asked))
			}
			traps, err := f.Traps(1)
			if err != nil || len(traps) == 0 || !traps[0].Hosts || !strings.HasSuffix(traps[0].Template, "sub.test") || traps[0].Waiting == 0 {
				t.Fatalf("traps %+v (%v)", traps, err)
			}
			if _, err := f.Apply(seq+1, 1, &crawl.Entry{Kind: crawl.EntryRetry, Epoch: 1, Release: &crawl.Release{Job: 1, Cut: true}}); err != nil {
				t.Fatal(err)
			}
			if f.Job(1).Totals.Pending() == 0 {
				t.Error("nothing goes on when a person wants it")
			}
		})
	}
}

// A job that is cancelled while hosts of it are cut tries none of them again.
func TestCancelledWithHosts(t *testing.T) {
	n := 0
	f, seq, _ := domainVisit(t, "http://sub.test/", 2000, func(crawl.URL) string {
		if n++; n == 194 {
			return ""
		}
		return "<p>" + random("home", 60) + "</p>" + links(fmt.Sprintf("http://n%d.sub.test/", n), fmt.Sprintf("http://n%d.sub.test/", n+300))
	})
	if traps, err := f.Traps(1); err != nil || len(traps) == 0 {
		t.Fatalf("no host is cut (%v)", err)
	}
	if _, err := f.Apply(seq+1, 1, &crawl.Entry{Kind: crawl.EntryState, Epoch: 1, State: &crawl.JobState{Job: 1, State: crawl.JobCancelled}}); err != nil {
		t.Fatal(err)
	}
	if left := f.Job(1).Totals.Pending(); left > 0 {
		t.Errorf("%d URLs are pending", left)
	}
}

// Hosts with pages of their own are had, however many there are and whoever names them, with those that are not set up yet.
func TestHostsOfPeople(t *testing.T) {
	const people = 400
	_, _, asked := domainVisit(t, "http://sub.test/", 20_000, func(u crawl.URL) string {
		host := u.Host()
		var n int
		if _, err := fmt.Sscanf(host, "user%d.", &n); err != nil {
			s := "<h1>People</h1>"
			for i := range people {
				s += links(fmt.Sprintf("http://user%d.sub.test/", i))
			}
			return s
		}
		if n%2 == 1 {
			return "<h1>Soon</h1><p>This site has not been set up yet.</p>"
		}
		return "<h1>" + host + "</h1><p>" + random(u.String(), 50) + "</p>" + links("/", "/about", "/posts", "/photos", "/links", "/more", fmt.Sprintf("http://user%d.sub.test/", (n+2)%people))
	})
	lost := 0
	for n := 0; n < people; n += 2 {
		for _, path := range []string{"/", "/about", "/posts", "/photos", "/links", "/more"} {
			if !asked[fmt.Sprintf("http://user%d.sub.test%s", n, path)] {
				lost++
			}
		}
	}
	if lost > 0 {
		all := make([]string, 0, len(asked))
		for a := range asked {
			all = append(all, a)
		}
		slices.Sort(all)
		t.Errorf("%d pages of people are lost; %d were asked for", lost, len(all))
	}
}
