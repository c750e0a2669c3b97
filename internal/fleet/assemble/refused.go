package assemble

import (
	"context"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// refusals are the statuses by which a site, or a proxy before it, wants us to be somebody else.
var refusals = []int{401, 403, 407}

// askRefused has the pages asked again that sites refused which have given nothing else: where the whole job was refused, and where
// this run has a login, headers or cookies for them. Who gives the command again may be let in now.
func (cr *Crawl) askRefused(ctx context.Context) error {
	job := cr.cfg.Job.ID
	if err := cr.co.Settled(ctx); err != nil { // the ledger has what the log has
		return err
	}
	sites, err := cr.refusing(ctx, job)
	if err != nil || len(sites) == 0 {
		return err
	}
	pages, err := cr.co.Answered(ctx, job, sites, refusals)
	if err != nil || len(pages) == 0 {
		return err
	}
	_, err = cr.co.Release(ctx, crawl.EntryRetry, sites, crawl.Release{Job: job, Lost: pages, Keep: true, Why: "they had been refused"})
	return err
}

// refusing returns the sites of a job whose refusals are worth another try, in order.
func (cr *Crawl) refusing(ctx context.Context, job uint32) (out []string, err error) {
	answers, err := cr.ledger.Statuses(ctx, job)
	if err != nil {
		return nil, err
	}
	given := map[string]bool{} // sites that this run introduces itself to
	for site := range cr.cfg.Logins {
		given[site] = true
	}
	if len(cr.cfg.Headers) > 0 || cr.cfg.Cookies != "" {
		err = cr.co.View(ctx, func(f *frontier.Frontier) error {
			f.Tasks(func(t *frontier.Task) {
				if t.Job == job && t.Seed {
					given[t.Site] = true
				}
			})
			return nil
		})
	}
	had := false
	for site, of := range answers {
		good := slices.ContainsFunc(of, func(a ledger.Answers) bool { return a.Status < 300 })
		had = had || good
		if !good && slices.ContainsFunc(of, func(a ledger.Answers) bool { return slices.Contains(refusals, a.Status) }) {
			out = append(out, site)
		}
	}
	if had {
		out = slices.DeleteFunc(out, func(site string) bool { return !given[site] })
	}
	slices.Sort(out)
	return out, err
}
