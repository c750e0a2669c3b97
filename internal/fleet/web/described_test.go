package web_test

import (
	"encoding/json"
	"os"
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
			Parameters  []struct{ Name, In string }
			Responses   map[string]any
			RequestBody struct{ Content map[string]any }
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
	groups, ids, chinese := map[string]bool{}, map[string]bool{}, operationsInChinese(t)
	said := map[string]bool{}
	for _, tag := range api.Tags {
		groups[tag.Name] = true
	}
	for path, ops := range api.Paths {
		for method, op := range ops {
			if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" || len(op.Tags) != 1 || !groups[op.Tags[0]] {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			ids[op.OperationID], said[op.Summary] = true, true
			if chinese[op.Summary] == "" {
				t.Errorf("dash/src/zh-api.json lacks %q", op.Summary)
			}
			keyed := false
			for _, p := range op.Parameters {
				keyed = keyed || p.Name == "Idempotency-Key" && p.In == "header"
			}
			if keyed != (method == "post") || op.Responses["200"] == nil || op.Responses["4XX"] == nil || op.RequestBody.Content["application/octet-stream"] != nil {
				t.Errorf("%s %s: an order with a key %v, answers %v, sent is %v", method, path, keyed, op.Responses, op.RequestBody.Content)
			}
		}
	}
	for _, id := range []string{"metrics", "traces", "decisions", "plans", "believed"} {
		if !ids[id] {
			t.Errorf("%s is not described", id)
		}
	}
	for summary := range chinese {
		if !said[summary] {
			t.Errorf("no operation says %q of dash/src/zh-api.json", summary)
		}
	}
	if len(ids) < 40 {
		t.Errorf("%d operations", len(ids))
	}
}

// operationsInChinese is what the page of the API says of each operation to who reads Chinese, by its summary.
func operationsInChinese(t *testing.T) (said map[string]string) {
	t.Helper()
	b, err := os.ReadFile("../dash/src/zh-api.json")
	if err == nil {
		err = json.Unmarshal(b, &said)
	}
	if err != nil {
		t.Fatal(err)
	}
	return said
}
