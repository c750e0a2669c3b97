package web

import (
	"context"
	"fmt"

	"argosy/internal/fleet/answer"
)

// about names an answer about a job, by all that was asked. Its state is part of it: once a job is over nobody is told what held before.
func (a *api) about(ctx context.Context, job uint32, what string, asked ...any) string {
	state := ""
	if co, err := a.s.Leader(); err == nil {
		if j, err := a.find(ctx, co, job); err == nil {
			state = j.State
		}
	}
	return fmt.Sprintf("%s %d %s %#v", what, job, state, asked)
}

// heavy answers with what pages show and takes a walk (see answer.Shown).
func heavy[T any](ctx context.Context, a *api, key string, fn func(context.Context) (T, error)) (*out[T], error) {
	v, err := answer.Shown(ctx, &a.kept, key, fn)
	if err != nil {
		return nil, problem(err)
	}
	return &out[T]{v}, nil
}

// sought is heavy for what somebody looks for.
func sought[T any](ctx context.Context, a *api, key string, fn func(context.Context) (T, error)) (*out[T], error) {
	v, err := answer.Sought(ctx, &a.kept, key, fn)
	if err != nil {
		return nil, problem(err)
	}
	return &out[T]{v}, nil
}
