package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/coordinator"
)

// span is over how many seconds a panel's rates are.
const span = 60

// panel watches a crawl and makes pictures of it. One goroutine owns it.
type panel struct {
	dir   string
	lim   crawl.Limits
	start time.Time

	second         int64 // since the start, of the last sample
	fetched, bytes [span]int64
	found          [span]int64 // discovered
	last           coordinator.Status
	begun          bool
	leases         map[uint64]int64 // answers of each, when it was seen last
	sites          map[string]*siteRate
	problems       []problemLine // last first
	keys           []string      // of problems
	stats          agent.Stats
	running        []agent.SiteStats
	worked         []agent.SiteStats // that were running when some were
	quiet          quiet
}

// siteRate is how many answers a site gave in each of the last seconds.
type siteRate struct {
	answers [span]int64
	last    int64 // second of the last one
}

func newPanel(dir string, lim crawl.Limits, start time.Time) *panel {
	return &panel{dir: dir, lim: lim, start: start, leases: map[uint64]int64{}, sites: map[string]*siteRate{}}
}

// sample takes in how the crawl gets on.
func (p *panel) sample(now time.Time, s coordinator.Status, a agent.Stats, running []agent.SiteStats, problems []agent.Problem) {
	sec := int64(now.Sub(p.start) / time.Second)
	for p.second < sec { // seconds in which nothing was looked at are empty
		p.second++
		i := p.second % span
		p.fetched[i], p.bytes[i], p.found[i] = 0, 0, 0
		for name, r := range p.sites {
			if r.answers[i] = 0; p.second-r.last > span {
				delete(p.sites, name)
			}
		}
	}
	i := p.second % span
	if s.State != coordinator.StateStarting {
		if p.begun {
			p.fetched[i] += s.Counts.Fetched - p.last.Counts.Fetched
			p.bytes[i] += s.Counts.Bytes - p.last.Counts.Bytes
			p.found[i] += s.Counts.Discovered - p.last.Counts.Discovered
		}
		p.last, p.begun = s, true
	}
	if p.stats, p.running = a, running; len(running) > 0 {
		p.worked = running
	}
	p.quiet.sample(now, s.Counts)
	seen := make(map[uint64]int64, len(running))
	for _, r := range running {
		seen[r.Lease] = r.Answers
		if n := r.Answers - p.leases[r.Lease]; n > 0 {
			of := p.sites[r.Site]
			if of == nil {
				of = &siteRate{}
				p.sites[r.Site] = of
			}
			of.answers[i] += n
			of.last = p.second
		}
	}
	p.leases = seen
	for _, pr := range problems {
		p.problem(now, pr)
	}
}

// maxProblems bounds how many different problems are remembered.
const maxProblems = 20

// problem notes a problem; one like an earlier one is counted with it, and is the last again.
func (p *panel) problem(now time.Time, pr agent.Problem) {
	why := reasonOf(pr)
	detail, step := pr.Detail, stepOf(why, p.dir)
	if step != "" && pr.Kind != crawl.KindCertificate && pr.Kind != crawl.KindOtherName && pr.Kind != crawl.KindExpired {
		detail = "" // the step says more, and the ledger has it
	}
	if pr.Kind != crawl.KindSearch && rests(pr) {
		detail, step = "", asksUntil(pr)+": "+untilThen(p.dir)
	}
	line := problemLine{at: now.Sub(p.start), text: pr.Site + ": " + whatOf(why, detail), step: step, times: 1}
	key := pr.Site + " " + why
	if i := slices.Index(p.keys, key); i >= 0 {
		line.times += p.problems[i].times
		p.keys, p.problems = slices.Delete(p.keys, i, i+1), slices.Delete(p.problems, i, i+1)
	}
	p.keys, p.problems = slices.Insert(p.keys, 0, key), slices.Insert(p.problems, 0, line)
	if len(p.keys) > maxProblems {
		p.keys, p.problems = p.keys[:maxProblems], p.problems[:maxProblems]
	}
}

// picture is the crawl as it was at the last sample.
func (p *panel) picture(now time.Time) *picture {
	s := p.last
	pic := &picture{
		title: p.dir, state: s.State, clock: now.Sub(p.start), sites: s.Sites, busy: p.stats.Busy, bytes: s.Counts.Bytes,
		counts: [4]int64{s.Counts.Fetched, s.Counts.Failed, s.Counts.Excluded, s.Counts.Pending()}, problems: p.problems,
	}
	if !p.begun {
		pic.state = coordinator.StateStarting
	}
	over := float64(min(span, max(1, p.second+1)))
	for i := range span {
		at := p.second - span + 1 + int64(i)
		n := int64(0)
		if at >= 0 {
			n = p.fetched[at%span]
		}
		pic.spark = append(pic.spark, n)
		pic.rate += float64(p.fetched[i]) / over
		pic.speed += float64(p.bytes[i]) / over
	}
	pic.left = cmp.Or(p.quiet.text(now, s, p.running, p.stats.Busy), p.left(now, pic.rate))
	pic.busiest, pic.slowest = p.tables(over)
	return pic
}

// tables are the running sites, once busiest and once slowest first; their rates are of so many seconds.
func (p *panel) tables(over float64) (busiest, slowest []siteLine) {
	at := map[string]int{}
	for _, r := range p.running {
		l := siteLine{site: r.Site, latency: r.Latency, delay: r.Delay}
		if i, ok := at[r.Site]; ok {
			busiest[i].latency = max(busiest[i].latency, r.Latency)
			continue
		}
		if of := p.sites[r.Site]; of != nil {
			sum := int64(0)
			for _, n := range of.answers {
				sum += n
			}
			l.perMin = int64(math.Round(float64(sum) * 60 / over))
		}
		at[r.Site] = len(busiest)
		busiest = append(busiest, l)
	}
	slowest = slices.Clone(busiest)
	slices.SortFunc(busiest, func(a, b siteLine) int { return cmp.Or(cmp.Compare(b.perMin, a.perMin), cmp.Compare(a.site, b.site)) })
	slices.SortFunc(slowest, func(a, b siteLine) int {
		return cmp.Or(cmp.Compare(b.latency, a.latency), cmp.Compare(a.site, b.site))
	})
	return busiest[:min(len(busiest), mostHeight)], slowest[:min(len(slowest), mostHeight)]
}

// left says how long it will take, as far as that is known: to a limit, or, once hardly anything new is found, to the end.
func (p *panel) left(now time.Time, rate float64) string {
	if !p.begun || p.second < 5 || rate <= 0 {
		return ""
	}
	pending, found := p.last.Counts.Pending(), int64(0)
	for _, n := range p.found {
		found += n
	}
	secs, known := 0.0, false
	sooner := func(s float64) {
		if !known || s < secs {
			secs, known = s, true
		}
	}
	if p.lim.MaxPages > 0 {
		sooner(float64(p.lim.MaxPages-p.last.Counts.Fetched) / rate)
	}
	if p.lim.MaxTime > 0 {
		sooner((p.lim.MaxTime - now.Sub(p.start)).Seconds())
	}
	if p.second >= span/2 && float64(found) < 0.1*rate*span { // hardly anything new
		sooner(float64(pending) / rate)
	}
	if !known {
		return "new URLs are still found"
	}
	if secs < 0 {
		secs = 0
	}
	return "about " + clock(time.Duration(secs)*time.Second) + " left"
}

// screen draws pictures on a terminal, each over the one before. Other lines are written above it.
type screen struct {
	w *os.File

	mu     sync.Mutex
	drawn  []string // that stand there
	width  int
	height int // of the panel
}

// size looks how large the terminal is.
func (s *screen) size() (width, height int) {
	width, lines, ok := terminalSize(s.w)
	if !ok {
		width, lines = 80, 24
	}
	return width, panelHeight(lines)
}

// show draws lines over what stands there.
func (s *screen) show(p *picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	width, height := s.size()
	s.height = min(max(s.height, p.wants(width)), height) // it only grows, and seldom
	s.put(p.draw(width, s.height), width)
}

// end shows the last picture, without the lines at its end in which nothing stands.
func (s *screen) end(p *picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	width, height := s.size()
	lines := p.draw(width, min(max(s.height, p.wants(width)), height))
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	s.put(lines, width)
}

// say puts a text into the first line at once.
func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.drawn) == 0 {
		return
	}
	lines := slices.Clone(s.drawn)
	lines[0] = fit(text, max(leastWidth, s.width)-1)
	s.put(lines, s.width)
}

func (s *screen) put(lines []string, width int) {
	var b strings.Builder
	b.WriteString(s.home(width))
	for _, l := range lines {
		b.WriteString(l + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	fmt.Fprint(s.w, b.String())
	s.drawn, s.width = lines, width
}

// home goes back to the first line of what stands there, in a terminal that may have become narrower meanwhile.
func (s *screen) home(width int) string {
	rows := 0
	for _, l := range s.drawn {
		rows += max(1, (cells(l)+width-1)/max(1, width))
	}
	if rows == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", rows)
}

// Write writes other lines, such as those of the log, above the picture.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn == nil {
		return s.w.Write(b)
	}
	if _, err := fmt.Fprintf(s.w, "%s\x1b[J%s\n", s.home(s.width), strings.TrimSuffix(string(b), "\n")); err != nil {
		return 0, err
	}
	lines := s.drawn
	s.drawn = nil
	s.put(lines, s.width)
	return len(b), nil
}
