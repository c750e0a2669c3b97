package web

import (
	"context"
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/survey"
)

// Paths are the search paths of a job: each page under the page that named it first.
type Paths struct {
	Pages int              `json:"pages"` // that were fetched
	Topic bool             `json:"topic"` // the job has one: pages have scores
	Roots []*survey.Branch `json:"roots"`
}

const (
	maxReached  = 300_000 // pages of which a tree is made, in memory
	maxBranches = 2_000   // that are shown of it
	maxMarkets  = 1_000
)

// errWide is that a job has too many pages for a tree in the coordinator's memory; a command on its machine has memory of its own.
var errWide = fmt.Errorf("the job has more than %d pages: argosy tree DIR --job N, on the coordinator's machine, prints its tree", maxReached)

// registerTopics adds what is asked of a job that looks for a topic.
func (a *api) registerTopics(h huma.API, get func(id, path, what string) huma.Operation) {
	huma.Register(h, get("markets", "/jobs/{id}/markets", "The markets between the crawlers of a job, the first first; of very many the last"), func(ctx context.Context, in *struct {
		JobPath
		Part
	}) (*Found[ledger.Held], error) {
		all := []ledger.Held{}
		err := a.s.Ledger().Markets(ctx, in.ID, func(m ledger.Held) error {
			all = append(all[max(0, len(all)+1-maxMarkets):], m)
			return nil
		})
		if err != nil {
			return nil, problem(err)
		}
		return partOf(in.Part, all), nil
	})
	register(h, get("auction", "/jobs/{id}/markets/{market}", "A market: what was offered, and how prices rose"), func(ctx context.Context, in *struct {
		JobPath
		Market int64 `path:"market" minimum:"1"`
	}) (*out[ledger.Auction], error) {
		v, err := a.s.Ledger().Auction(ctx, in.ID, in.Market)
		if err != nil {
			return nil, problem(err)
		}
		if v == nil {
			return nil, huma.Error404NotFound("no such market")
		}
		return &out[ledger.Auction]{*v}, nil
	})
	register(h, get("tree", "/jobs/{id}/tree", "The search paths of a job: each page under the page that named it first"), func(ctx context.Context, in *JobPath) (*out[Paths], error) {
		return heavy(ctx, a, "tree "+strconv.Itoa(int(in.ID)), func(ctx context.Context) (Paths, error) { return a.paths(ctx, in.ID) })
	})
	register(h, get("statistics", "/jobs/{id}/statistics", "The figures of a job that looks for a topic, as they are published"), func(ctx context.Context, in *JobPath) (*out[survey.Stats], error) {
		return heavy(ctx, a, "statistics "+strconv.Itoa(int(in.ID)), func(ctx context.Context) (survey.Stats, error) { return a.statistics(ctx, in.ID) })
	})
}

func (a *api) paths(ctx context.Context, job uint32) (p Paths, err error) {
	co, err := a.s.Leader()
	if err != nil {
		return p, err
	}
	if err := co.Account(ctx, job, func(j *frontier.Job) { p.Topic = j.Identity.Topic != nil }); err != nil {
		return p, err
	}
	of, err := co.Crawlers(ctx, job)
	if err != nil {
		return p, err
	}
	var tree survey.Tree
	err = co.Fetched(job, func(u frontier.URL) error {
		if p.Pages++; p.Pages > maxReached {
			return errWide
		}
		tree.Add(u).Crawler = of[u.Task]
		return nil
	})
	p.Roots = survey.Prune(tree.Roots(), maxBranches)
	return p, err
}

func (a *api) statistics(ctx context.Context, job uint32) (survey.Stats, error) {
	co, err := a.s.Leader()
	if err != nil {
		return survey.Stats{}, err
	}
	s, err := survey.StatsOf(ctx, a.s.Ledger(), job, func() (*survey.MarketStats, error) { return marketOf(ctx, co, job) })
	if err != nil {
		return survey.Stats{}, err
	}
	return *s, nil
}

func marketOf(ctx context.Context, co *coordinator.Coordinator, job uint32) (m *survey.MarketStats, err error) {
	err = co.Account(ctx, job, func(j *frontier.Job) { m = survey.MarketOf(j) })
	return m, err
}
