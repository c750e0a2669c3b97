package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// leastAbsent is from how many ms on a node that is gone and comes back is written down: agents begin anew within seconds.
const leastAbsent = 10_000

// PutFleet writes down the nodes that are there at a time (Unix ms), and the strategy that each job runs with. Nodes that
// were there and are not named are gone.
func (l *Ledger) PutFleet(ctx context.Context, now int64, nodes []crawl.NodeInfo, strategies map[uint32]string) error {
	return l.write(ctx, func(w *writer) error {
		if err := w.exec(`UPDATE fleet SET gone = ? WHERE gone IS NULL`, now); err != nil {
			return err
		}
		for i := range nodes {
			err := w.exec(`INSERT INTO absences (node, gone, came) SELECT node, gone, CAST(? AS BIGINT) FROM fleet WHERE node = ? AND gone <= ? ON CONFLICT DO NOTHING`,
				now, nodes[i].Node, now-leastAbsent)
			if err != nil {
				return err
			}
			err = w.exec(`INSERT INTO fleet (node, info, came) VALUES (?, ?, ?)
ON CONFLICT (node) DO UPDATE SET info = excluded.info, gone = NULL`, nodes[i].Node, asJSON(&nodes[i]), now)
			if err != nil {
				return err
			}
		}
		for job, s := range strategies {
			if err := w.exec(`INSERT INTO strategies (job, strategy) VALUES (?, ?) ON CONFLICT (job) DO UPDATE SET strategy = excluded.strategy`, job, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// FleetNode is a node of a recorded fleet.
type FleetNode struct {
	Info crawl.NodeInfo
	Came int64      // Unix ms
	Gone int64      // 0: it was there at the end
	Away [][2]int64 // when it was gone in between, in the order of time
}

// Fleet returns the nodes that a ledger has recorded, by name.
func (l *Ledger) Fleet(ctx context.Context) (out []FleetNode, err error) {
	rows, err := l.db.QueryContext(ctx, `SELECT info, came, coalesce(gone, 0) FROM fleet ORDER BY node`)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n FleetNode
		var info string
		if err := rows.Scan(&info, &n.Came, &n.Gone); err != nil {
			return nil, l.wrap(err)
		}
		if err := json.Unmarshal([]byte(info), &n.Info); err != nil {
			return nil, l.wrap(unreadable("what a node of the fleet has said", err))
		}
		out = append(out, n)
	}
	if err := rows.Err(); err != nil {
		return nil, l.wrap(err)
	}
	return out, l.absences(ctx, out)
}

// absences tells when nodes, which are in order, were gone that came back.
func (l *Ledger) absences(ctx context.Context, nodes []FleetNode) error {
	rows, err := l.db.QueryContext(ctx, `SELECT node, gone, came FROM absences ORDER BY gone`)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	at := make(map[string]int, len(nodes))
	for i := range nodes {
		at[nodes[i].Info.Node] = i
	}
	for rows.Next() {
		var node string
		var away [2]int64
		if err := rows.Scan(&node, &away[0], &away[1]); err != nil {
			return l.wrap(err)
		}
		if i, ok := at[node]; ok {
			nodes[i].Away = append(nodes[i].Away, away)
		}
	}
	return l.wrap(rows.Err())
}

// Job is a recorded job.
type Job struct {
	ID       uint32
	Strategy string // that it ran with last; empty: a version that did not say has written it
	State    string
	Created  int64 // Unix ms
	Counted  bool  // what its tasks have left is written down, as it is where a run ends
	Limits   crawl.Limits
	Placing  crawl.Placing
}

// Job returns a recorded job.
func (l *Ledger) Job(ctx context.Context, id uint32) (Job, error) {
	j := Job{ID: id}
	var limits, placing string
	var tasks int64
	row := l.db.QueryRowContext(ctx, l.kind.bind(`SELECT coalesce(s.strategy, ''), j.state, j.created, (SELECT count(*) FROM tasks t WHERE t.job = j.id), j.limits, j.placement FROM jobs j LEFT JOIN strategies s ON s.job = j.id WHERE j.id = ?`), int64(id))
	if err := row.Scan(&j.Strategy, &j.State, &j.Created, &tasks, &limits, &placing); err != nil {
		return j, l.wrap(err)
	}
	j.Counted = tasks > 0 && j.State != crawl.JobRunning // else it is what an earlier run has left
	if err := json.Unmarshal([]byte(limits), &j.Limits); err != nil {
		return j, l.wrap(unreadable(fmt.Sprintf("the limits of job %d", id), err))
	}
	if err := json.Unmarshal([]byte(placing), &j.Placing); err != nil {
		return j, l.wrap(unreadable(fmt.Sprintf("the placement of job %d", id), err))
	}
	return j, nil
}

// Span is what a lease did in all: when it worked, how long, and what for.
type Span struct {
	Task           uint32
	Node, Site     string
	Epoch          uint64 // of the leader that has given it
	Started, Ended int64  // Unix ms; it ends with its last report, whenever it was taken back after that
	WorkedUS       int64
	Given          int64 // URLs that it was given until it ended
	Asked, Good    int64
	Bits           int64
	Pending        int64 // URLs of its task that were left when the run ended
}

// Spans calls fn for each lease of a job that has asked for a page, in the order of their beginning.
func (l *Ledger) Spans(ctx context.Context, job uint32, fn func(*Span) error) error {
	back, err := l.setBack(ctx)
	if err != nil {
		return err
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT l.task, l.node, l.site, l.epoch, l.started, `+firstAndLast+`, sum(r.worked_us), l.found, sum(r.asked),
sum(r.good), sum(r.bits), coalesce(max(t.pending), 0) FROM leases l JOIN reports r ON r.lease = l.id LEFT JOIN tasks t ON t.id = l.task
WHERE l.job = ? GROUP BY l.id, l.task, l.node, l.site, l.epoch, l.started, l.found HAVING sum(r.asked) > 0 ORDER BY l.started, l.id`), int64(job))
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	var all []Span // where the clock was set back they are not in order
	for rows.Next() {
		var s Span
		var e edges
		if err := rows.Scan(&s.Task, &s.Node, &s.Site, &s.Epoch, &s.Started, &e.first, &e.firstAt, &e.last, &s.Ended, &s.WorkedUS, &s.Given, &s.Asked, &s.Good, &s.Bits, &s.Pending); err != nil {
			return l.wrap(err)
		}
		if len(back) > 0 {
			s.Started, s.Ended = back.before(s.Started, e.first, e.firstAt), back.steady(s.Ended, e.last)
			all = append(all, s)
		} else if err := fn(&s); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return l.wrap(err)
	}
	slices.SortStableFunc(all, func(a, b Span) int { return cmp.Compare(a.Started, b.Started) })
	for i := range all {
		if err := fn(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// Looked is a lease that has asked for no page: it has looked up the addresses of a site, or measured.
type Looked struct {
	Node, Site     string
	Resolves       bool  // it has looked up addresses
	Started, Ended int64 // Unix ms
}

// Looks calls fn for each lease of a job that has done that and ended, in the order of their beginning.
func (l *Ledger) Looks(ctx context.Context, job uint32, fn func(*Looked) error) error {
	back, err := l.setBack(ctx)
	if err != nil {
		return err
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT l.node, l.site, l.probe, l.started, l.ended, `+firstAndLast+` FROM leases l
WHERE l.job = ? AND l.probe <> 0 AND l.ended IS NOT NULL ORDER BY l.started, l.id`), int64(job))
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var x Looked
		var e edges
		var kind int
		var lastAt int64
		if err := rows.Scan(&x.Node, &x.Site, &kind, &x.Started, &x.Ended, &e.first, &e.firstAt, &e.last, &lastAt); err != nil {
			return l.wrap(err)
		}
		if len(back) > 0 && e.last > 0 {
			x.Started, x.Ended = back.before(x.Started, e.first, e.firstAt), back.after(x.Ended, e.last, lastAt)
		}
		x.Resolves = kind == resolves
		if err := fn(&x); err != nil {
			return err
		}
	}
	return l.wrap(rows.Err())
}

// Addresses returns the addresses that a job's sites were asked at, in their order.
func (l *Ledger) Addresses(ctx context.Context, job uint32) (map[string][]string, error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT DISTINCT site, ip FROM pages WHERE job = ? AND site <> '' AND ip <> '' ORDER BY site, ip`), int64(job))
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[string][]string{}
	for rows.Next() {
		var site, addr string
		if err := rows.Scan(&site, &addr); err != nil {
			return nil, l.wrap(err)
		}
		out[site] = append(out[site], addr)
	}
	return out, l.wrap(rows.Err())
}

// Times is what the steps of a site's requests tell.
type Times struct {
	Varies  float64 // how far they lie apart within a lease, as the standard deviation of the logarithm of what a request takes; less than 0: no lease has had two pages
	Answers float64 // share of an httpping that the answer takes, over a connection that is open, in the middle; 0: of none is known what it took to open it
}

// Times returns what the steps of requests tell of each site of a job that has answered.
func (l *Ledger) Times(ctx context.Context, job uint32) (map[string]Times, error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT site, lease, timing FROM pages WHERE job = ? AND state = 'fetched' AND timing IS NOT NULL AND lease IS NOT NULL ORDER BY site, lease`), int64(job))
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	of := map[string]*steps{}
	for rows.Next() {
		var site, timing string
		var lease int64
		if err := rows.Scan(&site, &lease, &timing); err != nil {
			return nil, l.wrap(err)
		}
		var each [7]int32
		if err := json.Unmarshal([]byte(timing), &each); err != nil {
			return nil, l.wrap(unreadable("the times of a page of "+site, err))
		}
		if of[site] == nil {
			of[site] = new(steps)
		}
		of[site].see(lease, [6]int32(each[:6]), each[6])
	}
	out := make(map[string]Times, len(of))
	for site, s := range of {
		out[site] = s.times()
	}
	return out, l.wrap(rows.Err())
}

// steps sums up the steps of a site's requests, lease by lease.
type steps struct {
	lease          int64
	sum, square, n float64   // of the logarithms of what this lease's took
	squares, free  float64   // of the leases before it
	answers        []float32 // shares of an httpping that answers were, of requests of whose connection it is known what it took to open it
}

func (s *steps) see(lease int64, timing [6]int32, opened int32) {
	if lease != s.lease {
		s.end()
		s.lease = lease
	}
	us := 0.0
	for _, step := range timing {
		us += float64(step)
	}
	if us > 0 {
		ln := math.Log(us)
		s.sum, s.square, s.n = s.sum+ln, s.square+ln*ln, s.n+1
	}
	if ms := learn.Ping(timing, opened); ms > 0 {
		s.answers = append(s.answers, float32(learn.Answer(timing)/1000/ms))
	}
}

// end ends a lease.
func (s *steps) end() {
	if s.n > 1 {
		s.squares, s.free = s.squares+s.square-s.sum*s.sum/s.n, s.free+s.n-1
	}
	s.sum, s.square, s.n = 0, 0, 0
}

func (s *steps) times() (t Times) {
	if s.end(); s.free > 0 {
		t.Varies = math.Sqrt(max(0, s.squares/s.free))
	} else {
		t.Varies = -1
	}
	if n := len(s.answers); n > 0 {
		slices.Sort(s.answers)
		t.Answers = float64(s.answers[(n-1)/2])
	}
	return t
}

// LeaseHeld is a lease of a node that leases were taken from since nothing was heard of it any more.
type LeaseHeld struct {
	Started, Ended int64 // Unix ms
	Told           int64 // when it reported last; 0: it did not
	Dead           bool  // it is one of those
}

// Died returns the leases of a job that nodes had of which nothing was heard any more, for some of them, by the nodes' names.
func (l *Ledger) Died(ctx context.Context, job uint32) (map[string][]LeaseHeld, error) {
	back, err := l.setBack(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT l.node, CASE WHEN l.reason = ? THEN 1 ELSE 0 END, l.started, coalesce(l.ended, 0), `+firstAndLast+` FROM leases l
WHERE l.job = ? AND l.node IN (SELECT node FROM leases WHERE job = ? AND reason = ?) ORDER BY l.id`), crawl.EndDead, int64(job), int64(job), crawl.EndDead)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[string][]LeaseHeld{}
	for rows.Next() {
		var node string
		var dead int
		var h LeaseHeld
		var e edges
		if err := rows.Scan(&node, &dead, &h.Started, &h.Ended, &e.first, &e.firstAt, &e.last, &h.Told); err != nil {
			return nil, l.wrap(err)
		}
		if len(back) > 0 && e.last > 0 {
			h.Started, h.Ended, h.Told = back.before(h.Started, e.first, e.firstAt), back.after(h.Ended, e.last, h.Told), back.steady(h.Told, e.last)
		}
		h.Dead = dead == 1
		out[node] = append(out[node], h)
	}
	return out, l.wrap(rows.Err())
}

// GoneOn returns when somebody had a job go on, Unix ms: one that was paused or had reached a limit, and one that had nothing left to do but what
// was released then.
func (l *Ledger) GoneOn(ctx context.Context, job uint32) (at []int64, err error) {
	resume, retry := fmt.Sprintf("resume job %d", job), fmt.Sprintf("retry job %d", job) // as package web names orders
	back, err := l.setBack(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT seq, at FROM orders WHERE undone = 0 AND (what IN (?, ?) OR what LIKE ? OR what LIKE ?) ORDER BY at`), resume, retry, retry+":%", retry+",%")
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq, ms int64
		if err := rows.Scan(&seq, &ms); err != nil {
			return nil, l.wrap(err)
		}
		at = append(at, back.steady(ms, seq))
	}
	slices.Sort(at)
	return at, l.wrap(rows.Err())
}

// Facts calls fn for every fact of measurement of a job, and of nodes by themselves, in the order in which they were learned. What other jobs
// of the fleet have measured is none of them, though the fleet has learned from it (Sharing says which have asked its sites before).
// Delays that requests tell come from the pages that are kept; all else is as the fold of the fleet had it.
func (l *Ledger) Facts(ctx context.Context, job uint32, fn func(learn.Fact) error) error {
	back, err := l.setBack(ctx)
	if err != nil {
		return err
	}
	args := []any{int64(job), int64(job), int64(job), int64(job), int64(speed)}
	for _, reason := range crawl.Concludes {
		args = append(args, reason)
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`
SELECT r.seq AS seq, r.ord AS ord, 1 AS rank, r.at AS at, l.node AS node, l.site AS site, '' AS other, 'report' AS kind, r.bits * 1.0 AS value,
r.worked_us / 1e6 AS seconds, r.good AS good, r.asked AS asked, r.limited AS limited, r.cpu AS cpu, r.memory AS memory, '' AS timing
FROM reports r JOIN leases l ON l.id = r.lease WHERE l.job = ? AND (r.asked > 0 OR r.worked_us > 0 AND l.probe = 0)
UNION ALL SELECT m.seq, m.ord, 2, m.at, m.node, m.site, CASE WHEN m.kind = 'bs' THEN m.store ELSE m.to_node END, m.kind, m.value, m.seconds, 0, 0, m.limited, 0, 0, ''
FROM measurements m WHERE m.job IN (0, ?) AND (m.kind = 'bc' OR m.kind = 'refused' OR m.kind = 'httpping' OR m.kind = 'bs' AND m.url = '')
UNION ALL SELECT p.seq, p.ord, 0, coalesce(r.at, p.fetched_at), p.node, p.site, '', 'timing', 0, 0, 0, 0, 0, 0, 0, p.timing
FROM pages p LEFT JOIN (SELECT DISTINCT seq, at FROM reports) r ON r.seq = p.seq WHERE p.job = ? AND p.state = 'fetched' AND p.timing IS NOT NULL
UNION ALL SELECT r.seq, r.ord, 3, r.at, l.node, l.site, '', 'tried', l.probe * 1.0, 0, 0, 0, 0, 0, 0, ''
FROM reports r JOIN leases l ON l.id = r.lease WHERE l.job = ? AND r.final = 1 AND l.probe >= ? AND l.reason IN (?`+strings.Repeat(", ?", len(crawl.Concludes)-1)+`)
ORDER BY 1, 2, 3`), args...)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	j, err := l.Job(ctx, job)
	if err != nil {
		return err
	}
	for rows.Next() {
		f, ok, err := scanFact(rows, j.Placing.Product, back)
		if err != nil {
			return l.wrap(err)
		}
		if !ok {
			continue
		}
		if err := fn(f); err != nil {
			return err
		}
	}
	return l.wrap(rows.Err())
}

// Root returns what the root pages of sites hold on average that a job has had, bits; 0 if it has had none. That is what probes fetch.
func (l *Ledger) Root(ctx context.Context, job uint32) (bits float64, err error) {
	err = l.db.QueryRowContext(ctx, l.kind.bind(`
SELECT CAST(coalesce(8 * avg(bytes), 0) AS DOUBLE PRECISION) FROM pages
WHERE job = ? AND state = 'fetched' AND status < 400 AND url LIKE '%/' AND length(url) - length(replace(url, '/', '')) = 3`), int64(job)).Scan(&bits)
	return bits, l.wrap(err)
}

// scanFact reads a row of Facts; ok is false where it says nothing.
func scanFact(rows *sql.Rows, product string, back setBack) (f learn.Fact, ok bool, err error) {
	var seq, ord, rank int64
	var kind, other, timing string
	var value, seconds float64
	err = rows.Scan(&seq, &ord, &rank, &f.At, &f.Node, &f.Site, &other, &kind, &value, &seconds, &f.Good, &f.All, &f.Limited, &f.CPU, &f.Memory, &timing)
	if err != nil {
		return f, false, err
	}
	f.At = back.steady(f.At, seq)
	switch kind {
	case "report":
		f.Kind, f.Product, f.Bits, f.Seconds = learn.Report, product, value, seconds
	case "timing":
		var steps [7]int32 // older ledgers have six: of a connection that was open nothing is known
		if err := json.Unmarshal([]byte(timing), &steps); err != nil {
			return f, false, unreadable("the times of a page of "+f.Site, err)
		}
		f, ok = learn.OfTiming(learn.Worker{Node: f.Node, Site: f.Site}, [6]int32(steps[:6]), steps[6], f.At)
		return f, ok, nil
	case "tried":
		f = learn.Ended(learn.Worker{Node: f.Node, Site: f.Site}, value == delay, f.At)
	case crawl.MeasureBC:
		f.Kind, f.Product, f.Bits, f.Seconds = learn.Crawl, product, math.Round(value*seconds), seconds
	case crawl.MeasureRefused:
		f.Kind, f.Product, f.Seconds, f.Limited, f.All = learn.Refused, product, 0, false, value
	case crawl.MeasureBS:
		f.Kind, f.Site, f.To, f.Bits, f.Seconds, f.Limited = learn.Store, "", other, math.Round(value*seconds), seconds, false
	default:
		f.Kind, f.Product, f.Seconds, f.Limited = learn.Delay, product, value/1000, false
		if other != "" {
			f.Kind, f.Site, f.To = learn.Distance, "", other
		}
	}
	return f, true, nil
}

// unreadable says that something is not what was written there.
func unreadable(what string, err error) error {
	return fmt.Errorf("%w: %s cannot be read: %v", ErrDamaged, what, err)
}
