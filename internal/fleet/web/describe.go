package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/answer"
)

// refused is what is answered instead, where that has no schema.
var refused = &huma.Response{Description: "it is refused: the text says why"}

// describe adds to the description of the API what its operations have in common, and what is not one of them.
func describe(of *huma.OpenAPI) {
	beside(of)
	known := map[string]bool{}
	for path, item := range of.Paths {
		tag, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/api/v1/"), "/"), "/")
		known[tag] = true
		for _, op := range []*huma.Operation{item.Get, item.Post} {
			if op == nil {
				continue
			}
			op.Tags = []string{tag}
			if needs[op.Method+" "+path] == access.Nothing {
				op.Security = []map[string][]string{} // no token
			}
			wrong := op.Responses["default"]
			if delete(op.Responses, "default"); wrong == nil {
				wrong = refused
			}
			if op.Responses["4XX"] == nil { // tools look for the classes
				op.Responses["4XX"], op.Responses["5XX"] = wrong, wrong
			}
			if op.Method == http.MethodPost {
				ordering(op)
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(known)) {
		of.Tags = append(of.Tags, &huma.Tag{Name: tag})
	}
}

// ordering describes what all orders take.
func ordering(op *huma.Operation) {
	most := answer.MaxKey
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: answer.KeyField, In: "header", Description: "an order that is sent again with the same key within a day is answered with the first answer, and done once; where that answer is not known any more, as after a restart, it is refused (409)",
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most},
	})
	if b := op.RequestBody; b != nil && b.Content["application/yaml"] != nil { // a job file is written in either
		b.Content["application/json"] = b.Content["application/yaml"]
		b.Description = "a job file, in YAML, which JSON is, too: so it is read whatever its Content-Type"
	}
}

// beside describes what is asked for beside the API, in the formats of others.
func beside(of *huma.OpenAPI) {
	lines := func(kind string) map[string]*huma.Response {
		return map[string]*huma.Response{
			"200": {Description: "OK", Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: huma.TypeString}}}}, "4XX": refused, "5XX": refused,
		}
	}
	get := func(id, path, what, kind string, params ...*huma.Param) {
		op := &huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Summary: what, Parameters: params, Responses: lines(kind)}
		of.AddOperation(op)
	}
	whole, least := &huma.Schema{Type: huma.TypeInteger}, 1.0
	get("metrics", "/metrics", "The sums that the pages show, for Prometheus", "text/plain")
	get("healthz", "/healthz", "Whether the process answers", "text/plain")
	get("readyz", "/readyz", "Whether it leads, answers questions and hears of its nodes", "text/plain")
	get("traces", "/traces/{job}", "The leases of a job as JSON lines that OTLP tools read", "application/x-ndjson",
		&huma.Param{Name: "job", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &least}},
		&huma.Param{Name: "since", In: "query", Description: "only leases that began then or later, in Unix ms", Schema: whole})
}
