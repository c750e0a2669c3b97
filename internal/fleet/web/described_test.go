package web_test

import (
	"encoding/json"
	"testing"
)

// The description says what generated clients need: where the API is, how a token is shown, and for each operation a name, a group that there
// is, and what it does.
func TestDescription(t *testing.T) {
	_, h, _ := lead(t)
	var api struct {
		OpenAPI  string
		Servers  []struct{ URL string }
		Security []map[string][]string
		Tags     []struct{ Name string }
		Paths    map[string]map[string]struct {
			OperationID string
			Summary     string
			Tags        []string
		}
		Components struct {
			SecuritySchemes map[string]struct{ Type, Scheme string }
		}
	}
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/openapi.json", operators, "").Body.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	if len(api.Servers) != 1 || len(api.Security) != 1 || api.Components.SecuritySchemes["token"].Scheme != "bearer" {
		t.Errorf("servers %v, security %v, %v", api.Servers, api.Security, api.Components.SecuritySchemes)
	}
	groups, ids := map[string]bool{}, map[string]bool{}
	for _, tag := range api.Tags {
		groups[tag.Name] = true
	}
	for path, ops := range api.Paths {
		for method, op := range ops {
			if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" || len(op.Tags) != 1 || !groups[op.Tags[0]] {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			ids[op.OperationID] = true
		}
	}
	if len(ids) < 40 {
		t.Errorf("%d operations", len(ids))
	}
}
