package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/parse"
)

// player crawls one site of a web in memory: the real frontier gives out URLs, the real scanner reads them, and the agent's part
// is played. Its seed decides in which order answers come, how many are out at once and how they are reported.
type player struct {
	j     *judge
	host  string
	f     *frontier.Frontier
	rng   *rand.Rand
	seq   uint64
	lease uint64
	no    uint32
	held  []crawl.Target
	sent  map[crawl.Key]bool
	marks *agent.Marks
}

// play crawls all sites of a web, one after the other.
func (j *judge) play(seed uint64) (*verdict, error) {
	v := &verdict{}
	j.stop, j.die = func() {}, func() {}
	for _, host := range keys(j.web.sites) {
		p := &player{j: j, host: host, rng: rand.New(rand.NewPCG(seed, 11)), sent: map[crawl.Key]bool{}, marks: agent.NewMarks()}
		if j.spent {
			p.marks.Spend()
		}
		var err error
		if p.f, err = frontier.Open(frontier.Config{Dir: "f", FS: vfs.NewMem(), Cache: 8 << 20, Recent: 20_000, Spill: 20_000}); err != nil {
			return nil, err
		}
		err = p.run()
		traps, _ := p.f.Traps(1)
		for _, t := range traps {
			v.said += fmt.Sprintf("%s %s: %d answers, %d of them brought nothing, such as %s; %d wait\n", t.Template, t.Part, t.Answers, t.Empty, t.Example, t.Waiting)
		}
		err = errors.Join(err, p.f.URLs(1, func(u frontier.URL) error {
			if u.State == crawl.Excluded && u.Reason != crawl.ReasonTrapYield || u.State == crawl.Failed {
				v.more += fmt.Sprintf("%s %s\n", u.Reason, u.URL)
			}
			return nil
		}))
		if pending := p.f.Job(1).Totals.Pending(); pending > 0 {
			v.ended = fmt.Sprintf("after %d requests", j.requests)
		}
		if err := p.f.Close(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (p *player) run() error {
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://" + p.host + ".trap.test/"}}}
	if len(p.j.web.args) == 2 && p.j.web.args[0] == "--site-pages" {
		_, _ = fmt.Sscan(p.j.web.args[1], &job.Limits.SitePages)
	}
	if _, err := p.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1}); err != nil {
		return err
	}
	if _, err := p.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job}); err != nil {
		return err
	}
	want := 64 << p.rng.IntN(6)
	most := 1 + p.rng.IntN(64) // outcomes in a part
	for p.f.Job(1).Totals.Pending() > 0 && p.j.requests < p.j.max {
		if len(p.held) <= want/2 {
			if err := p.give(want - len(p.held)); err != nil {
				return err
			}
		}
		part := p.part()
		if len(p.held) == 0 {
			part.Final, part.Reason = true, crawl.EndDone
		}
		for n := 1 + p.rng.IntN(most); n > 0 && len(p.held) > 0; n-- {
			i := p.rng.IntN(min(len(p.held), 16)) // as many are asked for at a time
			g := p.held[i]
			p.held = append(p.held[:i], p.held[i+1:]...)
			if err := p.fetch(&part, &g); err != nil {
				return err
			}
		}
		if _, err := p.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{part}}); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) apply(e *crawl.Entry) (frontier.Effects, error) {
	p.seq++
	fx, err := p.f.Apply(p.seq, int64(p.seq), e)
	for _, l := range fx.Granted {
		p.held = append(p.held, l.Targets...)
	}
	for _, r := range fx.Refilled {
		p.held = append(p.held, r.Targets...)
	}
	return fx, err
}

func (p *player) part() crawl.Part {
	p.no++
	return crawl.Part{Lease: p.lease, Attempt: uint32(p.lease), Epoch: 1, Secret: "s", No: p.no}
}

// give lets the lease have more URLs, or makes one.
func (p *player) give(n int) error {
	var id uint32
	p.f.Tasks(func(t *frontier.Task) { id = t.ID })
	targets, err := p.f.Next(id, n)
	if err != nil {
		return err
	}
	e := &crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1}
	switch {
	case p.lease != 0 && p.f.Lease(p.lease) != nil && len(targets) == 0:
		return nil
	case p.lease != 0 && p.f.Lease(p.lease) != nil:
		e.Refills = []crawl.Refill{{Lease: p.lease, Targets: targets}}
	default:
		p.lease++
		p.no = 0
		e.Leases = []crawl.Lease{{
			ID: p.lease, Job: 1, Task: id, Site: p.host + ".trap.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: uint32(p.lease), Secret: "s", Quota: 1 << 30, Targets: targets,
		}}
	}
	_, err = p.apply(e)
	return err
}

// fetch does what an agent does with a target.
func (p *player) fetch(part *crawl.Part, g *crawl.Target) error {
	u, err := crawl.Parse(g.URL)
	if err != nil {
		return err
	}
	a := &answer{status: 400}
	if at, err := url.Parse(g.URL); err == nil { // Go's servers answer 400 as well
		s := p.j.web.sites[p.host]
		a = s.ask(at)
		p.j.note(p.host, s, at.RequestURI(), a)
	}
	o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: max(a.status, 200), HTML: a.kind == "", Mime: a.kind, Digest: digest(a.body), Bytes: int64(len(a.body))}
	found := crawl.Found{Parent: g.Key}
	link := func(to crawl.URL, redirect bool) {
		if k := to.Key(); !p.sent[k] {
			p.sent[k] = true
			found.Links = append(found.Links, crawl.Link{URL: to.String(), Redirect: redirect})
		}
	}
	if a.next != "" {
		to, err := u.Resolve(a.next)
		if err != nil {
			return err
		}
		o.Links++
		link(to, false)
	}
	body := []byte(a.body)
	o.HTML = o.HTML && len(body) > 0
	switch {
	case a.location != "":
		to, err := u.Resolve(a.location)
		if err != nil {
			return err
		}
		o.HTML, o.Redirect = false, to.String()
		p.marks.Other(g, body, &o)
		link(to, true)
	case !o.HTML:
		p.marks.Other(g, body, &o)
	default:
		var page parse.Page
		parse.Scan(body, parse.Options{}, &page)
		o.Links += len(page.Links)
		p.marks.Page(g, u, u, "", body, &page, &o)
		if g.Mark == crawl.MarkTwice {
			p.again(g, u, &o)
		}
		for _, l := range page.Links {
			to, err := u.Resolve(parse.DecodeRef(l.Ref, ""))
			if err != nil || to.Site() != u.Site() {
				continue
			}
			link(to, false)
		}
	}
	if len(found.Links) > 0 {
		part.Found = append(part.Found, found)
	}
	part.Outcomes = append(part.Outcomes, o)
	return nil
}

// again asks for a page once more.
func (p *player) again(g *crawl.Target, u crawl.URL, o *crawl.Outcome) {
	at, err := url.Parse(g.URL)
	if err != nil {
		return
	}
	s := p.j.web.sites[p.host]
	a := s.ask(at)
	p.j.note(p.host, s, at.RequestURI(), a)
	var page parse.Page
	parse.Scan([]byte(a.body), parse.Options{}, &page)
	second := crawl.Outcome{}
	p.marks.Page(&crawl.Target{Mark: crawl.MarkMust}, u, u, "", []byte(a.body), &page, &second)
	agent.Both(o, &second)
}

// digest stands for the digest of a body.
func digest(body string) string { return strconv.FormatUint(xxh3.HashString(body), 16) }

// plays crawls a web in memory by many seeds, and prints the worst of each row, and how often its promise was broken.
func (b *bench) plays(w *web) (broken int, err error) {
	var worst []row
	var often, wasted []int
	for seed := range uint64(b.seeds) {
		j := newJudge(w, b.most)
		if err := b.log(j); err != nil {
			return broken, err
		}
		j.spent = b.spent
		v, err := j.play(b.first + seed)
		if j.file != nil {
			_, _ = j.out.Flush(), j.file.Close()
		}
		if err != nil {
			return broken, fmt.Errorf("%s, seed %d: %w", w.name, b.first+seed, err)
		}
		if w.failed != nil {
			return broken, fmt.Errorf("%s gives no answer, so nothing is judged: %w", w.name, w.failed)
		}
		ended, rows := j.rows(v, b.allowed)
		ended.answers = j.requests
		rows = append(rows, ended)
		if worst == nil {
			worst, often, wasted = slices.Clone(rows), make([]int, len(rows)), make([]int, len(rows))
		}
		for i, r := range rows {
			if r.worse(worst[i]) {
				worst[i] = r
			}
			if r.broken {
				often[i]++
				broken++
			}
			wasted[i] += r.wasted
		}
		if b.verbose {
			fmt.Printf("    | seed %d\n%s\n", b.first+seed, indent(v.said))
		}
	}
	last := len(worst) - 1
	fmt.Printf("%-28s %-22s %13s %8d %7s  %s\n", w.name, "", "", worst[last].answers, "", worst[last].promise)
	for i, r := range worst[:last] {
		r.promise += fmt.Sprintf(" (%d of %d broken", often[i], b.seeds)
		if r.trap {
			r.promise += fmt.Sprintf(", wasted %d on average", wasted[i]/b.seeds)
		}
		r.promise += ")"
		r.print()
	}
	return broken, nil
}

// worse reports whether a row is farther from its promise than another one of the same thing.
func (r row) worse(o row) bool {
	return r.broken && !o.broken || r.broken == o.broken && (r.had < o.had || r.wasted > o.wasted || r.answers > o.answers)
}
