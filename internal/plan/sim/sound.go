package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"argosy/internal/plan/learn"
)

// ErrUnsound says that a recording holds what no crawl can have told: it is damaged, or a clock was set.
var ErrUnsound = errors.New("the recording is damaged")

const (
	most      = 1e18                 // of any figure
	lastTime  = 253_402_300_799_000  // the end of the year 9999, Unix ms
	longestMS = 366 * 24 * 3_600_000 // that a recording may last
)

// Sound checks that a recording is one that a crawl can have left.
func (r *Recording) Sound() error {
	bad := func(what, of string, is any, want string) error {
		return fmt.Errorf("%w: %s of %s: %v: want %s", ErrUnsound, what, of, is, want)
	}
	figures := func(of string, names []string, xs ...float64) error {
		for i, x := range xs {
			if !(x >= 0 && x <= most) {
				return bad(names[i], of, x, "a number from 0 to 1e18")
			}
		}
		return nil
	}
	times := func(of string, names []string, xs ...int64) error {
		for i, at := range xs {
			if at < 0 || at > lastTime {
				return bad(names[i], of, at, "milliseconds since 1970, before the year 10000")
			}
		}
		return nil
	}
	if err := figures("the job", []string{"pages of a lease", "time of a lease", "delay", "size of root pages"}, r.Lease.Bits, r.Lease.Seconds, r.Delay, r.Root); err != nil {
		return err
	}
	if r.Lease.Bits == 0 || r.Lease.Seconds == 0 {
		return bad("pages and time of a lease", "the job", fmt.Sprintf("%v and %v s", r.Lease.Bits, r.Lease.Seconds), "more than 0")
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		of := "node " + n.ID
		err := cmp.Or(figures(of, []string{"CPU", "memory", "bandwidth", "price", "price", "price"}, n.CPU, n.Memory, n.Bandwidth, n.Prices.Reserve, n.Prices.Use, n.Prices.Surcharge),
			times(of, []string{"time it came", "time it was gone", "time it was heard of last"}, n.Came, n.Gone, n.Died))
		if err != nil {
			return err
		}
		if n.Gone > 0 && n.Gone < n.Came {
			return bad("time it was gone", of, n.Gone, fmt.Sprintf("not before it came, %d", n.Came))
		}
	}
	for i := range r.Leases {
		l := &r.Leases[i]
		of := fmt.Sprintf("a lease of %s to node %s", l.Site, l.Node)
		err := cmp.Or(times(of, []string{"beginning", "end"}, l.Started, l.Ended),
			figures(of, []string{"work", "URLs given", "requests", "pages", "bits"}, l.Worked, l.Given, l.Asked, l.Good, l.Bits))
		if err != nil {
			return err
		}
		if l.Good > l.Asked {
			return bad("pages", of, l.Good, fmt.Sprintf("no more than its requests, %v", l.Asked))
		}
	}
	for i := range r.Looks {
		l := &r.Looks[i]
		if err := times(fmt.Sprintf("a look of node %s at %s", l.Node, l.Site), []string{"beginning", "end"}, l.Started, l.Ended); err != nil {
			return err
		}
	}
	for _, facts := range [][]learn.Fact{r.Before, r.Facts} {
		for i := range facts {
			f := &facts[i]
			of := fmt.Sprintf("what node %s told of %q", f.Node, f.Site+f.To)
			err := cmp.Or(times(of, []string{"time"}, f.At),
				figures(of, []string{"bits", "seconds", "pages", "requests", "CPU", "memory"}, f.Bits, f.Seconds, f.Good, f.All, f.CPU, f.Memory))
			if err != nil {
				return err
			}
		}
	}
	for i := range r.Nodes {
		for _, a := range r.Nodes[i].Away {
			if err := times("node "+r.Nodes[i].ID, []string{"time it was heard of last", "time it was gone", "time it came back"}, a.Died, a.Gone, a.Came); err != nil {
				return err
			}
		}
	}
	if start, end := r.span(); end-start > longestMS {
		return fmt.Errorf("%w, or a clock was set: it lasts from %s to %s: want at most 366 days", ErrUnsound, dated(start), dated(end))
	}
	return nil
}

func dated(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
