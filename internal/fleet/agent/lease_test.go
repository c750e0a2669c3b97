package agent

import (
	"sync"
	"testing"
	"time"
)

// A wait for a site's turn ends when the turn has come, also where the timer fires before the waiter waits.
func TestPauseEnds(t *testing.T) {
	l := &lease{}
	l.more = sync.NewCond(&l.mu)
	for i := range 4_000 {
		d := time.Duration(i%50) * time.Microsecond / 5
		begin := time.Now()
		woken := time.AfterFunc(10*time.Second, l.more.Broadcast) // what else would wake it comes as late as this
		if !l.pause(d) {
			t.Fatal("the lease has not ended")
		}
		if !woken.Stop() {
			t.Fatalf("a pause of %v took %v", d, time.Since(begin))
		}
		if time.Since(begin) < d {
			t.Fatalf("a pause of %v took %v", d, time.Since(begin))
		}
	}
}
