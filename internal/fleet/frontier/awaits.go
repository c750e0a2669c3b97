package frontier

import (
	"cmp"
	"encoding/binary"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// A search waits for the pages that it has named, whoever fetches them; what becomes of each is counted for all that wait for it.

// awaits takes in a page that a search has named; fresh says that no result page of it has named this address before.
func (x *tx) awaits(j *Job, t *Task, u crawl.URL, r *record) (fresh bool, err error) {
	k := recKey{t.names(), u.Key()}
	if fresh, err = x.names(t, k); err != nil {
		return false, err
	}
	if waits, err := x.waitsFor(t, k); waits || err != nil {
		return fresh, err
	}
	if err := x.add(j, t, r.Parent, u, r); err != nil {
		return false, err
	}
	if k, err = x.movedTo(k); err != nil {
		return false, err
	}
	counts, err := x.await(t, k)
	if counts {
		t.Of.Found++
		t.Of.Told = false
	}
	return fresh, err
}

// namedKey says that a search, as it is since a person last changed it, has named an address: it does not wait for that one where it
// redirects, or where the search waits for what another one redirects to.
func namedKey(t *Task, key crawl.Key) []byte {
	b := binary.BigEndian.AppendUint32([]byte{'v'}, t.ID)
	return append(binary.BigEndian.AppendUint32(b, t.Gen), key[:]...)
}

// names notes that a search names an address; fresh says that it had not.
func (x *tx) names(t *Task, k recKey) (fresh bool, err error) {
	key := namedKey(t, k.key)
	if x.calls[string(key)] {
		return false, nil
	}
	if _, known, err := x.look.get(key); known || err != nil {
		return false, err
	}
	if x.calls == nil {
		x.calls = map[string]bool{}
	}
	x.calls[string(key)] = true
	return true, x.b.Set(key, nil, nil)
}

// waitsFor reports whether a search waits for a page.
func (x *tx) waitsFor(t *Task, k recKey) (bool, error) {
	w, err := x.wait(t, k)
	return w.waits, err
}

// wait is how a search stands to a page.
type wait struct {
	waits bool
	apart bool // the page had ended before the search named it: it was not counted as one that is fetched for another search
}

// apartMark is the value of a wait's key if it is apart.
var apartMark = []byte{1}

func (x *tx) wait(t *Task, k recKey) (wait, error) {
	if w, ok := x.awaited[k][t.Search]; ok {
		return w, nil
	}
	mark, waits, err := x.look.get(awaitKey(k, t.Search))
	return wait{waits, len(mark) > 0}, err
}

// await has a search wait for a page, and counts one that has ended; fresh says that the search did not wait for it before.
func (x *tx) await(t *Task, k recKey) (fresh bool, err error) {
	if waits, err := x.waitsFor(t, k); waits || err != nil {
		return false, err
	}
	old, err := x.record(k.space, k.key)
	if err != nil {
		return false, err
	}
	if old != nil && (t.Gen > 0 && x.lostBefore(old) || x.unwanted(old)) { // it begins anew
		if err := x.wantsAgain(k, old, t); err != nil {
			return false, err
		}
	}
	w := wait{waits: true}
	if old == nil { // refused, and more of those than are kept
		t.Of.Lost++
	} else if of := x.f.tasks[old.Task]; !old.State.Final() && of != nil && of.Search != t.Search {
		t.Of.shares(of.Search, 1)
	} else if old.State.Final() && !slices.ContainsFunc(x.refused, func(u refusedURL) bool { return u.key == k }) {
		node, err := x.doer(k, old)
		if err != nil {
			return false, err
		}
		x.had(t, old, node, 1)
	}
	w.apart = old != nil && old.State.Final()
	return true, x.setWait(k, t.Search, w)
}

// setWait keeps how a search stands to a page.
func (x *tx) setWait(k recKey, search uint32, w wait) error {
	x.noteAwait(k, search, w)
	switch {
	case !w.waits:
		return x.b.Delete(awaitKey(k, search), nil)
	case w.apart:
		return x.b.Set(awaitKey(k, search), apartMark, nil)
	}
	return x.b.Set(awaitKey(k, search), nil, nil)
}

func (x *tx) noteAwait(k recKey, search uint32, w wait) {
	if x.awaited == nil {
		x.awaited = map[recKey]map[uint32]wait{}
	}
	if x.awaited[k] == nil {
		x.awaited[k] = map[uint32]wait{}
	}
	x.awaited[k][search] = w
}

// moved has the searches that wait for a page wait for the one that it redirects to: that one is what they have named.
func (x *tx) moved(from, to recKey) error {
	last, err := x.movedTo(to)
	if err == nil && last == from { // a wall of cookies leads back: the page is asked again
		last, err = to, x.b.Delete(awaitKey(to, 0), nil)
		x.redirects(to, recKey{})
	}
	if to = last; err != nil {
		return err
	}
	waiting, err := x.waiting(from)
	if err != nil {
		return err
	}
	for _, t := range waiting {
		x.tasks[t.ID] = t
		if err := x.setWait(from, t.Search, wait{}); err != nil {
			return err
		}
		fresh, err := x.await(t, to)
		if err != nil {
			return err
		}
		if !fresh {
			t.Of.Found-- // it has named both
		}
	}
	x.redirects(from, to)
	return x.b.Set(awaitKey(from, 0), to.key[:], nil)
}

// lostBefore reports whether a page was asked for and could not be had.
func (x *tx) lostBefore(r *record) bool {
	return crawl.EndedByNode(r.State, r.Reason) && r.Counted&countedGood == 0
}

// unwanted reports whether a page was given up because no search waited for it any more, or with its task.
func (x *tx) unwanted(r *record) bool {
	return r.State == crawl.Excluded && r.Reason == crawl.ReasonDropped
}

// movedTo follows the redirects of pages that have ended. Where they lead stands where a search would that has no number.
func (x *tx) movedTo(k recKey) (recKey, error) {
	for range crawl.MaxRedirects {
		if to, ok := x.led[k]; ok && to == (recKey{}) {
			return k, nil
		} else if ok {
			k = to
			continue
		}
		to, ok, err := x.look.get(awaitKey(k, 0))
		if !ok || err != nil {
			return k, err
		}
		k.key = crawl.Key(to)
	}
	return k, nil
}

// had counts a page that has ended on a node, or with n = -1 that has not. Of a search that was dropped nothing counts any more.
func (x *tx) had(t *Task, r *record, node string, n int64) {
	if t.State == crawl.TaskDropped {
		return
	}
	s := t.Of
	s.Told = false
	if r.State == crawl.Fetched && r.Counted&countedGood != 0 {
		s.Collected += n
		x.did(t, learn.Step{Node: cmp.Or(node, s.Node), Had: n})
		return
	}
	if s.Lost += n; n > 0 && r.loss != "" {
		s.Loss, s.Gone = r.loss, r.gone
	}
}

// ends counts a page that has ended for the searches that wait for it; with n = -1 it is to be had again, and is as it was.
func (x *tx) ends(k recKey, r *record, n int64) error {
	prefix := awaitsOf(k)
	node, err := x.doer(k, r)
	if err != nil {
		return err
	}
	count := func(search uint32) {
		if t := x.f.Searching(k.job, search); t != nil {
			x.had(t, r, node, n)
			x.tasks[t.ID] = t
		}
	}
	for search, w := range x.awaited[k] { // of this very entry: the store does not know yet
		if w.waits {
			count(search)
		}
	}
	return x.f.each(prefix, func(key, _ []byte) error {
		search := binary.BigEndian.Uint32(key[len(prefix):])
		if _, known := x.awaited[k][search]; !known {
			count(search)
		}
		return nil
	})
}
