package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/verdict"
)

// meaning says in words why a site brought nothing, and which step helps; both are empty for a reason that speaks for itself.
type meaning struct{ what, step string }

// meanings are by the reason, of which crawl.Kind has the words, or by the HTTP status.
var meanings = map[string]meaning{
	string(crawl.KindNoHost):       {"", "check the name; --resolve HOST=IP gives it an address, --dns SERVER asks another name server"},
	string(crawl.KindDNS):          {"", "check the network; --dns SERVER asks another one"},
	string(crawl.KindRefused):      {"", "check the port, and http:// or https://"},
	string(crawl.KindCertificate):  {"", "--ca FILE trusts another authority, --insecure any certificate"},
	string(crawl.KindExpired):      {"", "its operator must renew it; --insecure takes any certificate"},
	string(crawl.ReasonNoHTTPS):    {"given without a scheme, and not to be had by https", "the seed with https:// before it, and --ca FILE or --insecure, in a new directory (-o)"},
	string(crawl.KindOtherName):    {"", "check the name; --insecure takes any certificate"},
	string(crawl.KindTLS):          {"", "check the port, and http:// or https://"},
	string(crawl.KindWantsCert):    {"", "ask its operator for another way in: a proxy that shows one (--proxy)"},
	string(crawl.KindNoTLS):        {"", "http:// instead of https://, or another port"},
	string(crawl.KindNotHTTP):      {"", "check the port: no web server listens at this one"},
	string(crawl.KindWantsTLS):     {"", "https:// instead of http://"},
	string(crawl.KindConnect):      {"", "check the network and the address; --proxy goes another way"},
	string(crawl.KindTimeout):      {"", "check the address; --connect-timeout and --header-timeout wait longer, --proxy goes another way"},
	string(crawl.KindProxy):        {"", "check --proxy"},
	string(crawl.KindDenied):       {"", "argosy retry DIR, then go on with --allow-private, or --allow-private=CIDR for such addresses alone"},
	string(crawl.ReasonRobots):     {"", "ask its operator; --ignore-robots, in a new directory (-o), is for your own sites"},
	string(crawl.ReasonRobotsDown): {"", "try again later: the same crawl goes on, or argosy retry DIR; --ignore-robots, in a new directory (-o), is for your own sites"},
	string(crawl.ReasonNoFollow):   {"", "--ignore-nofollow, in a new directory (-o), follows them"},
	string(crawl.ReasonTopic):      {"", "--tunnel follows links further, --topic-threshold takes more pages for ones on it"},
	string(crawl.ReasonScope):      {"outside the scope, where a seed brings no further page", "--scope, in a new directory (-o), says what belongs to the crawl"},
	string(crawl.ReasonInclude):    {"", "look at --include; another one wants a new directory (-o)"},
	string(crawl.ReasonExclude):    {"", "look at --exclude; another one wants a new directory (-o)"},
	string(crawl.KindStatus):       {"", "the same crawl goes on then; --delay asks it more slowly"},
	string(crawl.ReasonRedirects):  {"", "--cookies of a browser that has passed it may end that"},
	"400":                          {"it does not take our request (400)", "check the port, and http:// or https://"},
	"401":                          {"a login is wanted (401)", "the same crawl with a seed http://USER:PASSWORD@HOST/, --header \"Authorization: …\", or --cookies of a login"},
	verdict.RefusedLogin:           {"the name or the password is refused (401)", "check USER:PASSWORD@ of the seed, where @ is %40 and : is %3A in either; the same crawl asks again"},
	"403":                          {"access is refused (403)", "the same crawl with --cookies of a login, or a longer --delay, asks again; --user-agent, in a new directory (-o), says who you are"},
	"404":                          {"there is no such page (404)", "check the seed's path"},
	"407":                          {"the proxy wants a login (407)", "--proxy http://USER:PASSWORD@HOST:PORT"},
	"410":                          {"the page is gone (410)", "check the seed's path"},
	"429":                          {"fewer requests are asked for (429)", "--delay asks more slowly, and argosy retry DIR --status 429 asks again"},
	"451":                          {"it may not be shown here, by law (451)", "a node in another country may see it: argosy agent --bind, or --proxy"},
	"999":                          {"it takes us for a robot that it does not want (999)", "--user-agent, in a new directory (-o), says who you are; or ask its operator"},
	"500":                          {"an error of the server's own (500)", "try again later: argosy retry DIR --status 500"},
	"502":                          {"what is behind it does not answer (502)", "try again later: argosy retry DIR --status 502"},
	"503":                          {"it is not available (503)", "try again later, or with a longer --delay: argosy retry DIR --status 503"},
	string(crawl.KindProtocol):     {"", "check the port, and http:// or https://"},
	string(crawl.KindReset):        {"", "check the port, and http:// or https://; --user-agent, in a new directory (-o), says who you are"},
	string(crawl.KindSlow):         {"", "--min-rate allows slower ones"},
	string(crawl.KindBodyLarge):    {"", "--max-body takes larger ones"},
	string(crawl.KindBomb):         {"", "--max-body allows larger ones: four times as much once decompressed"},
	string(crawl.KindLong):         {"", "URLs that stand behind them can be given as seeds (--seeds FILE)"},
	string(crawl.KindScripts):      {"", "scripts are not run: its sitemap (--sitemaps), or the addresses that its scripts ask, may be given as seeds (--seeds FILE)"},
	string(crawl.KindWall):         {"", "--cookies of a browser that has passed it, in a new directory (-o); in the middle of a session a longer --delay may help"},
	string(crawl.KindForm):         {"", "--cookies of a browser that has passed a log-in; what a search finds: docs/collect.md"},
	ledger.LossSame:                {"they show the same page, byte for byte", inPlace},
	ledger.LossTitled:              {"they have one title, and name hardly anything", inPlace},
	ledger.LossLed:                 {"they lead to one page of their site", inPlace + "; a limit may be over later: argosy retry DIR --status 302 asks for them once more"},
	ledger.LossAlone:               {"a seed, whose page names no other", "links that scripts would make are not seen (--sitemaps); " + inPlace},
	ledger.LossEmpty:               {"the answer to a seed is empty", "others may be answered otherwise: --user-agent, --header, --cookies, in a new directory (-o)"},
	string(crawl.KindHeaderLarge):  {"", "check the address: no browser takes such an answer"},
	string(crawl.KindSearch):       {"", "argosy tasks says what its searches wait for, and argosy tasks show each one's history"},
}

// inPlace is the step where something may stand in the place of pages.
const inPlace = "if that asks for consent or a log-in, --cookies of a browser that has passed it, in a new directory (-o)"

// meaningOf returns what a reason means.
func meaningOf(why string) meaning {
	m := meanings[why]
	m.what = cmp.Or(m.what, crawl.Kind(why).Words())
	return m
}

// whatOf says why in words, with the detail that there is.
func whatOf(why, detail string) string {
	if why == string(crawl.KindSearch) && detail != "" {
		return detail
	}
	what := meaningOf(why).what
	if what == "" {
		what = why
		if len(why) == 3 && why[0] >= '1' && why[0] <= '9' {
			what = "the answer's status is " + why
		}
	}
	if detail = crawl.Brief(detail); detail != "" {
		what += ": " + detail
	}
	return what
}

// maxTold bounds how many sites are told of, of one reason.
const maxTold = 5

// stepOf returns the step that helps where a crawl lies in dir; empty if there is none.
func stepOf(why, dir string) string { return at(meanings[why].step, dir) }

// at puts a directory into a step.
func at(step, dir string) string {
	return strings.ReplaceAll(step, "retry DIR", "retry "+crawl.Arg(dir))
}

// printTroubles says which sites brought nothing to a crawl, why, and which step helps.
func printTroubles(w io.Writer, s assemble.Summary) {
	var order []string
	by := map[string][]verdict.Trouble{}
	for _, t := range s.Troubles {
		why := t.Reason()
		if by[why] == nil {
			order = append(order, why)
		}
		by[why] = append(by[why], t)
	}
	for _, why := range order {
		of := by[why]
		for _, t := range of[:min(len(of), maxTold)] {
			fmt.Fprintf(w, "  %s: %s (%s)\n", t.Site, whatOf(why, t.Detail), plural(t.URLs, "URL"))
		}
		if n := s.Troubled[why] - maxTold; n > 0 {
			fmt.Fprintf(w, "  … and %s more for the same reason\n", plural(n, "site"))
		}
		if step := stepOf(why, s.Out); step != "" {
			fmt.Fprintf(w, "    → %s\n", step)
		}
	}
}

// inPart are the steps where a site works otherwise: what to check of the whole of it helps nothing.
var inPart = map[string]string{
	string(crawl.KindReset):    again,
	string(crawl.KindProtocol): again,
	string(crawl.KindTLS):      again,
	string(crawl.KindSlow):     meanings[string(crawl.KindSlow)].step + "; " + again,
	string(crawl.KindRefused):  again,
	string(crawl.KindConnect):  again,
	string(crawl.KindNoHost):   again,
	string(crawl.KindDNS):      again,
	string(crawl.KindTimeout):  "--header-timeout and --body-timeout wait longer; " + again,
	string(crawl.KindArchive):  again,
	string(crawl.KindInternal): again,
	"401":                      "argosy retry DIR --status 401, and then the same crawl with a login, asks for them once more",
	"403":                      "argosy retry DIR --status 403, and then the same crawl with --cookies of a login, asks for them once more",
	string(crawl.KindEncoding): "it is archived as it came, and read as far as that goes",
}

const again = "argosy retry DIR, and then the same crawl again, asks for them once more"

// printLosses says what was lost on sites that have brought something, with one URL of each kind, and the step that helps; what their
// robots.txt forbids comes last.
func printLosses(w io.Writer, s assemble.Summary) {
	losses := slices.Clone(s.Losses)
	slices.SortStableFunc(losses, func(a, b verdict.Loss) int { return cmp.Compare(forbidden(a), forbidden(b)) })
	for _, l := range losses {
		on, one := "", "; one: "
		if l.URLs == 1 {
			one = ": "
		}
		if l.Sites > 1 {
			on = " on " + plural(l.Sites, "site")
		}
		fmt.Fprintf(w, "  %s%s: %s%s%s\n", plural(l.URLs, "URL"), on, whatOf(l.Why, l.Detail), one, clip(l.Example))
		step, ok := inPart[l.Why]
		if !ok {
			step = meanings[l.Why].step
		}
		if l.Flag != "" {
			step = lets(l)
		}
		if step != "" {
			fmt.Fprintf(w, "    → %s\n", at(step, s.Out))
		}
	}
}

// lets says how what lies outside the scope comes in.
func lets(l verdict.Loss) string {
	what := "it"
	switch {
	case l.Admits < l.URLs:
		what = fmt.Sprintf("%s of them", count(l.Admits))
	case l.URLs > 1:
		what = "them"
	}
	step := fmt.Sprintf("%s, in a new directory, lets %s in", l.Flag, what)
	if l.Flag == "--scope "+string(crawl.ScopeAny) {
		step += " (and all that they lead to: with --max-pages, say); so does a further seed"
	}
	return step
}

func forbidden(l verdict.Loss) int {
	if l.Why == string(crawl.ReasonRobots) || l.Why == string(crawl.ReasonRobotsDown) {
		return 1
	}
	return 0
}

// nothingFetched is the error of a crawl that has brought nothing; alone says that nothing else has been printed of it.
func nothingFetched(s assemble.Summary, alone bool) error {
	msg := "nothing was fetched"
	if s.Fetched > 0 {
		msg = "no page was had: every answer was an error"
	}
	if s.Moved > 0 {
		msg = "no page was had: every answer was a redirect or an error; where they lead, argosy report " + crawl.Arg(s.Out) + " says"
	}
	if len(s.Troubles) > 0 && alone {
		t := s.Troubles[0]
		why := t.Reason()
		msg += ": " + t.Site + ": " + whatOf(why, t.Detail)
		if step := stepOf(why, s.Out); step != "" {
			msg += " (" + step + ")"
		}
		others := int64(-1)
		for _, n := range s.Troubled {
			others += n
		}
		if others > 0 {
			msg += fmt.Sprintf(", and %s more", plural(others, "site"))
		}
	}
	return &exitError{exitFailed, fmt.Errorf("%s", msg)}
}

// teller tells of problems while a crawl runs: each kind of a site once.
type teller struct {
	dir  string // of the crawl
	told map[string]bool
	left int // that are told at all
}

const maxTellings = 50

func newTeller(dir string) *teller {
	return &teller{dir: dir, told: map[string]bool{}, left: maxTellings}
}

// ofSites are the reasons of pages that are probably the whole site's.
var ofSites = []string{"401", verdict.RefusedLogin, "403", "429", "503", string(crawl.ReasonRobots), string(crawl.KindSearch)}

// lines returns what is to be told of problems that have come.
func (t *teller) lines(problems []agent.Problem) (out []string) {
	for _, p := range problems {
		why := reasonOf(p)
		if p.URL != "" && !p.Unseen && !slices.Contains(ofSites, why) && !p.Kind.Unreachable() {
			continue // of one page: the ledger has it
		}
		key := p.Site + " " + why
		if p.Kind == crawl.KindSearch {
			key += " " + p.Detail
		}
		if t.told[key] || t.left == 0 {
			continue
		}
		t.told[key] = true
		line := p.Site + ": " + whatOf(why, p.Detail)
		if p.URL != "" && p.Kind != crawl.KindSearch { // of one page, as far as is known
			line = clip(p.URL) + ": " + whatOf(why, "")
		}
		if p.Kind != crawl.KindSearch && rests(p) {
			line += "; " + asksUntil(p) + " (" + untilThen(t.dir) + ")"
		} else if p.Again && p.Rest > 0 {
			line += fmt.Sprintf("; asked again in %v", p.Rest.Round(time.Second))
		} else if p.Again && (p.Kind == crawl.KindStatus || p.Kind == crawl.ReasonRobotsDown) {
			line += fmt.Sprintf("; trying again for some %v (--retries, --backoff)", p.Patience)
		} else {
			if p.Again {
				line += "; trying again"
			}
			if step := stepOf(why, t.dir); step != "" && !(p.Again && p.Kind == crawl.KindSearch) {
				line += " (" + step + ")"
			}
		}
		if t.left--; t.left == 0 {
			line += "; no more is told here: see argosy report"
		}
		out = append(out, line)
	}
	return out
}

// waits says once that some sites are waited for, which the first of a crawl's problems says as well; empty: it has been said.
func (t *teller) waits(sites string) string {
	if sites == "" || t.left < maxTellings {
		return ""
	}
	t.left--
	return "waits for " + sites + " to answer (--connect-timeout and --header-timeout say how long)"
}

// quiet tells what a crawl waits for while nothing comes.
type quiet struct {
	had   [3]int64 // fetched, failed and excluded, when they changed last,
	since time.Time
}

// quietAfter is how long nothing comes before it is said whose answers are waited for: most take less.
const quietAfter = 3 * time.Second

// sample takes in how a crawl gets on.
func (q *quiet) sample(now time.Time, n crawl.Counts) {
	if had := [3]int64{n.Fetched, n.Failed, n.Excluded}; had != q.had || q.since.IsZero() {
		q.had, q.since = had, now
	}
}

// text says which sites are waited for, or until when nothing happens; empty if something does.
func (q *quiet) text(now time.Time, s coordinator.Status, running []agent.SiteStats, open int) string {
	if sites := q.asks(now, s, running, open); sites != "" {
		return "waits for " + sites + " to answer"
	}
	switch next := time.UnixMilli(s.NextMS); {
	case s.Counts.Pending() == 0:
	case len(running) == 0 && s.NextSite != "" && next.After(now):
		when := next.Format("15:04")
		if next.Sub(now) < time.Minute {
			when = next.Format("15:04:05")
		}
		return "waits until " + when + " to ask " + s.NextSite
	}
	return ""
}

// asks names the sites whose answers are waited for, if none has come for a while.
func (q *quiet) asks(now time.Time, s coordinator.Status, running []agent.SiteStats, open int) string {
	if s.Counts.Pending() == 0 || len(running) == 0 || open == 0 || now.Sub(q.since) < quietAfter {
		return ""
	}
	var sites []string
	for _, r := range running {
		sites = append(sites, r.Site)
	}
	slices.Sort(sites)
	return some(slices.Compact(sites), 1)
}

// rests reports whether a site has asked to be left alone for longer than a while.
func rests(p agent.Problem) bool { return p.Again && p.Rest > time.Minute }

// asksUntil says until when a site has asked to be left alone.
func asksUntil(p agent.Problem) string {
	until := p.At.Add(p.Rest)
	if p.Rest >= 12*time.Hour {
		return "it asks to wait until " + until.Format("2006-01-02 15:04")
	}
	return "it asks to wait until " + until.Format("15:04")
}

// untilThen is the step that helps who does not want to wait so long.
func untilThen(dir string) string {
	return "Ctrl-C, and argosy crawl -o " + crawl.Arg(dir) + " later goes on; --max-time ends it by itself"
}

// reasonOf is by which a problem's meaning is found.
func reasonOf(p agent.Problem) string {
	why := string(p.Kind)
	if p.Kind == crawl.KindStatus && p.Status > 0 {
		why = strconv.Itoa(p.Status)
	}
	return verdict.Trouble{Why: why, Detail: p.Detail, Login: p.Login}.Reason()
}
