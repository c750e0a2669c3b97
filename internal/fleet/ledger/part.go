package ledger

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// leaseOf is what a part's lease is for, and what its parts are believed by. Parts of a transaction are gathered in it: a lease has several.
type leaseOf struct {
	job       uint32
	site      string
	search    bool // for a search, or what it has named
	facts     crawl.Facts
	collected int64 // by parts that are not written yet
	dirty     bool
}

const selectLeases = `SELECT id, job, site, search IS NOT NULL, node, incarnation, attempt, epoch, secret, parts FROM leases WHERE id IN (?`

// leaseRows are how many leases a statement asks for, the least first. What is left over asks for the last one again.
var leaseRows = []int{1, 8, 64}

// loadLeases reads the leases of the parts of entries behind a position: one statement for many costs a third of one for each.
func (w *writer) loadLeases(entries []Applied, behind uint64) error {
	ids := map[uint64]bool{}
	for i := range entries {
		if entries[i].Seq > behind {
			for j := range entries[i].Entry.Parts {
				ids[entries[i].Entry.Parts[j].Lease] = true
			}
		}
	}
	for all := slices.Sorted(maps.Keys(ids)); len(all) > 0; {
		most := leaseRows[len(leaseRows)-1]
		n := min(len(all), most)
		if err := w.readLeases(all[:n], leaseRows[slices.IndexFunc(leaseRows, func(size int) bool { return size >= n })]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// readLeases reads leases with a statement for so many.
func (w *writer) readLeases(ids []uint64, size int) error {
	s, err := w.prepare(selectLeases + strings.Repeat(", ?", size-1) + ")")
	if err != nil {
		return err
	}
	args := make([]any, size)
	for i := range args {
		args[i] = int64(ids[min(i, len(ids)-1)])
	}
	rows, err := s.QueryContext(w.ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		of := &leaseOf{}
		f := &of.facts
		if err := rows.Scan(&id, &of.job, &of.site, &of.search, &f.Node, &f.Incarnation, &f.Attempt, &f.Epoch, &f.Secret, &f.Parts); err != nil {
			return err
		}
		w.leases[uint64(id)] = of
	}
	return rows.Err()
}

// believes returns what the lease of a part is for, nil if the part is not to be believed.
func (w *writer) believes(e *crawl.Entry, p *crawl.Part) (*leaseOf, error) {
	of := w.leases[p.Lease]
	if of == nil { // granted since the transaction began, or not a lease of this log
		if err := w.readLeases([]uint64{p.Lease}, 1); err != nil {
			return nil, err
		}
		of = w.leases[p.Lease]
	}
	if of == nil || of.facts.Secret != "" && crawl.Believe(e, p, of.facts) != "" { // leases of an older ledger have no secret
		return nil, nil
	}
	return of, nil
}

// took notes that a part was believed, which has collected so much.
func (of *leaseOf) took(p *crawl.Part, collected int64) {
	of.facts.Parts, of.collected, of.dirty = p.No, of.collected+collected, true
}

// flushLeases writes how far the parts of leases have come.
func (w *writer) flushLeases() error {
	for id, of := range w.leases {
		if !of.dirty {
			continue
		}
		if err := w.exec(`UPDATE leases SET parts = ?, collected = collected + ? WHERE id = ?`, of.facts.Parts, of.collected, int64(id)); err != nil {
			return err
		}
		of.collected, of.dirty = 0, false
	}
	return nil
}

// part writes what a part says, if it is to be believed.
func (w *writer) part(at int64, e *crawl.Entry, p *crawl.Part) error {
	node := e.Node
	of, err := w.believes(e, p)
	if of == nil || err != nil {
		return err
	}
	job, site := of.job, of.site
	links := 0
	for i := range p.Found {
		links += len(p.Found[i].Links)
	}
	for i := range p.Measures {
		if err := w.measure(at, job, node, site, &p.Measures[i]); err != nil {
			return err
		}
	}
	fetched, collected, bytes := int64(0), int64(0), int64(0)
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if err := w.answered(p.Lease, o); err != nil {
			return err
		}
		if o.State.Final() {
			if err := w.askAgain(job, o); err != nil {
				return err
			}
			if err := w.page(job, site, node, p.Lease, at, o); err != nil {
				return err
			}
		} else if o.Record.File != "" {
			if err := w.capture(job, site, node, p.Lease, o); err != nil {
				return err
			}
		}
		if o.State == crawl.Fetched {
			fetched++
			bytes += o.Bytes
			if !of.search || o.Status < 300 || o.Status == http.StatusNotModified {
				collected++
			}
		}
	}
	of.took(p, collected)
	r := learn.OfReport(learn.Worker{Node: node, Site: site}, p, at)
	if fetched > 0 || r.All > 0 {
		a := w.accounts[node]
		w.accounts[node] = account{a.pages + fetched, a.bytes + bytes, a.asked + int64(r.All), a.good + int64(r.Good)}
	}
	w.ord++
	err = w.report(int64(p.Lease), p.No, at, len(p.Outcomes), links, p.Bytes, p.Final, int64(w.seq), w.ord, p.WorkedUS, int64(r.Bits), int64(r.Good), int64(r.All),
		r.Limited, r.CPU, r.Memory)
	if err == nil && p.Final {
		err = w.exec(`UPDATE leases SET ended = ?, reason = ? WHERE id = ? AND ended IS NULL`, at, p.Reason, int64(p.Lease))
	}
	return err
}

const reportColumns = 16

// insertReports are the statements, by how many rows they are for.
var insertReports = map[dialect]map[int]string{sqlite: reportsOf("INSERT OR FAIL"), postgres: reportsOf("INSERT")}

// reportsOf is insertOf for reports: what SQLite keeps to undo one statement it writes to a file.
func reportsOf(word string) map[int]string {
	row, of := "(?"+strings.Repeat(", ?", reportColumns-1)+")", map[int]string{}
	for _, rows := range rowsAtOnce {
		of[rows] = word + ` INTO reports (lease, part, at, outcomes, links, bytes, final, seq, ord, worked_us, bits, good, asked, limited, cpu, memory) VALUES ` +
			row + strings.Repeat(", "+row, rows-1) + ` ON CONFLICT (lease, part) DO NOTHING`
	}
	return of
}

// report writes the row of a report, with others.
func (w *writer) report(values ...any) error {
	if w.reports = append(w.reports, values...); len(w.reports) < rowsAtOnce[0]*reportColumns {
		return nil
	}
	return w.flushReports()
}

func (w *writer) flushReports() error {
	for len(w.reports) > 0 {
		n := atOnce(len(w.reports) / reportColumns)
		if err := w.exec(insertReports[w.kind][n], w.reports[:n*reportColumns]...); err != nil {
			return err
		}
		w.reports = append(w.reports[:0], w.reports[n*reportColumns:]...)
	}
	return nil
}
