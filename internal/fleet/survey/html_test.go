package survey

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// What sites write stays text on the page: no element, no attribute and no link comes of it.
func TestPageEscapes(t *testing.T) {
	const evil = `"></style><script>alert(1)</script><img src=x onerror=alert(1)>'`
	r := &Report{
		Dir: evil, Name: evil, State: evil, Scope: evil, First: time.Unix(1, 0), Last: time.Unix(9, 0),
		Sites:     []Site{{Task: ledger.Task{Site: evil, State: "manual"}, FirstByteMS: 1, Trouble: evil}},
		Types:     []Share{{Name: evil, URLs: 1}},
		Timeline:  []Bin{{URLs: 2, Errors: 1}},
		Broken:    []Broken{{URL: evil, Why: evil, Detail: evil, Links: 1, From: []Link{{Page: "javascript:alert(1)", Text: evil}, {Page: "http://x/" + evil, Text: evil}}}},
		Redirects: []Redirect{{From: evil, Status: 301, To: evil}},
		Refused:   []Refused{{Reason: evil, URLs: 1, Examples: []Example{{URL: evil, Parent: evil, Anchor: evil}}}},
		Templates: []Template{{Site: evil, Template: evil, URLs: 1, Example: evil, Exclude: evil}},
		Same:      []ledger.Same{{Example: evil}},
		Traps:     []crawl.Trap{{Site: evil, Template: evil, Example: evil}},
		Topic:     &Stats{Topic: evil, VC: 40, CC: 12, Curve: []Harvest{{20, 3}, {40, 12}}},
	}
	var page strings.Builder
	if err := r.HTML(&page, func(string) (string, string) { return evil, evil }); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "alert(1)"); n < 30 {
		t.Fatalf("what a site wrote stands %d times on the page", n)
	}
	for _, want := range []string{"3 of 20", "9 of 20", "12 of 40 pages"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("of the topic's harvest no %q", want)
		}
	}
	doc, err := html.Parse(strings.NewReader(page.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Data == "script" || n.Data == "img" {
			t.Errorf("an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "http") {
				t.Errorf("an attribute %s=%q", a.Key, a.Val)
			}
		}
	}
}
