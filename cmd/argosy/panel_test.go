package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/coordinator"
)

// busyPanel is a panel of a crawl with so many sites that has run for two minutes.
func busyPanel(sites int, lim crawl.Limits) (*panel, time.Time) {
	start := time.Unix(1000, 0)
	p := newPanel("an-archive", lim, start)
	now := start
	for sec := range 120 {
		now = start.Add(time.Duration(sec) * time.Second)
		s := coordinator.Status{State: "running", Sites: sites, Counts: crawl.Counts{Fetched: int64(100 * sec), Discovered: int64(1000 * sec), Failed: 7, Excluded: 900, Bytes: int64(sec) << 20}}
		var running []agent.SiteStats
		for i := range sites {
			running = append(running, agent.SiteStats{Lease: uint64(i), Site: fmt.Sprintf("a-rather-long-name-of-site-%d.some-domain.example:8088", i), Answers: int64(sec * (i + 1)), Latency: time.Duration(i) * 37 * time.Millisecond, Delay: time.Second})
		}
		var problems []agent.Problem
		if sec%50 == 3 {
			problems = append(problems, agent.Problem{Site: "näme.例え.example", Kind: crawl.KindCertificate, Detail: "TLS x: certificate: tls: failed to verify certificate: x509: certificate has expired \x1b[31m or\nis not yet valid"})
		}
		p.sample(now, s, agent.Stats{Busy: 12}, running, problems)
	}
	return p, now
}

// At every size a picture has exactly its lines, and none of them reaches the last column or has a control character.
func TestPictureFits(t *testing.T) {
	for _, sites := range []int{0, 1, 3, 200} {
		p, now := busyPanel(sites, crawl.Limits{MaxDepth: -1})
		for columns := 1; columns <= 220; columns++ {
			for _, lines := range []int{1, 5, 12, 24, 60} {
				height := panelHeight(lines)
				pic := p.picture(now)
				if columns%2 == 0 {
					pic.note = strings.Repeat("a long note ", 30)
				}
				got := pic.draw(columns, height)
				if len(got) != height {
					t.Fatalf("%d sites, %d columns: %d lines, want %d", sites, columns, len(got), height)
				}
				for _, l := range got {
					if n := cells(l); n > max(columns, leastWidth)-1 || strings.ContainsAny(l, "\x1b\n\r\t") {
						t.Fatalf("%d sites, %d columns: %d cells: %q", sites, columns, n, l)
					}
				}
			}
		}
	}
}

// The picture has the rate of the last minute, the sites in their order, and problems once each with how often they came.
func TestPictureSays(t *testing.T) {
	p, now := busyPanel(30, crawl.Limits{MaxDepth: -1, MaxPages: 14_900})
	text := strings.Join(p.picture(now).draw(120, 24), "\n")
	for _, want := range []string{"11,900 fetched", "7 failed", "900 excluded", "106,193 pending", "100/s", "1.0 MiB/s", "about 0:29 left", "1,800", "1.1s", "3× näme.例え.example: its certificate is not trusted"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	pic := p.picture(now)
	if pic.busiest[0].perMin != 30*60 || pic.slowest[0].latency != 29*37*time.Millisecond || len(pic.problems) != 1 {
		t.Errorf("busiest %+v, slowest %+v, %d problems", pic.busiest[0], pic.slowest[0], len(pic.problems))
	}
	if endless, now := busyPanel(1, crawl.Limits{MaxDepth: -1}); !strings.Contains(endless.left(now, 100), "still found") {
		t.Error("while URLs are found the end is not known")
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"例え話", 5, "例え…"}, {"例え話", 6, "例え話"}, {"a\x1bb\nc", 9, "ab c"}, {"e\u0301e\u0301", 2, "e\u0301e\u0301"}, {"", 4, ""}} {
		if got := fit(c.text, c.columns); got != c.want || cells(got) > c.columns {
			t.Errorf("fit(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// A step that does not fit beside its problem has lines of its own, at most two; a problem that has no room is left out whole.
func TestTroublesKeepTheirSteps(t *testing.T) {
	t.Parallel()
	p := &picture{problems: []problemLine{
		{text: "a.test: the name does not exist", step: "check the name; --resolve HOST=IP gives it an address, --dns SERVER asks another one", times: 1},
		{text: "b.test: nothing listens there", step: "check the port", times: 2},
	}}
	for _, c := range []struct {
		columns, lines int
		want           []string
	}{
		{200, 4, []string{"! 0:00 a.test: the name does not exist → check the name; --resolve HOST=IP gives it an address, --dns SERVER asks another one", "! 0:00 2× b.test: nothing listens there → check the port"}},
		{60, 4, []string{"! 0:00 a.test: the name does not exist", "  → check the name; --resolve HOST=IP gives it an address,", "    --dns SERVER asks another one", "! 0:00 2× b.test: nothing listens there → check the port"}},
		{60, 3, []string{"! 0:00 a.test: the name does not exist", "  → check the name; --resolve HOST=IP gives it an address,", "    --dns SERVER asks another one"}},
		{60, 1, []string{"! 0:00 a.test: the name does not exist"}},
		{40, 3, []string{"! 0:00 a.test: the name does not exist", "  → check the name; --resolve HOST=IP", "    gives it an address, --dns SERVER asks another one"}},
	} {
		if got := p.troubles(c.columns, c.lines); !slices.Equal(got, c.want) {
			t.Errorf("%d columns, %d lines: %q, want %q", c.columns, c.lines, got, c.want)
		}
	}
}

// In as many lines as a picture likes to have, a problem's step has room at every width.
func TestStepHasRoom(t *testing.T) {
	t.Parallel()
	site := siteLine{site: "a.test"}
	p := &picture{busiest: []siteLine{site}, slowest: []siteLine{site}, problems: []problemLine{{
		text: "b.test: the name does not exist", times: 4,
		step: "check the name; --resolve HOST=IP gives it an address, --dns SERVER asks another one",
	}}}
	for columns := 40; columns <= mostColumns; columns++ {
		if got := strings.Join(p.draw(columns, p.wants(columns)), "\n"); !strings.Contains(got, "→ check the name") {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}
