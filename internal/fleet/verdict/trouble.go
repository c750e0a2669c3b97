// Package verdict judges what a crawl came to: which sites brought nothing and why, what others lost, and what waits because it brought
// nothing new.
package verdict

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// Trouble is why a site brought nothing, or hardly anything.
type Trouble struct {
	Site   string `json:"site"`
	Why    string `json:"why"`              // a crawl.Kind, or an HTTP status
	Detail string `json:"detail,omitempty"` // in words
	URLs   int64  `json:"urls"`             // of the site, that ended so
	Login  bool   `json:"login,omitempty"`  // a name and a password were sent to it
}

// Judge has what a verdict is made of. It only reads; its caller keeps others from writing meanwhile.
type Judge struct {
	Ledger   *ledger.Ledger
	Frontier *frontier.Frontier
	Logins   map[string]string            // by site: a name and a password were sent there
	Last     func(site string) crawl.Kind // what went wrong at it last, of what is to be tried again; empty if that is not known
}

const (
	// MaxNamed bounds how many sites are named.
	MaxNamed = 1000
	// A site of which more than half of the answers, and at least so many, are refusals is in trouble although some are not.
	manyRefusals = 10
)

// Troubles judges what came of the sites of a job: it returns those that brought nothing, most URLs first, and how many
// URLs were answered with a status below 400, and how many of them with a redirect.
func (g *Judge) Troubles(ctx context.Context, job uint32) (out []Trouble, succeeded, moved int64, err error) {
	answers, err := g.Ledger.Statuses(ctx, job)
	if err != nil {
		return nil, 0, 0, err
	}
	reasons, searches := map[string]map[string]int64{}, map[string]*Trouble{}
	pending := map[string]int64{}
	g.Frontier.Tasks(func(t *frontier.Task) {
		if t.Job != job {
			return
		}
		if reasons[t.Site] == nil {
			reasons[t.Site] = map[string]int64{}
		}
		if g.unanswered(searches, t) {
			return
		}
		pending[t.Site] += t.Pending()
		for r, n := range t.Reasons {
			reasons[t.Site][r] += n
		}
	})
	for _, t := range searches {
		out = append(out, *t)
	}
	detail := g.details(ctx, job)
	for site, why := range reasons {
		good, all, status, most := int64(0), int64(0), 0, int64(0)
		for _, a := range answers[site] {
			all += a.URLs
			if crawl.Redirects(a.Status) {
				moved += a.URLs
			}
			if a.Status < 400 {
				good += a.URLs
			} else if a.URLs > most || a.URLs == most && a.Status < status {
				status, most = a.Status, a.URLs
			}
		}
		succeeded += good
		switch {
		case good > 0 && !(most >= manyRefusals && 2*most > all && refusal(status)):
		case most > 0:
			out = append(out, Trouble{Site: site, Why: strconv.Itoa(status), URLs: most, Login: g.Logins[site] != ""})
		default:
			if out, err = g.unasked(out, site, why, detail); err != nil {
				return nil, 0, 0, err
			}
			if len(why) == 0 && pending[site] > 0 {
				out = held(out, g.Frontier.Site(site), g.Last(site), pending[site], g.Frontier.Position().Ahead)
			}
		}
	}
	slices.SortFunc(out, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Site, b.Site))
	})
	return out, succeeded, moved, nil
}

// Tally returns the first MaxNamed of the troubles and how many sites have each reason.
func Tally(all []Trouble) (first []Trouble, sites map[string]int64) {
	sites = map[string]int64{}
	for _, t := range all {
		sites[t.Reason()]++
	}
	return all[:min(len(all), MaxNamed)], sites
}

// RefusedLogin is the reason where a name and a password were sent, and refused.
const RefusedLogin = "refused-login"

// Reason tells troubles apart that have different causes. It is Why, but where a login was refused.
func (t Trouble) Reason() string {
	if t.Why == strconv.Itoa(http.StatusUnauthorized) && t.Login {
		return RefusedLogin
	}
	return t.Why
}

// details returns what tells, in words, why the URLs of a site were lost for a reason, where it is the same for all of them. The ledger is
// read at the first question.
func (g *Judge) details(ctx context.Context, job uint32) func(site, why string) (string, error) {
	var of map[[2]string]string
	return func(site, why string) (string, error) {
		if of != nil {
			return of[[2]string{site, why}], nil
		}
		of = map[[2]string]string{}
		err := g.Ledger.Losses(ctx, job, func(v ledger.Loss) {
			if v.Detail != "" {
				of[[2]string{v.Site, v.Why}] = v.Detail
			}
		})
		return of[[2]string{site, why}], err
	}
}

// unbelieved reports whether what was lost is a seed without a scheme that has a certificate which is not believed.
func unbelieved(why, detail string) bool {
	return why == string(crawl.ReasonNoHTTPS) && crawl.KindIn(detail).Certificate()
}

// unanswered adds a search that waits for a person, or was refused by robots.txt, to the troubles of its engine, or of the site that keeps it;
// it reports whether the task is such a search.
func (g *Judge) unanswered(of map[string]*Trouble, t *frontier.Task) bool {
	if t.Of == nil || t.State != crawl.TaskManual && t.Reasons[string(crawl.ReasonRobots)] == 0 {
		return false
	}
	if target, why := g.Frontier.StuckBy(t); target != nil {
		if of[target.Site] == nil {
			of[target.Site] = &Trouble{Site: target.Site, Why: string(crawl.KindSearch), Detail: why}
		}
		of[target.Site].URLs += target.Pending()
		return true
	}
	if of[t.Site] == nil {
		of[t.Site] = &Trouble{Site: t.Site, Why: string(crawl.KindSearch)}
	}
	of[t.Site].URLs++
	if of[t.Site].Detail = t.Of.Why; t.State != crawl.TaskManual {
		of[t.Site].Detail = t.Of.Stop
	}
	return true
}

// unasked adds a site that has not answered any URL, with the reason that most of its URLs ended with. Of a seed without a scheme whose
// certificate is not believed http was asked then, and what it answers, or that nothing does, says nothing of it.
func (g *Judge) unasked(out []Trouble, site string, reasons map[string]int64, detail func(site, why string) (string, error)) ([]Trouble, error) {
	if reasons[string(crawl.ReasonNoHTTPS)] > 0 {
		d, err := detail(site, string(crawl.ReasonNoHTTPS))
		if err != nil {
			return nil, err
		}
		if unbelieved(string(crawl.ReasonNoHTTPS), d) {
			return append(out, Trouble{Site: site, Why: string(crawl.ReasonNoHTTPS), Detail: d, URLs: 1}), nil
		}
	}
	why, most := "", int64(0)
	for r, n := range reasons {
		if r == string(crawl.ReasonNoHTTPS) {
			continue // what http was answered is told
		}
		if n > most || n == most && r < why {
			why, most = r, n
		}
	}
	if most == 0 || crawl.Kind(why) == crawl.ReasonDropped {
		return out, nil
	}
	said, err := g.Frontier.Site(site).Trouble, error(nil)
	switch {
	case crawl.Kind(why) == crawl.ReasonRobots:
		said = ""
	case said == "": // it could be asked, and its pages were not had
		said, err = detail(site, why)
	}
	return append(out, Trouble{Site: site, Why: why, Detail: said, URLs: most}), err
}

// held adds a site that has had itself left alone until now, with what waits of it. last is why it has not answered, if that is known. The
// log's clock was set back by ahead ms so far.
func held(out []Trouble, s *crawl.Site, last crawl.Kind, pending, ahead int64) []Trouble {
	switch {
	case s == nil:
	case s.RobotsTries > 0 && s.RobotsWhy != "":
		return append(out, Trouble{Site: s.Name, Why: string(s.RobotsWhy), Detail: s.Trouble + notBefore(s, ahead), URLs: pending})
	case s.ResolveFails > 0 && s.ResolveWhy != "":
		return append(out, Trouble{Site: s.Name, Why: string(s.ResolveWhy), Detail: s.Trouble + notBefore(s, ahead), URLs: pending})
	case s.BackoffUntil > s.LastStart && s.Fails > 0: // it has not answered the last time
		return append(out, Trouble{Site: s.Name, Why: string(cmp.Or(last, crawl.KindConnect)), Detail: strings.TrimPrefix(notBefore(s, ahead), ", "), URLs: pending})
	case s.BackoffUntil > s.LastStart:
		return append(out, Trouble{Site: s.Name, Why: string(crawl.KindStatus), Detail: strings.TrimPrefix(notBefore(s, ahead), ", "), URLs: pending})
	case last != "": // it was being asked again
		return append(out, Trouble{Site: s.Name, Why: string(last), URLs: pending})
	}
	return out
}

// notBefore says until when a site is left alone, if that is longer than a while.
func notBefore(s *crawl.Site, ahead int64) string {
	if s.BackoffUntil-s.LastStart < time.Minute.Milliseconds() {
		return ""
	}
	return ", not before " + time.UnixMilli(s.BackoffUntil-ahead).Format("2006-01-02 15:04")
}

// refusal reports whether a status says that a site does not want us.
func refusal(status int) bool { return status == 401 || status == 403 || status == 429 }

// Loss is what was lost for one reason on sites of which more was had.
type Loss struct {
	Why     string `json:"why"` // a crawl.Kind, an HTTP status, or ledger.LossEmpty
	URLs    int64  `json:"urls"`
	Sites   int64  `json:"sites"`
	Example string `json:"example"`          // a URL, of the site that has lost most
	Detail  string `json:"detail,omitempty"` // in words, where it is the same for all
	Flag    string `json:"flag,omitempty"`   // of URLs outside the scope: what lets Admits of them in
	Admits  int64  `json:"admits,omitempty"`
}

// Losses returns what sites have lost beside what they have brought, most URLs first. What is told as the trouble of a site is left out,
// and so are pages that are not there: they are broken links.
func (g *Judge) Losses(ctx context.Context, j *frontier.Job, troubles []Trouble) (out []Loss, err error) {
	told := map[[2]string]bool{}
	for _, t := range troubles {
		told[[2]string{t.Site, t.Why}] = true
	}
	all, most := map[string]*Loss{}, map[string]int64{}
	err = g.Ledger.Losses(ctx, j.ID, func(v ledger.Loss) {
		if told[[2]string{v.Site, v.Why}] || v.Why == "404" || v.Why == "410" || v.Why == string(crawl.ReasonNoHTTPS) && !unbelieved(v.Why, v.Detail) {
			return
		}
		if told[[2]string{v.Site, string(crawl.ReasonNoHTTPS)}] && crawl.Kind(v.Why).Unreachable() {
			return // by http, which nobody has named
		}
		l := all[v.Why]
		if l == nil {
			l = &Loss{Why: v.Why, Detail: v.Detail}
			all[v.Why] = l
		}
		if l.URLs, l.Sites = l.URLs+v.URLs, l.Sites+1; l.Detail != v.Detail {
			l.Detail = ""
		}
		if v.URLs > most[v.Why] || v.URLs == most[v.Why] && v.Example < l.Example {
			most[v.Why], l.Example = v.URLs, v.Example
		}
	})
	for _, l := range all {
		out = append(out, *l)
	}
	if err != nil {
		return nil, err
	}
	if l, err := g.outside(j, troubles); err != nil {
		return nil, err
	} else if l != nil {
		out = append(out, *l)
	}
	if out, err = g.alike(ctx, j, troubles, out); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Loss) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Why, b.Why)) })
	return out, nil
}

// Traps returns what waits of the job because it brought nothing new, what may have lost most first.
func (g *Judge) Traps(job uint32) (out []crawl.Trap, err error) {
	g.Frontier.Tasks(func(t *frontier.Task) {
		if t.Job == job && err == nil {
			var of []crawl.Trap
			of, err = g.Frontier.Traps(t.ID)
			out = append(out, of...)
		}
	})
	slices.SortFunc(out, crawl.CompareTraps)
	return out, err
}
