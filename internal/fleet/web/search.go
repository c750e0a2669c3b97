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
}

// Change is a search as a person wants it.
type Change struct {
	Words []string `json:"words" minItems:"1" maxItems:"64"`
	Site  string   `json:"site,omitempty" maxLength:"500" doc:"that it is restricted to"`
	URL   string   `json:"url" maxLength:"8000" doc:"of its first result page, on the same engine"`
	_     struct{} `json:"-" additionalProperties:"false"`
}

func (a *api) edit(ctx context.Context, in *struct {
	JobPath
	Task uint32 `path:"task" minimum:"1"`
	Body Change
}) (*out[Edited], error) {
	return order(ctx, a, fmt.Sprintf("edit task %d of job %d: %v %s", in.Task, in.ID, in.Body.Words, in.Body.Site), func(ctx context.Context, co *coordinator.Coordinator) (Edited, error) {
		rows, err := co.Tasks(ctx, coordinator.TasksQuery{Job: in.ID, After: in.Task - 1, Limit: 1})
		if err != nil {
			return Edited{}, err
		}
		for i := range rows {
			if rows[i].ID == in.Task && rows[i].Search != nil {
				s := rows[i].Search.Search
				s.Words, s.Site, s.URL = in.Body.Words, in.Body.Site, in.Body.URL
				return Edited{in.Task}, co.Edit(ctx, crawl.Edit{Job: in.ID, Task: in.Task, Search: s})
			}
		}
		return Edited{}, fmt.Errorf("%w: %d", coordinator.ErrNoTask, in.Task)
	})
}

func (a *api) runs(ctx context.Context, in *struct {
	JobPath
	Search uint32 `query:"search" doc:"only those of this search"`
}) (*out[[]ledger.Run], error) {
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
	return &out[[]ledger.Run]{runs}, nil
}

// Edit changes a search that waits for a person.
func (c *Client) Edit(ctx context.Context, job, task uint32, change Change) error {
	var e Edited
	return c.post(ctx, fmt.Sprintf("/jobs/%d/tasks/%d/edit", job, task), change, &e)
}

// Runs returns the leases of a job's searches; of one, if search is not 0.
func (c *Client) Runs(ctx context.Context, job, search uint32) (runs []ledger.Run, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d/runs?search=%d", job, search), &runs)
	return runs, err
}
