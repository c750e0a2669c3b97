package web

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/fleet/coordinator"
)

// Part says which part of a list is asked for.
type Part struct {
	Limit int `query:"limit" minimum:"1" maximum:"1000" doc:"at most so many; all, if it is not given"`
	Skip  int `query:"skip" minimum:"0" doc:"not the first so many"`
}

// part returns the part of a list.
func part[T any](p Part, all []T) []T {
	all = all[min(p.Skip, len(all)):]
	if p.Limit > 0 {
		all = all[:min(p.Limit, len(all))]
	}
	return all
}

// finding returns those of a list in whose name a text stands, in any case.
func finding[T any](all []T, text string, name func(*T) string) []T {
	if text == "" {
		return all
	}
	text = strings.ToLower(text)
	out := []T{}
	for i := range all {
		if strings.Contains(strings.ToLower(name(&all[i])), text) {
			out = append(out, all[i])
		}
	}
	return out
}

// partOf is an answer with the part of a list that is asked for.
func partOf[T any](p Part, all []T) *Found[T] {
	return &Found[T]{strconv.Itoa(len(all)), part(p, all)}
}

// has reports whether a text has another one in it, in whatever case.
func has(text, find string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(find))
}

// foundOf is an answer with a part of a list, and how long all of it is.
func foundOf[T any](n int, o *out[[]T], err error) (*Found[T], error) {
	if err != nil {
		return nil, err
	}
	return &Found[T]{strconv.Itoa(n), o.Body}, nil
}

func (a *api) jobs(ctx context.Context, in *struct {
	Part
	State string `query:"state" enum:"running,paused,done,cancelled,limited,manual,interrupted" doc:"only jobs in this state"`
	Find  string `query:"find" maxLength:"256" doc:"only jobs whose name has this in it"`
}) (*Found[Job], error) {
	found := 0
	o, err := lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) ([]Job, error) {
		all, err := co.Jobs(ctx)
		all = slices.DeleteFunc(all, func(j coordinator.JobView) bool {
			return in.State != "" && j.State != in.State || !has(j.Name, in.Find)
		})
		found = len(all)
		all = part(in.Part, all)
		v := make([]Job, len(all))
		for i := range all {
			v[i] = a.view(all[i])
		}
		return v, err
	})
	return foundOf(found, o, err)
}

func (a *api) nodes(ctx context.Context, in *struct {
	Part
	State string `query:"state" enum:"working,reserved,taken-on,on-demand,draining,barren,gone,refused" doc:"only nodes in this state"`
	Find  string `query:"find" maxLength:"64" doc:"only nodes whose name has this in it"`
}) (*Found[coordinator.NodeView], error) {
	found := 0
	o, err := lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) ([]coordinator.NodeView, error) {
		all, err := co.Nodes(ctx)
		all = slices.DeleteFunc(all, func(n coordinator.NodeView) bool {
			return in.State != "" && n.State != in.State || !has(n.Node, in.Find)
		})
		found = len(all)
		return part(in.Part, all), err
	})
	return foundOf(found, o, err)
}

func (a *api) leases(ctx context.Context, in *struct {
	Part
	Job  uint32 `query:"job" maximum:"4294967295" doc:"only leases of this job; 0: of all"`
	Node string `query:"node" maxLength:"64" doc:"only leases of this node"`
	Find string `query:"find" maxLength:"256" doc:"only leases whose site or node has this in its name"`
}) (*Found[coordinator.LeaseView], error) {
	found := 0
	o, err := lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) ([]coordinator.LeaseView, error) {
		q := coordinator.LeasesQuery{Job: in.Job, Skip: in.Skip, Limit: in.Limit}
		if in.Node != "" || in.Find != "" {
			q.Match = func(l *coordinator.LeaseView) bool {
				return (in.Node == "" || l.Node == in.Node) && (has(l.Site, in.Find) || has(l.Node, in.Find))
			}
		}
		rows, n, err := co.Leases(ctx, q)
		found = n
		return rows, err
	})
	return foundOf(found, o, err)
}
