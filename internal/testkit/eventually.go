package testkit

import (
	"testing"
	"time"
)

// patience is how long Eventually waits: far longer than anything takes on a machine with a load of thirty, where 90 s were too few for a
// crawl whose database goes away twice.
const patience = 4 * time.Minute

// Eventually waits until something is so, and fails the test when it never is. It is for what happens outside the test's hands (a
// process that starts, a leader that is elected); where there is an event to wait for, a test waits for that.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happened that %s", what)
		}
	}
}
