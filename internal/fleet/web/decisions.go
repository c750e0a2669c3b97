package web

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/plan/schedule"
)

// Explained is why a task went where it went.
type Explained struct {
	Known    bool               `json:"known"` // false: nothing is remembered of it: it was decided long ago
	Decision *schedule.Decision `json:"decision,omitempty"`
	Attempts []uint32           `json:"attempts,omitempty"` // of which a decision is remembered, the last first
}

// registerDecisions adds what was decided, and why.
func (a *api) registerDecisions(h huma.API, get func(id, path, what string) huma.Operation) {
	register(h, get("explain", "/tasks/{task}/explain", "Why a task went to its node, or waits: the last decision about it, or that of an attempt"), func(ctx context.Context, in *struct {
		TaskPath
		Attempt uint32 `query:"attempt" maximum:"4294967295" doc:"number of a lease of the task, probes included; 0: the last decision"`
	}) (*out[Explained], error) {
		return lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (v Explained, err error) {
			ds, _, err := co.Decisions(ctx, coordinator.DecisionsQuery{Task: in.Task})
			for i := range ds {
				d := &ds[i]
				if d.Attempt > 0 {
					v.Attempts = append(v.Attempts, d.Attempt)
				}
				if v.Decision == nil && (in.Attempt == 0 || in.Attempt == d.Attempt) {
					v.Known, v.Decision = true, d
				}
			}
			return v, err
		})
	})
	huma.Register(h, get("decisions", "/decisions", "What was decided last, and why, the newest first"), func(ctx context.Context, in *struct {
		Job   uint32 `query:"job" maximum:"4294967295" doc:"0: of all jobs"`
		Task  uint32 `query:"task" maximum:"4294967295" doc:"0: about all tasks"`
		Node  string `query:"node" maxLength:"64" doc:"only those for this node"`
		Find  string `query:"find" maxLength:"256" doc:"stands in the site's name"`
		Only  string `query:"only" enum:"leases,probes,waits" doc:"only those that gave a lease, a probe, or nothing"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		Skip  int    `query:"skip" minimum:"0"`
	}) (*Found[schedule.Decision], error) {
		var found int
		o, err := lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (ds []schedule.Decision, err error) {
			ds, found, err = co.Decisions(ctx, coordinator.DecisionsQuery{Job: in.Job, Task: in.Task, Node: in.Node, Find: in.Find, Only: in.Only, Skip: in.Skip, Limit: in.Limit})
			return ds, err
		})
		return foundOf(found, o, err)
	})
	huma.Register(h, get("plans", "/plans", "What each cycle of a strategy came to, the newest first"), func(ctx context.Context, in *struct {
		Job   uint32 `query:"job" maximum:"4294967295" doc:"0: of all jobs"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		Skip  int    `query:"skip" minimum:"0"`
	}) (*Found[coordinator.PlanView], error) {
		var found int
		o, err := lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (ps []coordinator.PlanView, err error) {
			ps, found, err = co.Plans(ctx, in.Job, in.Skip, in.Limit)
			return ps, err
		})
		return foundOf(found, o, err)
	})
}
