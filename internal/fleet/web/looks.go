package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/recorded"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// TaskPath names a task.
type TaskPath struct {
	Task uint32 `path:"task" minimum:"1" maximum:"4294967295"`
}

// Found is a part of what was found; how many there are is in a field of the answer's head, so that the body stays a list.
type Found[T any] struct {
	Total string `header:"X-Total-Count" doc:"how many there are"`
	Body  []T
}

// Timeline is what a job has done over time.
type Timeline struct {
	WidthMS int64        `json:"width_ms"` // of a bin
	Bins    []ledger.Bin `json:"bins"`     // those in which there was something
}

// StrategyView is a strategy, for a list to choose from.
type StrategyView struct {
	Name   string   `json:"name"`
	Cost   string   `json:"cost"`
	Solver string   `json:"solver"`
	Where  []string `json:"filters,omitempty"`
}

// registerLooks adds what shows how a job gets on.
func (a *api) registerLooks(h huma.API, get func(id, path, what string) huma.Operation) {
	huma.Register(h, get("tasks", "/jobs/{id}/tasks", "The tasks of a job"), a.tasks)
	register(h, get("task", "/tasks/{task}", "A task: its leases, the URLs that come next, and why they wait"), func(ctx context.Context, in *TaskPath) (*out[coordinator.TaskView], error) {
		return lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (coordinator.TaskView, error) {
			return co.Task(ctx, in.Task)
		})
	})
	huma.Register(h, get("leases", "/leases", "The leases that are open"), a.leases)
	register(h, get("series", "/series", "How far a job, or all of them together, were at some times since the coordinator began"), func(ctx context.Context, in *struct {
		Job   uint32 `query:"job" maximum:"4294967295" doc:"0: all jobs together"`
		After int64  `query:"after" minimum:"0" doc:"only what is later, in Unix ms: whoever asks again passes the last one that it has"`
	}) (*out[[]coordinator.Sample], error) {
		return lead(ctx, a, func(_ context.Context, co *coordinator.Coordinator) ([]coordinator.Sample, error) {
			return co.Series(in.Job, in.After), nil
		})
	})
	huma.Register(h, get("strategies", "/strategies", "The scheduling strategies"), func(_ context.Context, in *struct {
		Part
		Find string `query:"find" maxLength:"64" doc:"stands in the name"`
	}) (*Found[StrategyView], error) {
		v := []StrategyView{}
		for _, name := range strategy.Names() {
			_, comp, _ := strategy.Describe(name)
			s := StrategyView{Name: name, Cost: comp.Cost.Name, Solver: comp.Solver.Name}
			for _, f := range comp.Filters {
				s.Where = append(s.Where, f.Name)
			}
			v = append(v, s)
		}
		return partOf(in.Part, finding(v, in.Find, func(s *StrategyView) string { return s.Name })), nil
	})
	register(h, get("recording", "/jobs/{id}/recording", "What a job has recorded for replays"), a.recording)
	shares := func(id, what string, of func(*ledger.Shares) []ledger.Share) {
		huma.Register(h, get(id, "/jobs/{id}/"+id, what), func(ctx context.Context, in *struct {
			JobPath
			Part
			Find string `query:"find" maxLength:"128" doc:"stands in the name"`
		}) (*Found[ledger.Share], error) {
			all, err := a.shares(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return partOf(in.Part, finding(of(all), in.Find, func(s *ledger.Share) string { return s.Name })), nil
		})
	}
	shares("types", "What a job has fetched, by type", func(s *ledger.Shares) []ledger.Share { return s.Types })
	shares("statuses", "What a job has fetched, by status", func(s *ledger.Shares) []ledger.Share { return s.Statuses })
	shares("fetchers", "What a job has fetched, by the node that did", func(s *ledger.Shares) []ledger.Share { return s.Fetchers })
	register(h, get("timeline", "/jobs/{id}/timeline", "What a job has fetched over time"), func(ctx context.Context, in *struct {
		JobPath
		Bins int    `query:"bins" minimum:"1" maximum:"1000" default:"200"`
		Site string `query:"site" maxLength:"256" doc:"only what was done at this site"`
		Node string `query:"node" maxLength:"64" doc:"only what this node has done"`
	}) (*out[Timeline], error) {
		return heavy(ctx, a, a.about(ctx, in.ID, "timeline", in.Bins, in.Site, in.Node), func(ctx context.Context) (t Timeline, err error) {
			t.Bins, t.WidthMS, err = a.s.Ledger().Timeline(ctx, in.ID, ledger.TimelineQuery{Site: in.Site, Node: in.Node, Bins: in.Bins})
			return t, err
		})
	})
	register(h, get("measurements", "/jobs/{id}/measurements", "What the strategy of a job knows by measuring: where nodes and sites are, and what it expected before it was measured"), a.measurements)
	register(h, get("believed", "/jobs/{id}/believed", "How near the leases of a job come to the best that its strategy believes could be done"), func(ctx context.Context, in *JobPath) (*out[coordinator.Believed], error) {
		return a.believed(ctx, in.ID)
	})
	register(h, get("cells", "/jobs/{id}/cells", "What each node has fetched of each site, of the sites with most URLs"), func(ctx context.Context, in *struct {
		JobPath
		Sites int `query:"sites" minimum:"1" maximum:"500" default:"100"`
	}) (*out[[]ledger.Cell], error) {
		return heavy(ctx, a, a.about(ctx, in.ID, "cells", in.Sites), func(ctx context.Context) ([]ledger.Cell, error) {
			return a.s.Ledger().Cells(ctx, in.ID, in.Sites)
		})
	})
}

// MeasurementsQuery says which part of measurements is asked for.
type MeasurementsQuery struct {
	JobPath
	Limit int    `query:"limit" minimum:"1" maximum:"1000" doc:"at most so many nodes, sites and forecasts each; all, if it is not given"`
	Skip  int    `query:"skip" minimum:"0" doc:"not the first so many of each"`
	Find  string `query:"find" maxLength:"256" doc:"only nodes and sites with this in their name, and forecasts of those"`
}

// measurements answers with what the strategy of a job knows by measuring.
func (a *api) measurements(ctx context.Context, in *MeasurementsQuery) (*out[coordinator.Measurements], error) {
	o, err := heavy(ctx, a, a.about(ctx, in.ID, "measurements"), func(ctx context.Context) (coordinator.Measurements, error) {
		co, err := a.s.Leader()
		if err != nil {
			return coordinator.Measurements{}, err
		}
		return co.Measurements(ctx, in.ID)
	})
	if err != nil {
		return nil, err
	}
	v, p := o.Body, Part{Limit: in.Limit, Skip: in.Skip} // a copy: others are given the same
	located := func(l *coordinator.Located) string { return l.Name }
	v.Nodes, v.Sites = part(p, finding(v.Nodes, in.Find, located)), part(p, finding(v.Sites, in.Find, located))
	v.Forecasts = part(p, finding(v.Forecasts, in.Find, func(f *coordinator.Forecast) string { return f.Node + " " + f.Site }))
	return &out[coordinator.Measurements]{v}, nil
}

// believed answers with what a job's strategy believes of its leases.
func (a *api) believed(ctx context.Context, job uint32) (*out[coordinator.Believed], error) {
	return heavy(ctx, a, a.about(ctx, job, "believed"), func(ctx context.Context) (coordinator.Believed, error) {
		co, err := a.s.Leader()
		if err != nil {
			return coordinator.Believed{}, err
		}
		return co.Believed(ctx, job)
	})
}

// shares answers with what a job has fetched, divided in three ways.
func (a *api) shares(ctx context.Context, job uint32) (*ledger.Shares, error) {
	o, err := heavy(ctx, a, a.about(ctx, job, "shares"), func(ctx context.Context) (ledger.Shares, error) { return a.s.Ledger().Shares(ctx, job) })
	if err != nil {
		return nil, err
	}
	return &o.Body, nil
}

// mostFacts bounds a recording that is asked for over the network, about 200 bytes each in the answer; whoever can read the ledger is not
// bound by it.
const mostFacts = 200_000

// mostLeft is of how many tasks a recording says what they have left, those that have most.
const mostLeft = 10_000

// recording answers with what a job has recorded for replays, to one who asks at a time: it is large.
func (a *api) recording(ctx context.Context, in *JobPath) (*out[sim.Recording], error) {
	leave, ok := a.recordings.Try()
	if !ok {
		return nil, huma.Error503ServiceUnavailable("another recording is being read: ask again soon")
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	r, err := recorded.Read(ctx, a.s.Ledger(), in.ID, mostFacts)
	switch {
	case errors.Is(err, recorded.ErrTooLong):
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("job %d: more facts than go over the network (%d): replay the coordinator's directory, or the ledger in PostgreSQL", in.ID, mostFacts))
	case errors.Is(err, recorded.ErrOlder), errors.Is(err, sim.ErrNothingRecorded):
		return nil, huma.Error409Conflict(fmt.Sprintf("job %d: no lease of it has told anything yet, or a version that did not keep what a replay needs has recorded it", in.ID))
	case errors.Is(err, sim.ErrUnsound):
		return nil, huma.Error409Conflict(fmt.Sprintf("job %d: %v", in.ID, err))
	case err != nil:
		return nil, problem(err)
	}
	if co, err := a.s.Leader(); err == nil && r.Uncounted {
		rows, _, err := co.FindTasks(ctx, coordinator.TasksQuery{Job: in.ID, Sort: "pending", Limit: mostLeft})
		if err != nil {
			return nil, problem(err)
		}
		recorded.Count(&r, rows)
	}
	return &out[sim.Recording]{r}, nil
}

func (a *api) tasks(ctx context.Context, in *struct {
	JobPath
	State string `query:"state" enum:"waiting,crawling,sleeping,failed,done,manual,dropped" doc:"only tasks in this state"`
	After uint32 `query:"after" maximum:"4294967295" doc:"only tasks with a larger number"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"1000" doc:"at most so many; whoever gets as many asks for those after the last"`
	Find  string `query:"find" maxLength:"256" doc:"only tasks whose site has this in its name, or whose search is for it"`
	Sort  string `query:"sort" enum:"found,site,pending,fetched,failed,bytes" default:"found" doc:"the largest first; found: as they were found"`
	Skip  int    `query:"skip" minimum:"0" doc:"not the first so many"`
	Kind  string `query:"kind" enum:"searches" doc:"searches: only the tasks that ask for the result pages of a search"`
}) (*Found[ledger.Task], error) {
	var found int
	o, err := lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (rows []ledger.Task, err error) {
		q := coordinator.TasksQuery{Job: in.ID, State: in.State, After: in.After, Limit: in.Limit, Find: in.Find, Sort: in.Sort, Skip: in.Skip, Searches: in.Kind == "searches"}
		rows, found, err = co.FindTasks(ctx, q)
		return rows, err
	})
	return foundOf(found, o, err)
}
