package sim

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// A recording that no crawl can have left is refused in one line that names what is wrong: it was replayed for hours, ended in a panic, or gave
// figures of a world that never was.
func TestUnsoundRecordings(t *testing.T) {
	sound, _ := recorded(true)
	if err := sound.Sound(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		damage func(r *Recording)
		told   string
	}{
		"a beginning before 1970":    {func(r *Recording) { r.Leases[3].Started *= -1 }, "beginning of a lease of s3 to node n6"},
		"a clock that was set":       {func(r *Recording) { r.Leases[0].Started = 0 }, "it lasts from 1970-01-01T00:00:00Z to 2001-09-09T01:47:40Z"},
		"a time beyond all":          {func(r *Recording) { r.Facts[2].At = math.MaxInt64 }, "time of what node n0 told"},
		"a probe that never ended":   {func(r *Recording) { r.Facts[0].Seconds = math.Inf(1) }, "seconds of what node n0 told of \"s0\": +Inf"},
		"what nobody can have known": {func(r *Recording) { r.Before = append(r.Before, r.Facts[0]); r.Before[0].Bits = math.NaN() }, "bits of what node n0"},
		"work less than none":        {func(r *Recording) { r.Leases[1].Worked = -1 }, "work of a lease of s1 to node n2: -1"},
		"more pages than requests":   {func(r *Recording) { r.Leases[1].Good = 51 }, "no more than its requests, 50"},
		"gone before it came":        {func(r *Recording) { r.Nodes[2].Came, r.Nodes[2].Gone = 2, 1 }, "node n2: 1: want not before it came"},
		"back before 1970":           {func(r *Recording) { r.Nodes[2].Away = []Absence{{Gone: 1, Came: -1}} }, "time it came back of node n2"},
		"an offer of no number":      {func(r *Recording) { r.Nodes[2].Bandwidth = math.NaN() }, "bandwidth of node n2"},
		"leases of no page":          {func(r *Recording) { r.Lease.Bits = 0 }, "pages and time of a lease"},
	} {
		r, _ := recorded(true)
		c.damage(&r)
		if err := r.Sound(); !errors.Is(err, ErrUnsound) || !strings.Contains(err.Error(), c.told) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.told)
		}
	}
}
