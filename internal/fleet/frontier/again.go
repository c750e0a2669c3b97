package frontier

import (
	"slices"

	"argosy/internal/crawl"
)

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
	r.Hops, r.Counted = hops, r.Counted|countedAgain
	return nil
}

// led tells a target which redirects have led to it.
func (f *Frontier) led(look *finder, in space, r *record, g *crawl.Target) error {
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
