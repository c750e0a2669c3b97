package frontier

import (
	"fmt"

	"argosy/internal/crawl"
)

// maxOmitted bounds what one page is believed to name without a record: more than fits into any page.
const maxOmitted = 1 << 32

// omit counts what a page named that has no record of its own: as discovered and excluded, by reason, and among what
// overflowed. A page may be reported twice, by a lease that was lost halfway and by the next one: what was counted of it
// before is kept, and gives way to the new counts.
func (x *tx) omit(t *Task, p *crawl.Found) error {
	if len(p.Omitted) == 0 {
		return nil
	}
	key := omittedKey(t.ID, p.Parent)
	was, err := x.omittedOf(key)
	if err != nil {
		return err
	}
	for reason, n := range was {
		x.addOmitted(t, reason, -n)
	}
	now := map[crawl.Kind]int64{}
	for reason, n := range p.Omitted {
		now[reason] = max(0, min(n, maxOmitted))
		x.addOmitted(t, reason, now[reason])
	}
	if x.omitted == nil {
		x.omitted = map[string]map[crawl.Kind]int64{}
	}
	x.omitted[string(key)] = now
	return x.set(key, now)
}

// addOmitted adds n excluded URLs that have no record.
func (x *tx) addOmitted(t *Task, reason crawl.Kind, n int64) {
	t.Discovered += n
	t.Omitted += n
	t.Overflow += n
	t.count(crawl.Excluded, reason, n)
	x.tasks[t.ID] = t
}

// omittedOf returns what was counted of a page, as this entry has left it.
func (x *tx) omittedOf(key []byte) (map[crawl.Kind]int64, error) {
	if was, ok := x.omitted[string(key)]; ok {
		return was, nil
	}
	v, ok, err := x.look.get(key)
	if err != nil || !ok {
		return nil, err
	}
	var was map[crawl.Kind]int64
	if err := crawl.Unmarshal(v, &was); err != nil {
		return nil, fmt.Errorf("frontier: damaged counts of what a page named: %w", err)
	}
	return was, nil
}
