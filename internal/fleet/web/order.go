package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/crawl"
	"argosy/internal/fleet/answer"
	"argosy/internal/fleet/coordinator"
)

// onlyShown says why nothing is ordered where nothing runs.
const onlyShown = "nothing runs in this directory, it is only shown: argosy crawl -o DIR goes on with a crawl, argosy serve -o DIR with a fleet; argosy retry and drop change a crawl"

// order is lead for what changes something: it is written down first who asks for it.
func order[T any](ctx context.Context, a *api, what string, fn func(context.Context, *coordinator.Coordinator) (T, error)) (*out[T], error) {
	if a.cfg.Kind == KindOver {
		return nil, huma.Error409Conflict(onlyShown)
	}
	return lead(ctx, a, func(ctx context.Context, co *coordinator.Coordinator) (v T, err error) {
		o := crawl.NewOrder(whoAsks(ctx).Name, what)
		given := answer.GivenWith(ctx)
		o.Key, o.Sum = given.Key, given.Sum
		if err := isFirst(ctx, co, o); err != nil {
			return v, err
		}
		if err := co.Note(ctx, o); err != nil {
			return v, fmt.Errorf("%s: it was not done: %w", what, err)
		}
		v, err = fn(ctx, co)
		if err == nil {
			_ = co.Settled(ctx) // it is done; who asks for the orders next finds it, if the ledger answers
			return v, nil
		}
		outcome, undone := "not done", true
		told := Settled(what, err)
		if told != err {
			outcome, undone = "not known to be done", false
		}
		if ctx.Err() == nil {
			note := crawl.NewOrder(o.Who, outcome+": "+what+": "+answer.Clip(err.Error()))
			note.Key, note.Sum, note.Undone = o.Key, o.Sum, undone
			told = errors.Join(told, co.Note(ctx, note))
		}
		return v, told
	})
}

// isFirst refuses an order whose key was used before, by what the log has told: the answer that it got is not known any more, as after a
// restart, or where another coordinator led then.
func isFirst(ctx context.Context, co *coordinator.Coordinator, o *crawl.Order) error {
	if o.Key == "" {
		return nil
	}
	was, err := co.Ordered(ctx, o.Key, time.Now().Add(-answer.KeyLives).UnixMilli())
	switch {
	case err != nil:
		return fmt.Errorf("%s: it was not done: whether it was ordered with this key before cannot be told: %w", o.What, err)
	case was == nil:
		return nil
	case was.Sum != o.Sum:
		return huma.Error422UnprocessableEntity(answer.KeyField + ": it was used for another order")
	}
	return huma.Error409Conflict(fmt.Sprintf("%s: this was ordered with this key before, at %s, and is not done again: %s. Its answer is not known any more: "+
		"argosy orders and argosy jobs tell what came of it", answer.KeyField, time.UnixMilli(was.At).UTC().Format("2006-01-02 15:04:05Z"), was.What))
}

// Settled returns the error of an order that was refused as it is. One that may stand in the log, although nobody could tell (log or
// ledger are away, or full), it turns into an answer that says so; no other coordinator is asked then.
func Settled(what string, err error) error {
	var refused huma.StatusError
	if !errors.As(problem(err), &refused) || refused.GetStatus() < 500 {
		return err
	}
	return huma.Error500InternalServerError(fmt.Sprintf(
		"%s: it may stand in the log, and is done then once the coordinator can: look at argosy orders and jobs before you order it again: %v", what, err))
}
