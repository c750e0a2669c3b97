package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/answer"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
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
		jobs, err := co.Jobs(ctx)
		if err == nil {
			jobMetrics(jobs, e)
		}
		a.nodeMetrics(ctx, co, e)
		if err == nil {
			a.shareMetrics(ctx, co, jobs, e) // last: the ledger counts for it, and may take all the time that there is
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(e.b.Bytes())
}

func jobMetrics(jobs []coordinator.JobView, e *exposition) {
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
	each("argosy_job_completion_ratio", "gauge", "URLs of the job that need nothing more, as a share of those that are known.", func(j *coordinator.JobView, put put) {
		put(float64(j.Counts.Discovered-j.Counts.Pending) / float64(max(1, j.Counts.Discovered)))
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
	each := func(name, kind, help string, figure func(n *coordinator.NodeView) float64) {
		for i := range nodes {
			if name == nodeSeen && nodes[i].SeenMS < 0 {
				continue
			}
			e.put(name, kind, help, figure(&nodes[i]), "node", answer.Clip(nodes[i].Node))
		}
	}
	each("argosy_node_leases", "gauge", "Leases that the node holds.", func(n *coordinator.NodeView) float64 { return float64(n.Held) })
	each("argosy_node_places", "gauge", "Leases that the node takes at once.", func(n *coordinator.NodeView) float64 { return float64(n.Leases) })
	each("argosy_node_fetched_total", "counter", "URLs that the node has fetched.", func(n *coordinator.NodeView) float64 { return float64(n.Fetched) })
	each("argosy_node_bytes_total", "counter", "Bytes of bodies that the node has fetched.", func(n *coordinator.NodeView) float64 { return float64(n.Bytes) })
	each("argosy_node_requests_total", "counter", "Requests of the node that were answered or given up.", func(n *coordinator.NodeView) float64 { return float64(n.Requests.All) })
	each("argosy_node_requests_good_total", "counter", "Requests of the node that were answered with a status below 400.", func(n *coordinator.NodeView) float64 { return float64(n.Requests.Good) })
	each("argosy_node_cost_total", "counter", "What the node has cost so far, in the unit of its prices.", func(n *coordinator.NodeView) float64 { return n.Cost })
	each(nodeSeen, "gauge", "How long ago the node was heard of last.", func(n *coordinator.NodeView) float64 { return float64(n.SeenMS) / 1000 })
	e.put("argosy_cost_total", "counter", "What all nodes have cost so far, in the unit of their prices.", cost)
	e.put("argosy_refused_total", "counter", "What nodes have said that was refused, since the coordinator leads.", float64(refused))
	e.put("argosy_quarantined_entries", "gauge", "Entries of the log that the ledger could not take and that were set aside.", float64(aside))
}

// nodeSeen is not there of nodes of which nobody knows it.
const nodeSeen = "argosy_node_seen_seconds"

// shareMetrics are the figures of jobs that run which take a walk over their pages, or over what their strategies expect. They are as old as
// those that the pages show.
func (a *api) shareMetrics(ctx context.Context, co *coordinator.Coordinator, jobs []coordinator.JobView, e *exposition) {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j coordinator.JobView) bool { return j.State != crawl.JobRunning })
	each := func(name, help, label string, of func(*ledger.Shares) []ledger.Share, figure func(*ledger.Share) int64) {
		for i := range jobs {
			all, err := a.shares(ctx, jobs[i].ID)
			if err != nil {
				continue
			}
			sums := answer.Labels(of(all), figure)
			for _, value := range sortedKeys(sums) {
				e.put(name, "gauge", help, float64(sums[value]), "job_id", fmt.Sprint(jobs[i].ID), label, value)
			}
		}
	}
	urls, bytes := func(s *ledger.Share) int64 { return s.URLs }, func(s *ledger.Share) int64 { return s.Bytes }
	each("argosy_job_type_bytes", "Bytes of bodies that the job has fetched, by type.", "type", func(s *ledger.Shares) []ledger.Share { return s.Types }, bytes)
	each("argosy_job_answers", "Answers that the job has got, by status.", "status", func(s *ledger.Shares) []ledger.Share { return s.Statuses }, urls)
	for i := range jobs {
		if at, ok := co.Ending(jobs[i].ID); ok {
			e.put("argosy_job_projected_end_seconds", "gauge", "When nothing of the job will be pending if it goes on as of late, in Unix seconds.", float64(at)/1000, "job_id", fmt.Sprint(jobs[i].ID))
		}
	}
	believed := map[uint32]coordinator.Believed{}
	for i := range jobs {
		if o, err := a.believed(ctx, jobs[i].ID); err == nil && o.Body.Bound > 0 {
			believed[jobs[i].ID] = o.Body
		}
	}
	for _, id := range slices.Sorted(maps.Keys(believed)) {
		e.put("argosy_job_bound_share", "gauge", "What the job's leases are expected to bring, as a share of the best that could be done.", believed[id].Share, "job_id", fmt.Sprint(id))
	}
	for i := range jobs {
		m, err := co.Measurements(ctx, jobs[i].ID)
		if err != nil {
			continue
		}
		for _, x := range m.Accuracy {
			e.put("argosy_job_forecast_factor", "gauge", "By which factor half of what was expected was off at most, once it was measured.", x.Factor, "job_id", fmt.Sprint(jobs[i].ID), "what", x.What, "source", x.Source)
		}
	}
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
		_, err = co.Jobs(ctx)
		if why := co.Waits(); err == nil && why != "" {
			err = errors.New(why)
		}
	}
	if err != nil {
		unready(w, err.Error())
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}
