package main

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// Who lets a chain go on is told how much that may take.
func TestWarnOfChains(t *testing.T) {
	var b strings.Builder
	warnOfChains(&b, []crawl.Trap{{Site: "a.test", Template: "/#", Example: "http://a.test/187", Waiting: 1, Answers: 186, Empty: 180}})
	for _, want := range []string{"a.test goes on after 186 answers, 180 of them", "some 1,440 more requests", "http://a.test/187"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not said: %s", want, b.String())
		}
	}
}
