package agent

import (
	"testing"

	"argosy/internal/crawl"
)

// Marks that may be made take one byte in twelve of what is read, once the first pages are; marks that must be made are made.
func TestMarksKeepToTheirBudget(t *testing.T) {
	b := budget{left: markBudget}
	const page, pages = 40_000, 10_000
	marked := 0
	for range pages {
		if b.marks(crawl.MarkNone, 0) {
			t.Fatal("a page was marked that nobody asked for")
		}
		if b.marks(crawl.MarkMay, page) {
			marked++
		}
	}
	if want := pages/markShare + markBudget/page; marked < want-2 || marked > want+markBudget/page {
		t.Errorf("%d of %d pages were marked, want about %d", marked, pages, want)
	}
	for range 100 {
		if !b.marks(crawl.MarkMust, page) {
			t.Fatal("a page under suspicion was not marked")
		}
	}
}
