package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/page/polite"
)

// place is where a task or a lease stands among what was found.
type place struct {
	id    uint64
	site  string // where that decides
	n     int64  // the figure by which it is sorted, the largest first
	lease *LeaseView
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.site, b.site), cmp.Compare(a.id, b.id))
}

// shortlist is the first of what is found: of a hundred thousand tasks a page shows fifty.
type shortlist struct {
	most  int // so many of them; 0: all
	found int // so many were added
	first []place
	cut   bool // some were left out: none comes after the last of first's first so many
}

// shortSlack is how many more than are wanted are kept until they are sorted and cut.
const shortSlack = 1000

// newShortlist is of a part of what is found: limit 0 is all behind skip.
func newShortlist(skip, limit int) *shortlist {
	if limit == 0 || skip > math.MaxInt-shortSlack-limit {
		return &shortlist{}
	}
	return &shortlist{most: skip + limit}
}

// add counts a place, and keeps it if it may be among the first.
func (s *shortlist) add(p place) {
	s.found++
	if s.cut && comparePlaces(p, s.first[s.most-1]) > 0 {
		return
	}
	if s.first = append(s.first, p); s.most > 0 && len(s.first) == s.most+shortSlack {
		slices.SortFunc(s.first, comparePlaces)
		s.first, s.cut = s.first[:s.most], true
	}
}

// after returns the places that come after the first so many, in order.
func (s *shortlist) after(skip int) []place {
	slices.SortFunc(s.first, comparePlaces)
	if s.most > 0 {
		s.first = s.first[:min(s.most, len(s.first))]
	}
	return s.first[min(skip, len(s.first)):]
}

// taskOrders are by what tasks can be sorted: the figure, of which the largest comes first.
var taskOrders = map[string]func(t *ledger.Task) int64{
	"":        func(*ledger.Task) int64 { return 0 },
	"found":   func(*ledger.Task) int64 { return 0 },
	"site":    func(*ledger.Task) int64 { return 0 },
	"pending": func(t *ledger.Task) int64 { return t.Pending },
	"fetched": func(t *ledger.Task) int64 { return t.Fetched },
	"failed":  func(t *ledger.Task) int64 { return t.Failed },
	"bytes":   func(t *ledger.Task) int64 { return t.Bytes },
}

// FindTasks is Tasks for a person: it also looks for sites, sorts, and counts what there is before Skip and Limit.
func (w *window) FindTasks(ctx context.Context, q TasksQuery) (rows []ledger.Task, found int, err error) {
	figure := taskOrders[q.Sort]
	if figure == nil {
		return nil, 0, fmt.Errorf("sort %q is not an order of tasks", q.Sort)
	}
	sorts := q.Sort != "" && q.Sort != "found" // else they stand in that order already
	err = w.board.look(ctx, func() error {
		s := w.board.jobs[q.Job]
		if s == nil {
			return fmt.Errorf("%w: %d", ErrNoJob, q.Job)
		}
		list, find := newShortlist(q.Skip, q.Limit), strings.ToLower(q.Find) // names of sites are in lower case
		for i := range s.rows {
			if t := &s.rows[i]; t.ID > q.After && (q.State == "" || t.State == q.State) && isNamed(t, find) && (!q.Searches || t.Search != nil) {
				p := place{id: uint64(t.ID)}
				if sorts {
					p.n, p.site = figure(t), t.Site
				}
				list.add(p)
			}
		}
		found = list.found
		first := list.after(q.Skip)
		rows = make([]ledger.Task, 0, len(first))
		for _, p := range first {
			at, _ := s.find(uint32(p.id))
			rows = append(rows, s.shown(w.board.rests, s.rows[at]))
		}
		return nil
	})
	return rows, found, err
}

// isNamed reports whether a text in lower case stands in the name of a task's site, or in what its search is for.
func isNamed(t *ledger.Task, find string) bool {
	if strings.Contains(t.Site, find) {
		return true
	}
	s := t.Search
	return s != nil && strings.Contains(strings.ToLower(strings.Join(append(slices.Clone(s.Words), s.Product, s.Site), " ")), find)
}

// TaskView is a task with what it waits for.
type TaskView struct {
	ledger.Task
	Avoid   []string     `json:"avoid,omitempty"`   // nodes it was recalled from, the last first
	Last    string       `json:"last,omitempty"`    // node that had it last
	Trouble string       `json:"trouble,omitempty"` // why the site could not be asked the last time
	Robots  string       `json:"robots"`            // what is known of its robots.txt
	DelayMS int64        `json:"delay_ms"`          // between two requests to it
	WaitMS  int64        `json:"wait_ms"`           // until it may be asked again
	Addrs   []string     `json:"addresses,omitempty"`
	Waits   string       `json:"waits,omitempty"`   // why nobody fetches what is queued: person, job, limit, room, market, other, site, node, nothing or held
	Because crawl.Kind   `json:"because,omitempty"` // why the strategy has given it to no node, as it said last
	Holder  *LeaseView   `json:"holder,omitempty"`  // the lease that keeps the site from being asked for it: of another job, or of a site that counts as the same
	Leases  []LeaseView  `json:"leases"`
	Queue   []QueuedView `json:"queue"` // the URLs that come next
}

// LeaseView is a lease as people see it.
type LeaseView struct {
	ID      uint64 `json:"id"`
	Job     uint32 `json:"job"`
	Task    uint32 `json:"task"`
	Site    string `json:"site"`
	Crawler uint32 `json:"crawler,omitempty"` // of a job of several, whose share of the site it is
	Node    string `json:"node"`
	Attempt uint32 `json:"attempt"`
	Start   int64  `json:"start"` // Unix ms, by the coordinator's clock
	Given   int64  `json:"given"` // URLs
	Held    int64  `json:"held"`  // of them, not reported yet
	Quota   int64  `json:"quota"`
	Budget  int64  `json:"budget_ms"`
	Probe   string `json:"probe,omitempty"`
}

// QueuedView is a URL that waits.
type QueuedView struct {
	URL   string  `json:"url"`
	Depth int     `json:"depth"`
	Tries int     `json:"tries,omitempty"` // that failed
	Score float32 `json:"score,omitempty"`
	Waits string  `json:"waits,omitempty"` // for others of the site: first (pages of the host, which decide whether it is a copy) or like (those like it, until these bring something new); empty: it is among the next that a node gets
}

// Reasons for which nobody fetches what a task has queued.
const (
	waitsPerson  = "person"  // it is manual
	waitsJob     = "job"     // the job does not run
	waitsLimit   = "limit"   // the job has reached a limit
	waitsRoom    = "room"    // the coordinator's disk is full
	waitsMarket  = "market"  // its crawler visits no more pages before the next market
	waitsOther   = "other"   // another lease asks the site, or one that counts as the same, and so many may
	waitsSite    = "site"    // the site must not be asked yet
	waitsNode    = "node"    // the strategy has given it to nobody yet
	waitsNothing = "nothing" // nothing is queued
	waitsHeld    = "held"    // its leases have as much as they take at once
)

// maxNext bounds how many of the URLs that come next are shown.
const maxNext = 100

var robotsWords = map[crawl.RobotsState]string{crawl.RobotsRules: "rules", crawl.RobotsAllowAll: "all allowed", crawl.RobotsUnavailable: "unavailable"}

// Task returns a task, its leases, and the URLs that come next.
func (c *Coordinator) Task(ctx context.Context, id uint32) (v TaskView, err error) {
	err = c.desk.ask(ctx, func(at time.Time) error {
		t := c.f.Task(id)
		if t == nil {
			return fmt.Errorf("%w: %d", ErrNoTask, id)
		}
		j, site, now := c.f.Job(t.Job), c.f.Site(t.Site), c.clock.MS(at)
		pace, ready := j.PaceAt(t.Site), polite.ReadyAt(j.PaceAt(t.Site), site)
		if c.f.ByAddress(t) {
			_, ready = c.shut(j, t, now)
		}
		v = TaskView{Task: Row(c.f, t), Avoid: t.Avoid, Last: t.Last, Trouble: site.Trouble, Robots: robotsWords[site.RobotsState], Addrs: site.Addrs,
			DelayMS: polite.SiteDelay(pace, site).Milliseconds(), WaitMS: max(0, ready-now), Leases: []LeaseView{}, Queue: []QueuedView{}}
		if v.Robots == "" {
			v.Robots = "unknown"
		}
		c.f.LeasesOf(t, func(l *frontier.Lease) { v.Leases = append(v.Leases, c.leaseView(l)) })
		if l := c.holder(j, t, now); l != nil {
			held := c.leaseView(l)
			v.Holder = &held
		}
		if v.Waits = c.waits(at, t, j, &v); v.Waits == waitsNode {
			if d := c.decided.last(id); d != nil {
				v.Because = d.Waits
			}
		}
		next, err := c.f.Queue(id, maxNext)
		for i := range next {
			v.Queue = append(v.Queue, QueuedView{next[i].URL, int(next[i].Depth), int(next[i].Tries), next[i].Score, next[i].Waits})
		}
		if err == nil {
			v.Traps, err = c.f.Traps(id)
		}
		return err
	})
	return v, err
}

func (c *Coordinator) leaseView(l *frontier.Lease) LeaseView {
	crawler := uint32(0)
	if t := c.f.Task(l.Task); t != nil {
		crawler = t.Crawler()
	}
	return LeaseView{Crawler: crawler, ID: l.ID, Job: l.Job, Task: l.Task, Site: l.Site, Node: l.Node, Attempt: l.Attempt, Start: c.clock.Local(l.StartMS).UnixMilli(), Given: l.Given, Held: l.Held, Quota: l.Quota, Budget: l.BudgetMS, Probe: l.Probe}
}

// waits says why nobody fetches what is queued.
func (c *Coordinator) waits(now time.Time, t *frontier.Task, j *frontier.Job, v *TaskView) string {
	r := c.jobs.runs[j.ID]
	switch {
	case t.State != "":
		return waitsPerson
	case t.Queued() <= 0:
		return waitsNothing
	case t.Leases() >= max(1, j.Limits.PerSite):
		return waitsHeld
	case j.State != crawl.JobRunning || r == nil:
		return waitsJob
	case r.limited != "":
		return waitsLimit
	case c.disk.full != "":
		return waitsRoom
	case j.Identity.Market != nil && t.Crawler() > 0 && r.trades(j, t.Crawler(), r.ran(now)) <= 0:
		return waitsMarket
	case v.Holder != nil:
		return waitsOther
	case v.WaitMS > 0:
		return waitsSite
	}
	return waitsNode
}

// LeasesQuery says which leases are asked for.
type LeasesQuery struct {
	Job   uint32                // 0: of all
	Match func(*LeaseView) bool // nil: all
	Skip  int                   // not the first so many
	Limit int                   // at most so many; 0: all
}

// Leases returns the leases that were open a moment ago, the oldest first, and how many there are before Skip and Limit.
func (w *window) Leases(ctx context.Context, q LeasesQuery) (out []LeaseView, found int, err error) {
	err = w.board.look(ctx, func() error {
		list := newShortlist(q.Skip, q.Limit)
		for id, s := range w.board.jobs {
			if q.Job > 0 && id != q.Job {
				continue
			}
			for _, held := range s.held {
				for i := range held {
					if l := &held[i]; q.Match == nil || q.Match(l) {
						list.add(place{id: l.ID, lease: l})
					}
				}
			}
		}
		found = list.found
		first := list.after(q.Skip)
		out = make([]LeaseView, 0, len(first))
		for _, p := range first {
			out = append(out, *p.lease)
		}
		return nil
	})
	return out, found, err
}

// Fetched calls fn for the URLs of a job that were fetched, without keeping the coordinator from its work.
func (c *Coordinator) Fetched(job uint32, fn func(frontier.URL) error) error {
	return c.f.Fetched(job, fn)
}

// Crawlers returns whose tasks are whose, where several crawlers share what a job finds.
func (c *Coordinator) Crawlers(ctx context.Context, job uint32) (of map[uint32]uint32, err error) {
	err = c.desk.ask(ctx, func(time.Time) error {
		of = c.f.Crawlers(job)
		return nil
	})
	return of, err
}

// Account calls fn with a job as the frontier has it now. fn must not keep it.
func (c *Coordinator) Account(ctx context.Context, job uint32, fn func(*frontier.Job)) error {
	return c.desk.ask(ctx, func(time.Time) error {
		if j := c.f.Job(job); j != nil {
			fn(j)
			return nil
		}
		return fmt.Errorf("%w: %d", ErrNoJob, job)
	})
}
