package main

import (
	"fmt"
	"io"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
)

// maxAbout bounds how much of what a topic is called is printed.
const maxAbout = 40

// printTopic says how many pages are on the topic, and why no more links are followed.
func printTopic(w io.Writer, s assemble.Summary) {
	if s.Topic == "" {
		return
	}
	share := ""
	if s.Pages > 0 {
		share = fmt.Sprintf(", %.1f %% of the pages", 100*float64(s.Relevant)/float64(s.Pages))
	}
	about := []rune(s.Topic)
	if len(about) > maxAbout {
		about = append(about[:maxAbout-1], '…')
	}
	fmt.Fprintf(w, "  %10s on the topic %q%s\n", count(s.Relevant), string(about), share)
	if s.Relevant > 0 {
		fmt.Fprintf(w, "             (argosy export %s --min-score %g lists them)\n", crawl.Arg(s.Out), s.Threshold)
	}
	for _, d := range s.GaveWay {
		of := d.Domain
		if d.Domains > 0 {
			of += fmt.Sprintf(" and %s found by way of it", plural(int64(d.Domains), "domain"))
		}
		fmt.Fprintf(w, "  %10s URLs are of %s,\n             which gave way to other domains with pages on the topic\n             (--exclude or --site-pages hold it back)\n", count(d.Pages), of)
	}
	ended := s.State == crawl.JobDone || s.State == crawl.JobLimited
	if ended && s.Pages > 0 && s.Relevant == 0 {
		fmt.Fprintf(w, "  no page is on the topic: check its words (argosy topic show), or give other\n  seeds\n")
	}
	switch {
	case s.State == crawl.JobLimited && s.Stuck != nil:
		printStuck(w, s)
	case s.State == crawl.JobDone && s.Succeeded > 0:
		printRunOut(w, s)
	}
}

// leftOut are the refusals of what limits and rules keep from a crawl, as they are said of the URLs.
var leftOut = []struct {
	reason crawl.Kind
	said   string
}{
	{crawl.ReasonPromise, "below what crawlers follow (--market understanding=0 follows all)"},
	{crawl.ReasonTopic, "behind more pages off the topic than --tunnel allows"},
	{crawl.ReasonDepth, "deeper than --max-depth"},
	{crawl.ReasonSiteBudget, "beyond --site-pages"},
	{crawl.ReasonTrapYield, "like others that brought nothing new"},
	{crawl.ReasonTrapHosts, "on hosts like others that brought nothing new"},
	{crawl.ReasonTrapMap, "beyond the limits of sitemaps"},
	{crawl.ReasonTrapLength, "longer than --max-url-length"},
	{crawl.ReasonRedirects, "behind too many redirects"},
	{crawl.ReasonRobots, "disallowed by robots.txt"},
	{crawl.ReasonRobotsDown, "on sites whose robots.txt was not to be had"},
	{crawl.ReasonNoFollow, "named only by pages that ask not to follow"},
	{crawl.ReasonDropped, "dropped by a person"},
}

// printRunOut says that links have run out, what was left out, and what reaches further.
func printRunOut(w io.Writer, s assemble.Summary) {
	var out []string
	fixed := ""
	for _, x := range leftOut {
		n := s.Reasons[string(x.reason)]
		if n == 0 {
			continue
		}
		out = append(out, fmt.Sprintf("    %s %s\n", plural(n, "URL"), x.said))
		if x.reason == crawl.ReasonPromise || x.reason == crawl.ReasonTopic {
			fixed = "\n  (--tunnel and understanding can be changed in a new directory only)"
		}
	}
	if len(out) == 0 {
		fmt.Fprintf(w, "  links have run out: everything in the scope was asked for; more seeds or a\n  wider --scope reach further\n")
		return
	}
	fmt.Fprintf(w, "  links have run out: all of the scope was asked for, but for\n%s  other limits, more seeds or a wider --scope reach further%s\n", strings.Join(out, ""), fixed)
}

// stuckWays are what a crawler may lack to go on, as it is said.
var stuckWays = []struct{ lack, said string }{
	{"ability", "%d without ability"},
	{"lifetime", "%d without lifetime"},
	{"space", "%d without space"},
	{"alpha", "%d at their target, and nobody sells"},
	{"urls", "%d without URLs"},
}

// printStuck says why no crawler of several could go on, and how they can.
func printStuck(w io.Writer, s assemble.Summary) {
	var said, more []string
	for _, x := range stuckWays {
		if n := s.Stuck.Lacked[x.lack]; n > 0 {
			said = append(said, fmt.Sprintf(x.said, n))
		}
	}
	was, now := s.Market, s.Stuck.More
	for _, p := range []struct {
		name     string
		was, now any
	}{{"alpha", was.Alpha, now.Alpha}, {"beta", was.Beta, now.Beta}, {"lifetime", was.Lifetime, now.Lifetime}, {"space", was.Space, now.Space}} {
		if p.was != p.now {
			more = append(more, fmt.Sprintf("%s=%v", p.name, p.now))
		}
	}
	fmt.Fprintf(w, "  no crawler can go on: %s\n", strings.Join(said, "; "))
	if len(more) > 0 {
		fmt.Fprintf(w, "  they can with more: argosy crawl -o %s\n    --market %s\n", crawl.Arg(s.Out), strings.Join(more, ","))
	}
}
