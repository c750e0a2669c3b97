package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/usage"
)

// exposition writes metrics as Prometheus reads them (text format 0.0.4).
type exposition struct {
	b    bytes.Buffer
	last string
}

// put writes a sample. Labels are names and values in turn. No host or URL is a label: they would be without end.
func (e *exposition) put(name, kind, help string, v float64, labels ...string) {
	if name != e.last {
		fmt.Fprintf(&e.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		e.last = name
	}
	e.b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		fmt.Fprintf(&e.b, "%s%s=\"%s\"", sep, labels[i], strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		e.b.WriteByte('}')
	}
	fmt.Fprintf(&e.b, " %g\n", v)
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// metrics answers with the sums that the pages show, as figures: of jobs, and of all nodes together.
func (a *api) metrics(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	e := &exposition{}
	st := a.statusNow()
	e.put("argosy_info", "gauge", "Always 1; the labels say what answers.", 1, "version", st.Version, "kind", st.Kind)
	e.put("argosy_leads", "gauge", "1 if this process leads, 0 if it stands by.", yes(st.Leads))
	e.put("argosy_cpu_seconds_total", "counter", "Processor time of this process.", usage.CPU().Seconds())
	e.put("argosy_memory_bytes", "gauge", "Resident memory of this process.", float64(usage.Memory()))
	if free, known := usage.Free(a.s.Dir()); known {
		e.put("argosy_disk_free_bytes", "gauge", "Room left on the disk of the directory.", float64(free))
	}
	e.put("argosy_event_streams", "gauge", "Clients that hold a stream of events.", float64(a.streams.Load()))
	e.put("argosy_epoch", "gauge", "Number of the term of the coordinator that leads.", float64(st.Epoch))
	e.put("argosy_applied_entry", "gauge", "Sequence in the log of the last entry that is applied.", float64(st.Applied))
	e.put("argosy_leases", "gauge", "Leases that are open.", float64(st.Leases))
	e.put("argosy_waiting_tasks", "gauge", "Tasks that wait for their turn or a node.", float64(st.Waiting))
	e.put("argosy_sites", "gauge", "Sites that are known.", float64(st.Sites))
	if co, err := a.s.Leader(); err == nil {
		if lag, ok := co.Lag(ctx); ok {
			e.put("argosy_log_age_seconds", "gauge", "Age of the oldest entry that the log keeps.", lag.Age.Seconds())
			e.put("argosy_sink_lag_entries", "gauge", "Entries of the log that a sink does not have yet.", float64(lag.Frontier), "sink", "frontier")
			e.put("argosy_sink_lag_entries", "gauge", "Entries of the log that a sink does not have yet.", float64(lag.Ledger), "sink", "ledger")
		}
		a.jobMetrics(ctx, co, e)
		a.nodeMetrics(ctx, co, e)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(e.b.Bytes())
}

func (a *api) jobMetrics(ctx context.Context, co *coordinator.Coordinator, e *exposition) {
	jobs, err := co.Jobs(ctx)
	if err != nil {
		return
	}
	each := func(name, kind, help string, fn func(j *coordinator.JobView, put func(v float64, labels ...string))) {
		for i := range jobs {
			id := fmt.Sprint(jobs[i].ID)
			fn(&jobs[i], func(v float64, labels ...string) {
				e.put(name, kind, help, v, append([]string{"job_id", id}, labels...)...)
			})
		}
	}
	type put = func(v float64, labels ...string)
	each("argosy_job_running", "gauge", "1 while the job runs.", func(j *coordinator.JobView, put put) { put(yes(j.State == crawl.JobRunning)) })
	each("argosy_job_ran_seconds", "gauge", "How long the job has run.", func(j *coordinator.JobView, put put) { put(float64(j.RanMS) / 1000) })
	each("argosy_job_urls", "gauge", "URLs of the job, by their state.", func(j *coordinator.JobView, put put) {
		put(float64(j.Counts.Fetched), "state", "fetched")
		put(float64(j.Counts.Failed), "state", "failed")
		put(float64(j.Counts.Excluded), "state", "excluded")
		put(float64(j.Counts.Pending), "state", "pending")
	})
	each("argosy_job_held_urls", "gauge", "URLs of the job that leases hold, of the pending.", func(j *coordinator.JobView, put put) { put(float64(j.Counts.Held)) })
	each("argosy_job_pages", "gauge", "HTML pages with status 200 of the job.", func(j *coordinator.JobView, put put) { put(float64(j.Counts.Pages)) })
	each("argosy_job_duplicates", "gauge", "Fetched URLs of the job whose bytes were known.", func(j *coordinator.JobView, put put) { put(float64(j.Counts.Duplicates)) })
	each("argosy_job_body_bytes", "gauge", "Bytes of bodies of the job, as transferred.", func(j *coordinator.JobView, put put) { put(float64(j.Counts.Bytes)) })
	each("argosy_job_tasks", "gauge", "Tasks of the job, by their state.", func(j *coordinator.JobView, put put) {
		c := j.Counts
		put(float64(c.Waiting), "state", crawl.TaskWaiting)
		put(float64(c.Crawling), "state", crawl.TaskCrawling)
		put(float64(c.Sleeping), "state", crawl.TaskSleeping)
		put(float64(c.Returned), "state", crawl.TaskFailed)
		put(float64(c.Done), "state", crawl.TaskDone)
		put(float64(c.Manual), "state", crawl.TaskManual)
		put(float64(c.Dropped), "state", crawl.TaskDropped)
	})
	each("argosy_job_reasons", "gauge", "URLs of the job that were refused or failed, by reason.", func(j *coordinator.JobView, put put) {
		for _, reason := range sortedKeys(j.Counts.Reasons) {
			put(float64(j.Counts.Reasons[reason]), "reason", reason)
		}
	})
}

func (a *api) nodeMetrics(ctx context.Context, co *coordinator.Coordinator, e *exposition) {
	nodes, err := co.Nodes(ctx)
	if err != nil {
		return
	}
	states, cost, refused, aside := map[string]int64{}, 0.0, int64(0), int64(0)
	for i := range nodes {
		n := &nodes[i]
		states[n.State]++
		cost += n.Cost
		refused += n.Refused.Count
		aside += n.Quarantine.Entries
	}
	for _, s := range sortedKeys(states) {
		e.put("argosy_nodes", "gauge", "Nodes, by their state.", float64(states[s]), "state", s)
	}
	e.put("argosy_cost_total", "counter", "What all nodes have cost so far, in the unit of their prices.", cost)
	e.put("argosy_refused_total", "counter", "What nodes have said that was refused, since the coordinator leads.", float64(refused))
	e.put("argosy_quarantined_entries", "gauge", "Entries of the log that the ledger could not take and that were set aside.", float64(aside))
}

func sortedKeys(m map[string]int64) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// ready says whether questions are answered here: a coordinator that stands by says that it does.
func (a *api) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	w.Header().Set("Content-Type", "text/plain")
	co, err := a.s.Leader()
	if err == nil {
		if _, err = co.Jobs(ctx); err == nil && co.Waits() != "" {
			err = errors.New(co.Waits())
		}
	}
	if err != nil {
		unready(w, err.Error())
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}
