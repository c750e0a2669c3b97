package bus

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// What goes wrong again and again is said every ten seconds, with how often it was; what is new is said at once.
func TestTheSameIsSaidSeldom(t *testing.T) {
	var told told
	begin, lines, kept := time.Unix(1000, 0), 0, 0
	for i := range 300 { // five times a second
		n, say := told.take("a part is not stored yet", begin.Add(time.Duration(i)*200*time.Millisecond))
		if say {
			lines, kept = lines+1, kept+n
		}
	}
	if lines != 6 || kept != 5*49 {
		t.Errorf("%d lines, which tell of %d more", lines, kept)
	}
	if _, say := told.take("leases are not received", begin); !say {
		t.Error("something else is not said")
	}
}

// A bus that does not answer in time is asked ever more seldom; a connection that is gone is tried as often as before.
func TestTriesGrowRare(t *testing.T) {
	var again tries
	var waited time.Duration
	for range 10 {
		waited += again.after(nats.ErrTimeout)
	}
	if again.after(nats.ErrTimeout) != againMost || waited < 20*time.Second {
		t.Errorf("ten tries in %s", waited)
	}
	again.done()
	for range 10 {
		if wait := again.after(nats.ErrDisconnected); wait != retryEvery {
			t.Fatalf("%s without a connection", wait)
		}
	}
}
