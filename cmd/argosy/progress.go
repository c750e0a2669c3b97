package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
)

// progressLine shows how a crawl gets on: a line that is rewritten on a terminal, a line every ten seconds elsewhere.
type progressLine struct {
	cr    *assemble.Crawl
	w     *os.File
	tty   bool
	lim   crawl.Limits
	start time.Time
	done  chan struct{}
	wg    sync.WaitGroup

	pace pace
}

// pace is how fast counts have grown of late.
type pace struct {
	at             time.Time // of the last sample, or of the start
	fetched, bytes int64     // then
	rate, speed    float64   // URLs and bytes a second, smoothed
}

// sample takes in counts. A sample that comes too soon after the last one says little, and is left out.
func (p *pace) sample(now time.Time, fetched, bytes int64) {
	span := now.Sub(p.at).Seconds()
	if span <= 0.2 {
		return
	}
	rate, speed := float64(fetched-p.fetched)/span, float64(bytes-p.bytes)/span
	if p.rate == 0 {
		p.rate, p.speed = rate, speed
	}
	p.rate, p.speed = 0.8*p.rate+0.2*rate, 0.8*p.speed+0.2*speed
	p.at, p.fetched, p.bytes = now, fetched, bytes
}

// startProgress begins to show a crawl that does not run yet.
func startProgress(cr *assemble.Crawl, w *os.File, lim crawl.Limits) *progressLine {
	st, err := w.Stat()
	p := &progressLine{cr: cr, w: w, lim: lim, start: time.Now(), done: make(chan struct{})}
	p.tty = err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	had := cr.Totals()
	p.pace = pace{at: p.start, fetched: had.Fetched, bytes: had.Bytes}
	p.wg.Go(p.loop)
	return p
}

func (p *progressLine) stop() {
	close(p.done)
	p.wg.Wait()
	if p.tty {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *progressLine) loop() {
	every := 10 * time.Second
	if p.tty {
		every = 250 * time.Millisecond
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-t.C:
		}
		line := p.line()
		if p.tty {
			fmt.Fprint(p.w, "\r\x1b[K"+line)
		} else {
			fmt.Fprintln(p.w, line)
		}
	}
}

// line is the state of the crawl in one line.
func (p *progressLine) line() string {
	s, a := p.cr.Status()
	now := time.Now()
	if s.State != coordinator.StateStarting {
		p.pace.sample(now, s.Counts.Fetched, s.Counts.Bytes)
	}
	pending := s.Counts.Pending()
	parts := []string{
		fmt.Sprintf("%s %s", clock(now.Sub(p.start)), s.State),
		fmt.Sprintf("%s fetched", count(s.Counts.Fetched)),
		fmt.Sprintf("%.0f/s", p.pace.rate),
		size(int64(p.pace.speed)) + "/s",
		fmt.Sprintf("%s waiting", count(pending)),
		plural(int64(s.Sites), "site"),
		fmt.Sprintf("%d requests open", a.Busy),
	}
	if s.Counts.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s failed", count(s.Counts.Failed)))
	}
	left := pending
	if p.lim.MaxPages > 0 {
		left = min(left, p.lim.MaxPages-s.Counts.Fetched)
	}
	if p.pace.rate > 0.5 && left > 0 {
		parts = append(parts, "about "+clock(time.Duration(float64(left)/p.pace.rate)*time.Second)+" left for what is known")
	}
	return strings.Join(parts, " · ")
}

func clock(d time.Duration) string {
	d = d.Round(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// count prints a number with a thin mark between thousands.
func count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural prints a count of things.
func plural(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return count(n) + " " + thing
}

func size(n int64) string {
	const units = "KMGTP"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1000 && i < len(units)-1 {
		f /= 1024
		i++
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

// printSummary prints what a run ended with, for people.
func printSummary(w io.Writer, s assemble.Summary) {
	printCounts(w, s)
	printTroubles(w, s.Troubles)
	printTraps(w, s.Traps, "argosy retry "+s.Out+" --cut")
	printPlace(w, s)
}

// clip shortens a long URL in its middle.
func clip(s string) string {
	if len(s) <= 100 {
		return s
	}
	return s[:70] + "…" + s[len(s)-27:]
}

// maxTraps bounds how many traps are told of.
const maxTraps = 10

// printTraps says which URLs were left out because those like them brought nothing new, and how they are let go on.
func printTraps(w io.Writer, traps []crawl.Trap, again string) {
	cut := false
	for i, t := range traps {
		if i == maxTraps {
			fmt.Fprintf(w, "  … and %s more (argosy tasks --json has all)\n", count(int64(len(traps)-i)))
			break
		}
		switch {
		case t.Budget:
			fmt.Fprintf(w, "  %s has had its --site-pages: %s refused; %s of its answers are of %s\n", t.Site, plural(t.Waiting, "URL"), count(t.Answers), t.Template)
			continue
		case t.Part != "":
			fmt.Fprintf(w, "  trap on %s: %s like %s were left out, since %s makes no difference", t.Site, plural(t.Waiting, "URL"), t.Template, t.Part)
		default:
			fmt.Fprintf(w, "  trap on %s: %s like %s were left out, since %s of %s brought nothing new", t.Site, plural(t.Waiting, "URL"), t.Template, count(t.Empty), plural(t.Answers, "answer"))
		}
		fmt.Fprintf(w, ", such as %s\n", clip(t.Example))
		cut = true
	}
	if cut {
		fmt.Fprintf(w, "  %s, and then the same crawl again, lets them go on\n", again)
	}
}

// printPlace says where everything lies.
func printPlace(w io.Writer, s assemble.Summary) {
	fmt.Fprintf(w, "in %s: %s/ (archives), %s, %s (ledger)\n", s.Out, assemble.WARCDir, assemble.IndexFile, assemble.LedgerFile)
}

// printCounts prints how a run ended, its counts, and the reasons of failures and refusals, most frequent first.
func printCounts(w io.Writer, s assemble.Summary) {
	fmt.Fprintf(w, "%s after %s: %s discovered on %s\n", s.State, clock(time.Duration(s.Seconds*float64(time.Second))),
		plural(s.Discovered, "URL"), plural(s.Sites, "site"))
	fmt.Fprintf(w, "  %10s fetched, %s of them pages (HTML, status 200), %s duplicates, %s\n", count(s.Fetched), count(s.Pages),
		count(s.Duplicates), size(s.Bytes))
	fmt.Fprintf(w, "  %10s failed\n  %10s excluded\n  %10s pending\n", count(s.Failed), count(s.Excluded), count(s.Pending))
	if len(s.Reasons) > 0 {
		fmt.Fprintf(w, "  reasons: %s\n", reasons(s.Reasons))
	}
	if n := s.Reasons[string(crawl.ReasonRedirects)]; n > 0 {
		lie := "lie"
		if n == 1 {
			lie = "lies"
		}
		fmt.Fprintf(w, "  %s %s behind more than %d redirects in a row: those are not followed\n", plural(n, "URL"), lie, frontier.MaxRedirects)
	}
	if n := s.Reasons[string(crawl.ReasonNoFollow)]; n > 0 {
		fmt.Fprintf(w, "  %s named only by pages that ask not to follow their links (nofollow): --ignore-nofollow follows them\n", plural(n, "URL"))
	}
}
