package agent

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
)

// However many links a page has, few of them are in memory at once, and none is lost or reported twice: what waits to be reported never
// exceeds its bound.
func TestLinksOfAPageAreBounded(t *testing.T) {
	const links, long = 200_000, 4
	var body strings.Builder
	for i := range links {
		if i%(links/long) == 0 {
			fmt.Fprintf(&body, "<a href=/%d%s>too long</a>", i, strings.Repeat("x", crawl.MaxURLLength))
		}
		fmt.Fprintf(&body, "<a href=/%d>page %[1]d</a><a href=/%d>an earlier one</a>\n", i, i/2)
	}
	page := []byte(body.String())
	for name, change := range map[string]func(*crawl.Job){
		"any depth": func(*crawl.Job) {}, "a limit of depth": func(j *crawl.Job) { j.Limits.MaxDepth = 5 },
	} {
		synctest.Test(t, func(t *testing.T) {
			web := answers{"/": {bytes: with(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", len(page)), page)}}
			most := 0
			b, _ := runTargets(t, crawl.Target{}, []string{"/"}, change, web.serve, func(b *bench) {
				b.reports = func() { most = max(most, b.agent.waiting()) }
			})
			if limit := maxCrowd + 2*maxHeld; most > limit {
				t.Errorf("%s: %d bytes of one page's links waited, more than %d", name, most, limit)
			}
			seen, omitted := map[string]int{}, int64(0)
			for _, f := range b.found {
				for _, l := range f.Links {
					seen[l.URL]++
				}
				omitted += f.Omitted[crawl.ReasonTrapLength]
			}
			for i := range links {
				if n := seen[fmt.Sprintf("http://site.test/%d", i)]; n != 1 {
					t.Fatalf("%s: link %d was reported %d times", name, i, n)
				}
			}
			if omitted != long {
				t.Errorf("%s: %d links that are too long were counted, not %d", name, omitted, long)
			}
			if o, _ := b.of("/", ""); o.State != crawl.Fetched || o.Links != 2*links+long {
				t.Errorf("%s: %v, %d links", name, o.State, o.Links)
			}
		})
	}
}

// A page whose links take longer to be reported than a term is not recalled halfway, nor is one that waits for so long until it is read: the
// parts of its lease show progress, or that there can be none yet.
func TestPagesMayTakeLongerThanATerm(t *testing.T) {
	const links = 60_000
	var body strings.Builder
	for i := range links {
		fmt.Fprintf(&body, "<a href=/%d>page %[1]d</a>\n", i)
	}
	web := answers{"/": {bytes: with(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", body.Len()), []byte(body.String()))}}
	for _, how := range []string{"reports are slow", "others are read first"} {
		synctest.Test(t, func(t *testing.T) {
			term := time.Duration(0)
			change := func(j *crawl.Job) { term = j.Limits.RecycleAfter }
			begun := time.Now()
			b, _ := runTargets(t, crawl.Target{}, []string{"/"}, change, web.serve, func(b *bench) {
				time.AfterFunc(20*term, b.stop) // a lease that is given up reports nothing
				if how == "reports are slow" {
					b.reports = func() { time.Sleep(term / 3) }
					return
				}
				b.dials = func() {
					readers := b.agent.readers
					for range cap(readers) {
						readers <- struct{}{}
					}
					go func() {
						time.Sleep(4 * term)
						for range cap(readers) {
							<-readers
						}
					}()
				}
			})
			if took := time.Since(begun); took < 2*term {
				t.Fatalf("%s: it took %v only", how, took)
			}
			if b.still > term {
				t.Errorf("%s: for %v no part showed progress, and the term is %v", how, b.still, term)
			}
			n := 0
			for _, f := range b.found {
				n += len(f.Links)
			}
			if o, _ := b.of("/", ""); o.State != crawl.Fetched || n != links {
				t.Errorf("%s: it is %q, and %d links of %d were reported", how, o.State, n, links)
			}
		})
	}
}

// waiting is how many bytes the leases of an agent have to report.
func (a *Agent) waiting() (size int) {
	for _, l := range a.running() {
		l.mu.Lock()
		size += l.rep.size
		l.mu.Unlock()
	}
	return size
}
