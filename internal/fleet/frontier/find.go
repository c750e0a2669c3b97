package frontier

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
)

// finder looks keys up in the view as it was when the first one was looked up. Most of the keys that a crawl asks for
// are new; the store's own lookup would read a block of its lowest level for each, because it asks the filters of the
// other levels only.
type finder struct {
	db  *pebble.DB
	it  *pebble.Iterator
	key [maxKey]byte // room for the key that is looked up
}

// get returns the value of a key, which is valid until the next call.
func (f *finder) get(key []byte) (value []byte, ok bool, err error) {
	if f.it == nil {
		if f.it, err = f.db.NewIter(&pebble.IterOptions{UseL6Filters: true}); err != nil {
			return nil, false, damaged(err)
		}
	}
	if !f.it.SeekPrefixGE(key) || !bytes.Equal(f.it.Key(), key) {
		return nil, false, damaged(f.it.Error())
	}
	value, err = f.it.ValueAndErr()
	return value, err == nil, damaged(err)
}

// close makes the next lookup see the view as it is then.
func (f *finder) close() error {
	if f.it == nil {
		return nil
	}
	it := f.it
	f.it = nil
	return it.Close()
}

// Names finds the URLs of keys of a job, such as parents.
type Names struct {
	f    *Frontier
	job  uint32
	look finder
}

// Names returns a finder of names; it is closed after use, and sees the view as it is when the first is looked up.
func (f *Frontier) Names(job uint32) *Names { return &Names{f: f, job: job, look: finder{db: f.db}} }

// URL returns the URL of a key; empty for the zero key, and for what nobody knows.
func (n *Names) URL(in crawl.Layer, k crawl.Key) (string, error) {
	if k == (crawl.Key{}) {
		return "", nil
	}
	r, err := n.f.load1(&n.look, recKey{space{n.job, in}, k})
	if err != nil || r == nil {
		return "", err
	}
	return r.URL, nil
}

// Had returns the task that has fetched a page; nil if it is not fetched, or the task was dropped.
func (n *Names) Had(p crawl.Page) (*Task, error) {
	r, err := n.f.load1(&n.look, recKey{space{n.job, p.Layer}, p.Key})
	if err != nil || r == nil || r.State != crawl.Fetched {
		return nil, err
	}
	if t := n.f.tasks[r.Task]; t != nil && t.State != crawl.TaskDropped {
		return t, nil
	}
	return nil, nil
}

// Close ends the finder.
func (n *Names) Close() error { return n.look.close() }
