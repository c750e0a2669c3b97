package web

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/survey"
)

// Paths are the search paths of a job: each page under the page that named it first.
type Paths struct {
	Pages  int              `json:"pages"`            // that were fetched
	Topic  bool             `json:"topic"`            // the job has one: pages have scores
	Folded int              `json:"folded,omitempty"` // left out behind the last of roots
	Roots  []*survey.Branch `json:"roots"`
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
	register(h, get("tree", "/jobs/{id}/tree", "The search paths of a job: each page under the page that named it first"), func(ctx context.Context, in *struct {
		JobPath
		Under   string `query:"under" maxLength:"8192" doc:"URL of a page: only what stands under it"`
		Crawler uint32 `query:"crawler" maximum:"4294967295" doc:"with under: whose page that is, of several that share what is found; 0: anybody's"`
		Find    string `query:"find" maxLength:"256" doc:"only pages with this in their URL or in the words of the link to them, and those above them"`
		Skip    int    `query:"skip" minimum:"0" doc:"not the first so many of what stands uppermost"`
		Limit   int    `query:"limit" minimum:"1" maximum:"2000" default:"2000" doc:"at most so many pages in all"`
	}) (*out[Paths], error) {
		q := survey.TreePart{Under: in.Under, Crawler: in.Crawler, Find: in.Find, Skip: in.Skip, Most: in.Limit}
		if in.Crawler > 0 && in.Under == "" {
			return nil, huma.Error422UnprocessableEntity("crawler: it says whose page under is: give under, too")
		}
		walk := heavy[Paths]
		if q != (survey.TreePart{Most: maxBranches}) {
			walk = sought[Paths]
		}
		return walk(ctx, a, a.about(ctx, in.ID, "tree", q), func(ctx context.Context) (Paths, error) { return a.paths(ctx, in.ID, q) })
	})
	register(h, get("statistics", "/jobs/{id}/statistics", "The figures of a job that looks for a topic, as they are published"), func(ctx context.Context, in *JobPath) (*out[survey.Stats], error) {
		return heavy(ctx, a, a.about(ctx, in.ID, "statistics"), func(ctx context.Context) (survey.Stats, error) { return a.statistics(ctx, in.ID) })
	})
}

func (a *api) paths(ctx context.Context, job uint32, q survey.TreePart) (p Paths, err error) {
	leave, err := a.trees.Take(ctx)
	if err != nil {
		return p, err
	}
	defer leave()
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
		if err := ctx.Err(); err != nil {
			return err
		}
		tree.Add(u).Crawler = of[u.Task]
		return nil
	})
	p.Roots, p.Folded = q.Of(tree.Roots())
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
