package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// What makes no sense is refused with its reason, in few words, however long it is; and what is asked of a job that is not there is not
// answered with nothing.
func TestSenseless(t *testing.T) {
	_, h, _ := lead(t)
	if w := ask(h, "POST", "/api/v1/jobs", operators, `{"seeds": ["http://a.test/"], "name": "first"}`); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	long := strings.Repeat("x", 1<<20)
	sum := strings.Repeat("0", 64)
	for _, c := range []struct {
		name, method, path, body string
		want                     int
		says                     string
	}{
		{"a strategy that is none", "POST", "/jobs/1/limits", `{"placing": {"strategy": "nope"}}`, 422, "nope"},
		{"a probe that is none", "POST", "/jobs/1/limits", `{"placing": {"probe": "nope"}}`, 422, "probe"},
		{"a lost page without a key", "POST", "/jobs/1/retry", `{"lost": ["AAAA"]}`, 422, "000000"},
		{"a strategy of a job that is not there", "POST", "/jobs/9/limits", `{"placing": {"strategy": "nearest"}}`, 404, "no such job"},
		{"a long reason", "POST", "/jobs/1/retry", `{"why": "` + long + `"}`, 422, "length"},
		{"a long field", "POST", "/jobs/1/retry", `{"` + long + `": 1}`, 422, "unexpected"},
		{"a long strategy", "POST", "/jobs/1/limits", `{"placing": {"strategy": "` + long + `"}}`, 422, "placing"},
		{"a long line", "POST", "/jobs", `{"seeds": ["` + long + `"]}`, 422, "seed"},
		{"a long key", "POST", "/jobs", `{"` + long + `": 1}`, 422, "x"},
		{"seeds without end", "POST", "/jobs?seeds=9223372036854775807&digest=" + sum, `{"name": "a"}`, 422, "seeds"},
		{"a digest that is none", "POST", "/jobs?seeds=5&digest=x", `{"name": "a"}`, 422, "digest"},
		{"a name that nobody prints", "POST", "/jobs", `{"seeds": ["http://a.test/"], "name": "\u0000"}`, 422, "name"},
		{"a seed with a NUL", "POST", "/jobs", `{"seeds": ["http://a.test/\u0000"]}`, 422, "seed"},
		{"pages of no job", "GET", "/jobs/9/pages", "", 404, "no such job: 9"},
		{"types of no job", "GET", "/jobs/9/types", "", 404, "no such job: 9"},
		{"searches of no job", "GET", "/jobs/9/runs", "", 404, "no such job: 9"},
		{"a page of no job", "GET", "/jobs/9/page?key=00", "", 404, "no such job: 9"},
		{"a parameter that is none", "GET", "/jobs/1/tasks?stat=done", "", 422, `"stat\" is not known here; allowed are state, after`},
		{"a parameter where none is", "GET", "/status?x=1", "", 422, "none is allowed"},
		{"a parameter of an order", "POST", "/jobs/1/pause?now=1", "{}", 422, "none is allowed"},
		{"a job beyond all numbers, which is not the first", "GET", "/jobs/4294967297", "", 422, "4.294967295e+09"},
		{"measurements of a job beyond all numbers", "GET", "/jobs/4294967297/measurements", "", 422, "4.294967295e+09"},
		{"a task beyond all numbers", "GET", "/tasks/4294967297", "", 422, "4.294967295e+09"},
		{"an order for a job beyond all numbers", "POST", "/jobs/4294967297/cancel", "{}", 422, "4.294967295e+09"},
		{"tasks after one beyond all numbers", "GET", "/jobs/1/tasks?after=4294967297", "", 422, "4.294967295e+09"},
		{"a state that is none", "GET", "/jobs/1/tasks?state=nope", "", 422, "waiting"},
		{"a drop of what was cut", "POST", "/jobs/1/drop", `{"cut": true}`, 422, "unexpected property"},
		{"a drop of nothing", "POST", "/jobs/1/drop", `{}`, 422, "a drop names sites or tasks"},
		{"no row", "GET", "/jobs?limit=0", "", 422, ">= 1"},
		{"more rows than a page has", "GET", "/nodes?limit=1001", "", 422, "<= 1000"},
		{"a part of the names", "GET", "/names?limit=1", "", 200, "["},
		{"two limits", "GET", "/leases?limit=1&limit=2", "", 422, "want one value"},
		{"a text that nobody types", "GET", "/jobs?find=%00", "", 422, "control"},
		{"nodes in a state that is none", "GET", "/nodes?state=nope", "", 422, "draining"},
		{"leases of no job", "GET", "/leases?job=9", "", 404, "no such job: 9"},
		{"a series of no job", "GET", "/series?job=9", "", 404, "no such job: 9"},
		{"statuses that there are not", "GET", "/jobs/1/pages?class=9", "", 422, "<= 5"},
		{"a path that there is not", "GET", "/nope", "", 404, "there is no such path"},
		{"a method that is not taken", "DELETE", "/jobs/1", "", 405, "GET is"},
		{"a method that is not taken where two are", "PUT", "/jobs", "", 405, "GET and POST are"},
		{"an order that is asked for", "GET", "/jobs/1/pause", "", 405, "POST is"},
		{"a crawler without a page", "GET", "/jobs/1/tree?crawler=99", "", 422, "give under"},
		{"no state", "GET", "/jobs/1/tasks?state=", "", 200, "["},
		{"a state", "GET", "/jobs/1/tasks?state=manual", "", 200, "["},
		{"a state of searches", "GET", "/jobs/1/tasks?state=sleeping&kind=searches", "", 200, "["},
	} {
		w := ask(h, c.method, "/api/v1"+c.path, operators, c.body)
		if body := w.Body.String(); w.Code != c.want || w.Code >= 400 && w.Header().Get("Content-Type") != "application/problem+json" || !strings.Contains(body, strings.TrimPrefix(c.says, `"`)) || len(body) > 6000 {
			t.Errorf("%s: %d, want %d, %d bytes: %.300s", c.name, w.Code, c.want, len(body), body)
		}
	}
	if allow := ask(h, "PUT", "/api/v1/jobs", operators, "").Header().Get("Allow"); allow != "GET, POST" {
		t.Errorf("Allow: %s", allow)
	}
	if w := ask(h, "GET", "/api/v1/orders", operators, ""); w.Code != http.StatusOK || w.Body.Len() > 20000 {
		t.Errorf("the log of orders: %d, %d bytes", w.Code, w.Body.Len())
	}
}
