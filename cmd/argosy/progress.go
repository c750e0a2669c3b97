package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/outdir"
)

// progress shows how a crawl gets on: a panel on a terminal, a line every ten seconds elsewhere.
type progress struct {
	cr    *assemble.Crawl
	w     *os.File
	lim   crawl.Limits
	start time.Time
	done  chan struct{}
	wg    sync.WaitGroup

	panel  *panel // nil where there is no terminal
	screen *screen
	note   atomic.Pointer[string]

	pace    pace
	harvest *harvest // nil: the crawl has no topic
	teller  *teller
	quiet   quiet
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
func startProgress(cr *assemble.Crawl, w *os.File, screen *screen, dir string, lim crawl.Limits) *progress {
	p := &progress{cr: cr, w: w, lim: lim, start: time.Now(), done: make(chan struct{}), screen: screen, teller: newTeller(dir)}
	if cr.Topic() != nil {
		p.harvest = &harvest{}
	}
	had := cr.Totals()
	p.pace = pace{at: p.start, fetched: had.Fetched, bytes: had.Bytes}
	if screen != nil {
		p.panel = newPanel(dir, lim, p.start)
	}
	p.wg.Go(p.loop)
	return p
}

// say tells a person something that matters now.
func (p *progress) say(text string) {
	if p.panel == nil {
		fmt.Fprintln(p.w, "argosy: "+text)
		return
	}
	p.note.Store(&text)
	p.screen.say(text)
}

// stop shows the last picture, or the last problems; the crawl has ended.
func (p *progress) stop() {
	close(p.done)
	p.wg.Wait()
	if p.panel == nil {
		p.tell()
		return
	}
	p.note.Store(nil)
	s, a := p.cr.Status()
	s.Counts = p.cr.Totals() // as of the very end
	a.Busy = 0
	now := time.Now()
	p.panel.sample(now, s, a, nil, p.cr.Problems())
	p.panel.running = p.panel.worked // at the end nobody works any more
	pic := p.panel.picture(now)
	pic.topic = p.reap(now, s)
	pic.left = ""
	p.screen.end(pic)
}

// console is standard error, where logs and progress are written: on a terminal the panel stands below the rest.
type console struct {
	mu     sync.Mutex
	screen *screen
	shown  *progress
}

// Write writes what is not the panel's.
func (c *console) Write(b []byte) (int, error) {
	c.mu.Lock()
	s := c.screen
	c.mu.Unlock()
	if s != nil {
		return s.Write(b)
	}
	return os.Stderr.Write(b)
}

// say tells a person something that matters now.
func (c *console) say(text string) {
	c.mu.Lock()
	p := c.shown
	c.mu.Unlock()
	if p == nil {
		told(text)
		return
	}
	p.say(text)
}

// watch begins to show a crawl: by a panel if standard error is a terminal.
func (c *console) watch(cr *assemble.Crawl, dir string, lim crawl.Limits) *progress {
	var s *screen
	kind, named := os.LookupEnv("TERM")
	if _, _, ok := terminalSize(os.Stderr); ok && kind != "dumb" && (kind != "" || !named) {
		s = &screen{w: os.Stderr}
	}
	p := startProgress(cr, os.Stderr, s, dir, lim)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.screen, c.shown = s, p
	return p
}

// How often a panel is drawn, and how often lines are printed where there is none; problems are looked for more often.
const (
	drawEvery = 500 * time.Millisecond
	tellEvery = time.Second
	lineEvery = 10 * time.Second
)

func (p *progress) loop() {
	every := tellEvery
	if p.panel != nil {
		every = drawEvery
		p.look()
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for lines := 0; ; {
		select {
		case <-p.done:
			return
		case now := <-t.C:
			if p.panel != nil {
				p.look()
				continue
			}
			p.tell()
			if n := int(now.Sub(p.start) / lineEvery); n > lines {
				lines = n
				fmt.Fprintln(p.w, p.line())
			}
		}
	}
}

// look takes a sample and draws it.
func (p *progress) look() {
	s, a := p.cr.Status()
	now := time.Now()
	p.panel.sample(now, s, a, p.cr.Sites(), p.cr.Problems())
	pic := p.panel.picture(now)
	pic.topic = p.reap(now, s)
	if n := p.note.Load(); n != nil {
		pic.note = *n
	}
	p.screen.show(pic)
}

// tell prints problems that have come, and, before there is any, that an answer is waited for.
func (p *progress) tell() {
	s, a := p.cr.Status()
	now := time.Now()
	p.quiet.sample(now, s.Counts)
	for _, l := range p.teller.lines(p.cr.Problems()) {
		fmt.Fprintln(p.w, "argosy: "+l)
	}
	if l := p.teller.waits(p.quiet.asks(now, s, p.cr.Sites(), a.Busy)); l != "" {
		fmt.Fprintln(p.w, "argosy: "+l)
	}
}

// line is the state of the crawl in one line.
func (p *progress) line() string {
	s, a := p.cr.Status()
	now := time.Now()
	if s.State != coordinator.StateStarting {
		p.pace.sample(now, s.Counts.Fetched, s.Counts.Bytes)
	}
	on := ""
	if w := p.quiet.text(now, s, p.cr.Sites(), a.Busy); w != "" {
		on = " · " + w
	}
	if h := p.reap(now, s); h != "" {
		on += " · " + h
	}
	return strings.Join([]string{
		fmt.Sprintf("%s %s", clock(now.Sub(p.start)), s.State),
		fmt.Sprintf("%s fetched", count(s.Counts.Fetched)),
		fmt.Sprintf("%s failed", count(s.Counts.Failed)),
		fmt.Sprintf("%s excluded", count(s.Counts.Excluded)),
		fmt.Sprintf("%s pending", count(s.Counts.Pending())),
		fmt.Sprintf("%.0f/s", p.pace.rate),
		size(int64(p.pace.speed)) + "/s",
		plural(int64(s.Sites), "site"),
		plural(int64(a.Busy), "request") + " open",
	}, " · ") + on
}

// reap says how many pages are on the topic, if the crawl has one, or how its searches get on.
func (p *progress) reap(now time.Time, s coordinator.Status) string {
	if s.Searches.All > 0 {
		return searchState(s.Searches)
	}
	if p.harvest == nil {
		return ""
	}
	if s.State != coordinator.StateStarting {
		p.harvest.sample(now, s.Counts.Pages, s.Counts.Relevant)
	}
	text := p.harvest.String()
	if s.Markets > 0 {
		text += fmt.Sprintf(" · %s sold for %.1f in %s", plural(s.Sold, "URL"), s.Paid, plural(int64(s.Markets), "market"))
	}
	return text
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

// waitingTasks says that so many tasks wait.
func waitingTasks(n int64) string {
	if n == 1 {
		return "1 task waits"
	}
	return plural(n, "task") + " wait"
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
	if s.State == crawl.JobLimited && s.Stuck == nil {
		by := "a limit (--max-pages, --max-time, --max-bytes)"
		if strings.HasPrefix(s.Limited, "max-") {
			by = "--" + s.Limited
		}
		fmt.Fprintf(w, "  %s has ended it:\n    argosy crawl -o %s goes on with a higher one%s\n", by, crawl.Arg(s.Out), anew(s.Out))
	}
	printTroubles(w, s)
	printLeftOut(w, s)
	printPlace(w, s)
}

// printLeftOut says what a crawl has not had, and what has it had after all.
func printLeftOut(w io.Writer, s assemble.Summary) {
	printLosses(w, s)
	printTraps(w, s.Traps, retryCut(s.Out))
}

// clip shortens a long URL in its middle.
func clip(s string) string {
	if len(s) <= 100 {
		return s
	}
	return s[:70] + "…" + s[len(s)-27:]
}

// some names the first few of a list, and says how many more there are.
func some(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(list[:most], ", "), count(int64(len(list)-most)))
}

// printPlace says where everything lies.
func printPlace(w io.Writer, s assemble.Summary) {
	fmt.Fprintf(w, "in %s: %s/ (archives), %s, %s (ledger)\n", s.Out, outdir.WARCDir, outdir.IndexFile, outdir.LedgerFile)
}

// printCounts prints how a run ended, its counts, and the reasons of failures and refusals, most frequent first.
func printCounts(w io.Writer, s assemble.Summary) {
	fmt.Fprintf(w, "%s after %s: %s discovered on %s\n", s.State, clock(time.Duration(s.Seconds*float64(time.Second))),
		plural(s.Discovered, "URL"), plural(s.Sites, "site"))
	fmt.Fprintf(w, "  %10s fetched, %s of them pages (HTML, status 200), %s, %s\n", count(s.Fetched), count(s.Pages),
		plural(s.Duplicates, "duplicate"), size(s.Bytes))
	fmt.Fprintf(w, "  %10s failed\n  %10s excluded\n  %10s pending\n", count(s.Failed), count(s.Excluded), count(s.Pending))
	if len(s.Reasons) > 0 {
		fmt.Fprintf(w, "  reasons: %s\n", reasons(s.Reasons))
	}
	if n := len(s.Unmatched); n > 0 {
		fmt.Fprintf(w, "  no site was like %s, which the rules for sites name\n", some(s.Unmatched, 5))
	}
	printCollected(w, s)
	printTopic(w, s)
	if n := s.Reasons[string(crawl.ReasonRedirects)]; n > 0 {
		lie := "lie"
		if n == 1 {
			lie = "lies"
		}
		fmt.Fprintf(w, "  %s %s behind more than %d redirects in a row: those are not followed\n", plural(n, "URL"), lie, crawl.MaxRedirects)
	}
	if n := s.Reasons[string(crawl.ReasonNoFollow)]; n > 0 {
		fmt.Fprintf(w, "  %s named only by pages that ask not to follow their links (nofollow): --ignore-nofollow, in a new directory (-o), follows them\n", plural(n, "URL"))
	}
	if s.Pages == 1 && s.Moved > 0 && s.Moved == s.Discovered-1 {
		fmt.Fprintln(w, "  every URL leads to one page, which names no other: if it is a login or asks\n  for consent, --cookies of a browser that has passed it help")
	}
	if s.Discovered == 1 && s.Pages == 1 && len(s.Losses) == 0 {
		fmt.Fprintln(w, "  that page names no other: links that its scripts would make are not seen; a sitemap may have them (--sitemaps);\n  if it asks for consent or a log-in, --cookies of a browser that has passed it help")
	}
	if s.State == crawl.JobDone && s.Pages == 0 && s.Discovered == s.Moved+1 && s.Searches == nil && len(s.Troubles)+len(s.Losses) == 0 {
		fmt.Fprintln(w, "  that document names no URL: links are read in HTML, XML and style sheets, not in PDF, plain text or pictures (--seeds FILE takes a list)")
	}
}
