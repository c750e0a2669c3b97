package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/fleet/answer"
	"argosy/internal/fleet/coordinator"
)

// What is asked for is looked at before anything answers it, and what is wrong with it is said in few words.

// maxFaults bounds how many faults of a request are told.
const maxFaults = 20

// clipped cuts what a problem says of what was sent, which may be long. It implements huma.Transformer.
func clipped(_ huma.Context, _ string, v any) (any, error) {
	p, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	short := *p
	short.Detail = answer.Clip(p.Detail)
	short.Errors = nil
	for _, e := range p.Errors[:min(len(p.Errors), maxFaults)] {
		d := huma.ErrorDetail{Message: answer.Clip(e.Message), Location: answer.Clip(e.Location), Value: e.Value}
		if b, err := json.Marshal(e.Value); err != nil || len(b) > answer.MaxSaid {
			d.Value = answer.Clip(string(b))
		}
		short.Errors = append(short.Errors, &d)
	}
	return &short, nil
}

// sensible passes on what asks for something that there is: with parameters that the description names, and for a job that is known.
func (a *api) sensible(h huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		var known []string
		for _, p := range ctx.Operation().Parameters {
			if p.In == "query" {
				known = append(known, p.Name)
			}
		}
		u := ctx.URL()
		for name, values := range u.Query() {
			if !slices.Contains(known, name) {
				allowed := "none is allowed"
				if len(known) > 0 {
					allowed = "allowed are " + strings.Join(known, ", ")
				}
				_ = huma.WriteErr(h, ctx, http.StatusUnprocessableEntity, fmt.Sprintf("parameter %q is not known here; %s", answer.Clip(name), allowed))
				return
			}
			if len(values) > 1 || strings.ContainsFunc(values[0], unicode.IsControl) {
				_ = huma.WriteErr(h, ctx, http.StatusUnprocessableEntity, fmt.Sprintf("parameter %q: want one value, without control characters", name))
				return
			}
		}
		if err := a.knownJob(ctx); err != nil {
			_ = huma.WriteErr(h, ctx, http.StatusNotFound, err.Error())
			return
		}
		next(ctx)
	}
}

// knownJob says that a job of which something is asked is not known. Whether an order can be carried out is for the coordinator.
func (a *api) knownJob(ctx huma.Context) error {
	if ctx.Method() != http.MethodGet {
		return nil
	}
	job := ctx.Query("job")
	if strings.HasPrefix(ctx.Operation().Path, "/api/v1/jobs/{id}/") {
		job = ctx.Param("id")
	}
	id, err := strconv.ParseUint(job, 10, 32)
	if err != nil || job == "0" {
		return nil // the check of the parameter says it better
	}
	co, err := a.s.Leader()
	if err != nil {
		return nil
	}
	if _, err := a.find(ctx.Context(), co, uint32(id)); errors.Is(err, coordinator.ErrNoJob) {
		return fmt.Errorf("%w: %d", coordinator.ErrNoJob, id)
	}
	return nil
}
