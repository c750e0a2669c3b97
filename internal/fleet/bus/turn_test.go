package bus

import (
	"testing"
	"time"
)

// A lease that cannot be had is another coordinator's only when it is renewed: one that died holds it until its time is over.
func TestAnotherLeads(t *testing.T) {
	var l turn
	at := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		what  string
		after time.Duration
		taken bool // or free
		want  bool
	}{
		{"it is had at once", 0, false, false},
		{"somebody has it", time.Minute, true, false},
		{"still, as one that died would", LeaderTTL, true, false},
		{"still, and so it was renewed", LeaderTTL / 2, true, true},
		{"it is had", time.Second, false, false},
		{"it is lost to somebody", time.Second, true, false},
		{"much later, somebody has it", time.Hour, true, false},
		{"who renews it", LeaderTTL / 2, true, false},
		{"and renews it", LeaderTTL, true, true},
	} {
		if at = at.Add(c.after); c.taken {
			l.taken(at, "b")
		} else {
			l.free()
		}
		if by, got := l.renewed(at); got != c.want || got && by != "b" {
			t.Errorf("%s: %v %q", c.what, got, by)
		}
	}
	if _, still := l.renewed(at.Add(2 * LeaderTTL)); still {
		t.Error("nobody has tried to have it for long, and it is still another's")
	}
}
