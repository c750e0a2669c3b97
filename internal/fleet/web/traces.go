package web

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"argosy/internal/fleet/answer"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/schedule"
)

// Traces are JSON lines in the form of OTLP (opentelemetry-proto 1.x, ExportTraceServiceRequest as JSON): a line for each lease, from the plan
// to the last report in the ledger, with an event for each report. No library of theirs is linked in.

type attribute struct {
	Key   string    `json:"key"`
	Value attrValue `json:"value"`
}

type attrValue struct {
	String string `json:"stringValue,omitempty"`
	Int    string `json:"intValue,omitempty"` // in their JSON, 64 bits are a text
}

type spanEvent struct {
	At         string      `json:"timeUnixNano"`
	Name       string      `json:"name"`
	Attributes []attribute `json:"attributes"`
}

type span struct {
	Trace      string      `json:"traceId"`
	Span       string      `json:"spanId"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"` // 1: internal
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Events     []spanEvent `json:"events,omitempty"`
}

type scopeSpans struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []span `json:"spans"`
}

type resourceSpans struct {
	Resource struct {
		Attributes []attribute `json:"attributes"`
	} `json:"resource"`
	Scopes []scopeSpans `json:"scopeSpans"`
}

func text(key, v string) attribute { return attribute{key, attrValue{String: v}} }
func whole(key string, v int64) attribute {
	return attribute{key, attrValue{Int: strconv.FormatInt(v, 10)}}
}
func nanos(ms int64) string { return strconv.FormatInt(ms*int64(time.Millisecond), 10) }

// planned is the event of the decision that a lease came of.
func planned(d *schedule.Decision) spanEvent {
	e := spanEvent{nanos(d.At), "plan", []attribute{text("argosy.strategy", d.Strategy), whole("argosy.candidates", int64(len(d.Candidates)+d.Omitted)), whole("argosy.left_out", int64(len(d.Filtered)))}}
	if d.Solver != "" {
		e.Attributes = append(e.Attributes, text("argosy.solver", d.Solver))
	}
	if d.Probe != "" {
		e.Attributes = append(e.Attributes, text("argosy.probe", d.Probe))
	}
	return e
}

// spanOf is a lease as a span, with the decision that it came of (nil: it is not remembered). One that goes on ends, so far, with its last
// report. Parts are told at the time of their entries in the log, as the ledger has them.
func spanOf(job uint32, t *ledger.Trace, d *schedule.Decision) resourceSpans {
	var id [16]byte
	binary.BigEndian.PutUint32(id[:], job)
	binary.BigEndian.PutUint64(id[8:], uint64(t.Lease))
	s := span{
		Trace: hex.EncodeToString(id[:]), Span: hex.EncodeToString(id[8:]), Name: "lease", Kind: 1, Start: nanos(t.Started),
		Attributes: []attribute{text("argosy.site", t.Site), whole("argosy.job", int64(job)), whole("argosy.task", int64(t.Task)), whole("argosy.attempt", t.Attempt)},
	}
	if d != nil {
		s.Start = nanos(min(t.Started, d.At))
		s.Events = append(s.Events, planned(d))
	}
	s.Events = append(s.Events, spanEvent{nanos(t.Started), "grant", []attribute{text("argosy.node", t.Node)}})
	end := max(t.Started, t.Ended)
	for _, p := range t.Parts {
		s.Events = append(s.Events, spanEvent{nanos(p.At), "part", []attribute{whole("argosy.requests", p.Asked), whole("argosy.good", p.Good), whole("argosy.bits", p.Bits), whole("argosy.worked_us", p.WorkedUS)}})
		end = max(end, p.At)
	}
	if s.End = nanos(end); t.Ended > 0 {
		s.Attributes = append(s.Attributes, text("argosy.end", t.Reason))
	}
	var r resourceSpans
	r.Resource.Attributes = []attribute{text("service.name", "argosy"), text("service.instance.id", t.Node)}
	r.Scopes = []scopeSpans{{Spans: []span{s}}}
	r.Scopes[0].Scope.Name = "argosy"
	return r
}

// traces answers with the leases of a job.
func (a *api) traces(w http.ResponseWriter, r *http.Request) {
	job, err := strconv.ParseUint(r.PathValue("job"), 10, 32)
	since := int64(0)
	if v := r.URL.Query().Get("since"); v != "" && err == nil {
		since, err = strconv.ParseInt(v, 10, 64)
	}
	if err != nil {
		answer.Refuse(w, http.StatusUnprocessableEntity, "want /traces/JOB, and ?since= with milliseconds since 1970")
		return
	}
	co, err := a.s.Leader()
	if err == nil {
		_, err = a.find(r.Context(), co, uint32(job))
	}
	decided := map[uint64]*schedule.Decision{} // by lease
	if err == nil && a.cfg.Kind != KindOver {
		var ds []schedule.Decision
		ds, _, err = co.Decisions(r.Context(), coordinator.DecisionsQuery{Job: uint32(job)})
		for i := range ds {
			decided[ds[i].Lease] = &ds[i]
		}
		delete(decided, 0) // those that gave no lease
	}
	if err != nil {
		answer.Refuse(w, http.StatusNotFound, fmt.Sprintf("job %d: %v", job, err))
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	c := http.NewResponseController(w)
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	err = a.s.Ledger().Traces(r.Context(), uint32(job), since, func(t *ledger.Trace) error {
		_ = c.SetWriteDeadline(time.Now().Add(chunkPatience)) // a writer that knows no deadlines is a test's
		return to.Encode(map[string]any{"resourceSpans": []resourceSpans{spanOf(uint32(job), t, decided[uint64(t.Lease)])}})
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil && a.cfg.Logger != nil {
		a.cfg.Logger.Debug("traces were told in part", "job", job, "error", err)
	}
}
