package frontier

import (
	"bytes"
	"slices"

	"argosy/internal/crawl"
)

// namesAgain makes the URLs pending that an outcome has asked again.
func (x *tx) namesAgain(t *Task, r *record, o *crawl.Outcome) error {
	for _, k := range o.Again {
		if err := x.askAgain(recKey{t.space(), k}, r.Hops+1); err != nil {
			return err
		}
	}
	for _, k := range crawl.Others(o.Walled, o.Key) {
		if err := x.walled(recKey{t.space(), k}); err != nil {
			return err
		}
	}
	return nil
}

// askAgain makes a URL pending that was answered by a redirect, so many hops behind the first of its chain: chains end, also those
// that go in circles.
func (x *tx) askAgain(k recKey, hops uint8) error {
	r, err := x.record(k.space, k.key)
	if err != nil || r == nil || r.State != crawl.Fetched || r.Counted&countedMoved == 0 {
		return err
	}
	if err := x.undo(k, r); err != nil {
		return err
	}
	r.Hops, r.Counted = hops, r.Counted|countedAgain|countedLed // some may have led to it
	return nil
}

// walled makes a URL pending whose answer stood in the place of its page.
func (x *tx) walled(k recKey) error {
	r, err := x.record(k.space, k.key)
	if err != nil || r == nil || r.State != crawl.Fetched {
		return err
	}
	return x.undo(k, r)
}

// leadsOn notes that a URL has led to another one of its site that waits, or leads on itself, perhaps to one that waits: one that was not found
// by its redirect.
func (x *tx) leadsOn(t *Task, o *crawl.Outcome) error {
	u, err := crawl.Parse(o.Redirect)
	if err != nil {
		return nil
	}
	to := recKey{t.space(), u.Key()}
	if !bytes.Equal(to.key[:4], o.Key[:4]) || to.key == o.Key { // a key begins with its site
		return nil
	}
	r, err := x.record(to.space, to.key)
	if err != nil || r == nil || r.Parent == o.Key && r.Hops > 0 || r.State != crawl.Pending && (r.State != crawl.Fetched || r.Counted&countedMoved == 0) {
		return err
	}
	if r.State == crawl.Pending {
		r.Counted, r.dirty = r.Counted|countedLed, true
	}
	return x.b.Set(append(ledTo(to), o.Key[:]...), nil, nil)
}

// maxLed bounds how many redirects a target is told of that have led to it, or to those that did.
const maxLed = crawl.MaxAgain - 1

// maxGates bounds of how many URLs on the way to a target it is looked up what has led to them.
const maxGates = 64

// led tells a target which redirects have led to it: those that it was found by, and others that have led here while it waited.
func (f *Frontier) led(look *finder, in space, r *record, g *crawl.Target) error {
	if r.Hops == 0 && r.Counted&countedLed == 0 {
		return nil
	}
	if err := f.chain(look, in, r, g); err != nil {
		return err
	}
	known := map[crawl.Key]bool{g.Key: true}
	for _, k := range g.Chain {
		known[k] = true
	}
	to := append([]crawl.Key{g.Key}, g.Chain...)
	for n := 0; n < len(to) && n < maxGates; n++ {
		prefix := ledTo(recKey{in, to[n]})
		err := f.each(prefix, func(key, _ []byte) error {
			if from := crawl.Key(key[len(prefix):]); len(g.Chain) < maxLed && !known[from] {
				known[from] = true
				g.Chain, to = append(g.Chain, from), append(to, from)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chain tells a target by which redirects it was found.
func (f *Frontier) chain(look *finder, in space, r *record, g *crawl.Target) error {
	if r.Hops == 0 {
		return nil
	}
	g.Again = r.Counted&countedAgain != 0
	for k := r.Parent; len(g.Chain) < crawl.MaxRedirects && k != g.Key && !slices.Contains(g.Chain, k); {
		p, err := f.load1(look, recKey{in, k})
		if err != nil {
			return err
		}
		if p == nil || p.Counted&countedMoved == 0 {
			return nil
		}
		g.Chain = append(g.Chain, k)
		k = p.Parent
	}
	return nil
}

// insecure tries a seed that was given without a scheme, and does not answer by https, by http.
func (x *tx) insecure(j *Job, t *Task, r *record) error {
	u, err := crawl.Parse("http" + r.URL[len("https"):])
	if err != nil {
		return nil
	}
	s := x.site(t.Site)
	s.RobotsState, s.RobotsTries, s.RobotsGone, s.Fails, s.BackoffUntil = crawl.RobotsUnknown, 0, false, 0, 0
	return x.add(j, t, crawl.Key{}, u, &record{Flags: crawl.FlagSeed})
}
