package frontier

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// said is what facts have said of a node's share in a search.
type said struct {
	Good  int64 `cbor:"1,keyasint,omitempty"`
	All   int64 `cbor:"2,keyasint,omitempty"`
	Pages int64 `cbor:"3,keyasint,omitempty"`
	MS    int64 `cbor:"4,keyasint,omitempty"`
}

// doerKey is where the node stands that has collected a page.
func doerKey(k recKey) []byte {
	b := urlKey(k)
	b[0] = 'b'
	return b
}

// doer is the node that has collected a page; empty: nobody has, or a version did that took no note.
func (x *tx) doer(k recKey, r *record) (string, error) {
	if r.by != "" {
		return r.by, nil
	}
	node, _, err := x.look.get(doerKey(k))
	return string(node), err
}

// collected takes in how a URL of a job that collects has ended.
func (x *tx) collected(j *Job, t *Task, l *Lease, r *record, o *crawl.Outcome) error {
	if o.State == crawl.Fetched && (o.Status < 300 || o.Status == http.StatusNotModified) {
		r.Counted |= countedGood
		if t.Of == nil {
			r.by = l.Node
			if seeker := x.f.Searching(t.Job, t.Search); seeker != nil {
				x.did(seeker, learn.Step{Node: l.Node, Pages: 1})
			}
			if err := x.b.Set(doerKey(recKey{t.space(), o.Key}), []byte(l.Node), nil); err != nil {
				return err
			}
		}
	}
	r.loss, r.gone = string(o.Reason), false
	if o.State == crawl.Fetched {
		r.loss, r.gone = fmt.Sprintf("%d of %s", o.Status, l.Node), o.Status == http.StatusNotFound || o.Status == http.StatusGone
	}
	if o.State == crawl.Excluded && o.Reason == crawl.ReasonRobots && t.Of != nil {
		name := j.Engine(t.Of.Engine).Name
		t.Of.Stop = "its robots.txt disallows further result pages; ignore_robots: true in the entry of engine " + name + " asks for them all the same"
		x.note(t, t.Of.Stop)
	}
	return x.ends(recKey{t.space(), o.Key}, r, 1)
}

// redirects notes where a page redirects to: the store does not know before the end of the entry.
func (x *tx) redirects(from, to recKey) {
	if x.led == nil {
		x.led = map[recKey]recKey{}
	}
	x.led[from] = to
}

// waiting are the tasks of the searches that wait for a page, those of this very entry included, in the order of the searches.
func (x *tx) waiting(k recKey) (out []*Task, err error) {
	prefix, numbers := awaitsOf(k), map[uint32]bool{}
	for search := range x.awaited[k] {
		numbers[search] = true
	}
	err = x.f.each(prefix, func(key, _ []byte) error {
		numbers[binary.BigEndian.Uint32(key[len(prefix):])] = true
		return nil
	})
	for _, no := range slices.Sorted(maps.Keys(numbers)) {
		t := x.f.Searching(k.job, no)
		if t == nil || err != nil {
			continue
		}
		var waits bool
		if waits, err = x.waitsFor(t, k); waits {
			out = append(out, t)
		}
	}
	return out, err
}

// did takes a step of a search down.
func (x *tx) did(t *Task, s learn.Step) {
	s.At = x.at
	t.Of.Trail.Add(s)
	x.tasks[t.ID] = t
}

// worked takes down that a lease has ended, and how long it took, if it was for a search, and tells what it has shown of its node.
func (x *tx) worked(t *Task, l *Lease) {
	if seeker := x.f.Searching(t.Job, t.Search); t.Search > 0 && seeker != nil && !l.Resolve && l.Probe == "" {
		x.did(seeker, learn.Step{Node: l.Node, Leases: 1, MS: x.at - l.StartMS})
		x.tell(seeker, false)
	}
}

// fails takes down that a node has failed with a search, or with what it has named.
func (x *tx) fails(t *Task, node string) {
	if seeker := x.f.Searching(t.Job, t.Search); t.Search > 0 && seeker != nil {
		x.did(seeker, learn.Step{Node: node, Failed: true})
		x.tell(seeker, false)
	}
}

// tell makes facts of what nodes have done for a search, as far as there are none yet. settled: what nobody has collected now is left.
func (x *tx) tell(t *Task, settled bool) {
	s := t.Of
	exist, _ := s.Stated.Exist(s.Found)
	for _, of := range s.Trail.Shares(exist, settled) {
		was := s.Said[of.Node]
		now := said{Good: max(was.Good, of.Collected), All: max(was.All, of.Existing), Pages: was.Pages, MS: was.MS}
		if of.Existing == 0 && s.Trail.Failed(of.Node) {
			now.All = max(1, now.All) // with what, nobody knows yet
		}
		if now.All = max(now.All, now.Good); of.Pages > was.Pages {
			now.Pages, now.MS = of.Pages, int64(of.Seconds*1000)
		}
		if now == was {
			continue
		}
		if s.Said == nil {
			s.Said = map[string]said{}
		}
		s.Said[of.Node] = now
		x.fx.Facts = append(x.fx.Facts, learn.Fact{
			At: x.at, Kind: learn.Searched, Node: of.Node, Site: s.Site, Product: s.Product, Engine: x.f.jobs[t.Job].Engine(s.Engine).Name,
			Good: float64(now.Good - was.Good), All: float64(max(now.All-was.All, now.Good-was.Good)), Pages: float64(now.Pages - was.Pages), Seconds: float64(now.MS-was.MS) / 1000,
		})
	}
}

// uncollect takes a page of a task that has ended from the searches that wait for it, and from the node that has collected it.
func (x *tx) uncollect(t *Task, k recKey, r *record) error {
	node, err := x.doer(k, r)
	if err != nil {
		return err
	}
	if err := x.ends(k, r, -1); err != nil || node == "" || t.Of != nil {
		return err
	}
	if seeker := x.f.Searching(t.Job, t.Search); seeker != nil {
		x.did(seeker, learn.Step{Node: node, Pages: -1})
	}
	r.by = ""
	return x.b.Delete(doerKey(k), nil)
}
