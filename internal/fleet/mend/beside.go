package mend

import (
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// robotsPath is where a site says who may ask it what.
const robotsPath = "/robots.txt"

// maxRobots bounds what is counted of the body of one, in bytes: more than is read of it.
const maxRobots = 512 << 10

// claim notes whose the answers of a URL are: each is of the last job that has the URL and began before it, or, if none did, for a
// node's clock is slow, of the first that has it. Jobs that began later come first.
func (c captures) claim(j *frontier.Job, u *frontier.URL, site string) {
	of := c[u.URL]
	for i := range of {
		if !of[i].sure {
			of[i].job, of[i].layer, of[i].site, of[i].sure = j.ID, u.Layer, site, of[i].Date >= j.StartMS
		}
	}
}

// beside writes what is archived beside the pages: answers to what was asked again, and the robots.txt of sites that jobs have, and of
// those that they lead to. Stores may be shared: these must stand in a file of which something is a job's.
func (c captures) beside(to *ledger.Restorer, f *frontier.Frontier, jobs []*frontier.Job, r *Result) error {
	ours, sites := map[string]bool{}, map[uint32]map[string]bool{}
	for _, of := range c {
		for i := range of {
			if of[i].used || of[i].job != 0 {
				ours[of[i].Record.File] = true
			}
		}
	}
	f.Tasks(func(t *frontier.Task) {
		if sites[t.Job] == nil {
			sites[t.Job] = map[string]bool{}
		}
		sites[t.Job][t.Site] = true
	})
	for _, of := range c {
		for i := range of {
			a := &of[i]
			if a.used {
				continue
			}
			if u, err := crawl.Parse(a.URL); err == nil && a.job == 0 && u.Path() == robotsPath {
				a.Reason, a.site = crawl.ReasonRobots, u.Site()
				a.job = asked(jobs, sites, a, ours[a.Record.File])
			}
			if a.job == 0 {
				continue
			}
			a.Owner, a.Gen = a.layer.Owner, a.layer.Gen
			r.Pages++
			if err := to.Capture(a.job, a.site, &a.Outcome); err != nil {
				return err
			}
		}
	}
	return nil
}

// asked returns the job that has asked for a site's robots.txt: the last one that has the site and began before the answer, or, if none did,
// the first that has it. Where none has it, for the robots.txt of one was redirected there, it is a job that may have, if the answer is ours.
// Jobs that began later come first; 0: none did.
func asked(jobs []*frontier.Job, sites map[uint32]map[string]bool, a *capture, ours bool) (id uint32) {
	of := slices.DeleteFunc(slices.Clone(jobs), func(j *frontier.Job) bool { return !sites[j.ID][a.site] })
	if len(of) == 0 && ours {
		of = jobs
	}
	for _, j := range of {
		if id = j.ID; a.Date >= j.StartMS {
			break
		}
	}
	return id
}
