package web

import (
	"context"
	"fmt"

	"argosy/internal/crawl"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/serve"
)

// Edited is the answer to a change of a search.
type Edited struct {
	Task uint32 `json:"task"`
	URL  string `json:"url" doc:"of its first result page"`
}

// Change is a search as a person wants it.
type Change struct {
	Words  []string      `json:"words" minItems:"1" maxItems:"64"`
	Site   string        `json:"site,omitempty" maxLength:"500" doc:"that it is restricted to"`
	Number int           `json:"number,omitempty" minimum:"0" doc:"of the job's engine that it asks, from 0: those that the job was begun with, then those that were given to searches since"`
	Engine *crawl.Engine `json:"engine,omitempty" doc:"that it asks instead"`
	_      struct{}      `json:"-" additionalProperties:"false"`
}

func (a *api) edit(ctx context.Context, in *struct {
	JobPath
	Task uint32 `path:"task" minimum:"1" maximum:"4294967295"`
	Body Change
}) (*out[Edited], error) {
	what := fmt.Sprintf("edit task %d of job %d: %v %s", in.Task, in.ID, in.Body.Words, in.Body.Site)
	if in.Body.Engine != nil {
		what += " on " + in.Body.Engine.Name
	}
	return order(ctx, a, what, func(ctx context.Context, co *coordinator.Coordinator) (Edited, error) {
		e := crawl.Edit{Job: in.ID, Task: in.Task, Search: crawl.Search{Words: in.Body.Words, Site: in.Body.Site, Engine: in.Body.Number}, Engine: in.Body.Engine}
		address, err := co.Edit(ctx, e)
		return Edited{in.Task, address}, err
	})
}

func (a *api) runs(ctx context.Context, in *struct {
	JobPath
	Part
	Search uint32 `query:"search" maximum:"4294967295" doc:"only those of this search"`
}) (*Found[ledger.Run], error) {
	runs := []ledger.Run{}
	l := a.s.Ledger()
	if l == nil {
		return nil, problem(serve.ErrStandby)
	}
	err := l.Runs(ctx, in.ID, in.Search, func(r ledger.Run) error {
		runs = append(runs, r)
		return nil
	})
	if err != nil {
		return nil, problem(err)
	}
	return partOf(in.Part, runs), nil
}

// Edit changes a search that is not over, and returns the address that it asks.
func (c *Client) Edit(ctx context.Context, job, task uint32, change Change) (address string, err error) {
	var e Edited
	err = c.post(ctx, fmt.Sprintf("/jobs/%d/tasks/%d/edit", job, task), change, &e)
	return e.URL, err
}

// Runs returns the leases of a job's searches; of one, if search is not 0.
func (c *Client) Runs(ctx context.Context, job, search uint32) (runs []ledger.Run, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d/runs?search=%d", job, search), &runs)
	return runs, err
}
