package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"argosy/internal/crawl"
)

// maxTraps bounds how many lines tell of traps. Sites share them.
const maxTraps = 20

// mergeTraps makes one of those that stand for the same URLs of a site: several crawlers, and searches, have tasks of their own there.
func mergeTraps(traps []crawl.Trap) (out []crawl.Trap) {
	at := map[crawl.Trap]int{}
	for _, t := range traps {
		key := crawl.Trap{Site: t.Site, Budget: t.Budget, Chain: t.Chain, Hosts: t.Hosts, Part: t.Part}
		if !t.Budget && !t.Chain {
			key.Template = t.Template
		}
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, t)
			continue
		}
		of := &out[i]
		of.Waiting += t.Waiting
		switch {
		case of.Template == t.Template:
			of.Answers, of.Empty, of.Varied = of.Answers+t.Answers, of.Empty+t.Empty, of.Varied+t.Varied
		case t.Answers > of.Answers:
			of.Template, of.Answers, of.Empty, of.Varied = t.Template, t.Answers, t.Empty, t.Varied
		}
	}
	return out
}

// trapLine is what one line tells of: the traps of one kind in one section of a site.
type trapLine struct {
	kind  crawl.TrapKind
	first crawl.Trap // the one that is told of
	kinds int64      // of URLs
	crawl.Trap
}

// trapLines makes a line of the traps of one kind in one section of a site, what may have lost most first. Where a site's share of the lines has no
// room for a section, the first line of the kind there tells of it, too.
func trapLines(traps []crawl.Trap) (out []trapLine) {
	type place struct {
		kind          crawl.TrapKind
		site, section string
	}
	traps = mergeTraps(traps)
	slices.SortStableFunc(traps, crawl.CompareTraps)
	told := map[string]int{} // lines of a site
	for _, t := range traps {
		told[t.Site] = 0
	}
	share, at, firstOf := maxTraps/max(1, len(told)), map[place]int{}, map[place]int{}
	for _, t := range traps {
		here, kind := place{t.Kind(), t.Site, sectionOf(t)}, place{t.Kind(), t.Site, ""}
		i, ok := at[here]
		if !ok && told[t.Site] >= share {
			i, ok = firstOf[kind]
		}
		if !ok {
			at[here] = len(out)
			if _, known := firstOf[kind]; !known {
				firstOf[kind] = len(out)
			}
			out = append(out, trapLine{kind: t.Kind(), first: t, kinds: 1, Trap: t})
			told[t.Site]++
			continue
		}
		l := &out[i]
		l.kinds++
		l.Waiting, l.Answers, l.Empty, l.Varied = l.Waiting+t.Waiting, l.Answers+t.Answers, l.Empty+t.Empty, l.Varied+t.Varied
		if l.first.Template == "" {
			l.first = t
		}
	}
	slices.SortStableFunc(out, func(x, y trapLine) int {
		if x.kind == crawl.TrapOpen && y.kind == crawl.TrapOpen {
			return 0 // the longest is the first already
		}
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(y.Waiting, x.Waiting))
	})
	return out
}

// sectionOf returns the first segment of what a trap's URLs look like, and the part of them that makes no difference.
func sectionOf(t crawl.Trap) string {
	path := strings.TrimPrefix(t.Template, "/")
	if i := strings.IndexAny(path, "/?"); i >= 0 {
		path = path[:i]
	}
	return path + " " + t.Part
}

// retryCut is the command that lets go on what waits in a directory because those like it brought nothing new.
func retryCut(dir string) string { return "argosy retry " + crawl.Arg(dir) + " --cut" }

// printTraps says which URLs were left out because those like them brought nothing new, and how they are let go on: again is the command, empty if
// nothing of the crawl is kept.
func printTraps(w io.Writer, traps []crawl.Trap, again string) {
	lines, cut, folded := trapLines(traps), false, false
	for i, l := range lines {
		if i == maxTraps {
			fmt.Fprintf(w, "  … and more on %s (argosy tasks --json has all)\n", plural(sitesOf(lines[i:]), "site"))
			folded = false
			break
		}
		folded = folded || l.kinds > 1
		fmt.Fprintf(w, "  %s\n", l)
		cut = cut || l.kind != crawl.TrapBudget && l.kind != crawl.TrapRedirects
	}
	if folded {
		fmt.Fprintln(w, "  argosy tasks --json has all kinds of URLs that were left out, each with an example")
	}
	if cut && again != "" {
		fmt.Fprintf(w, "  what was left out may name more than is counted here: %s, and then the same crawl again, fetches more of it (# is any number, * any name, … any path)\n", again)
	}
}

func sitesOf(lines []trapLine) int64 {
	sites := map[string]bool{}
	for _, l := range lines {
		sites[l.Site] = true
	}
	return int64(len(sites))
}

func (l trapLine) String() string {
	one := "one: " + clip(l.first.Example)
	switch l.kind {
	case crawl.TrapBudget:
		return fmt.Sprintf("%s has had its --site-pages: %s refused; %s of its answers are of %s", l.Site, plural(l.Waiting, "URL"), count(l.Answers), l.Template)
	case crawl.TrapRedirects:
		return fmt.Sprintf("%s redirects without end: %s left out; %s", l.Site, plural(l.Waiting, "URL"), one)
	case crawl.TrapOpen:
		return fmt.Sprintf("trap on %s: a chain%s cut after %s, %s; nobody knows how much follows %s",
			l.Site, l.like("like"), plural(l.Answers, "answer"), emptyOf(l.Trap), clip(l.first.Example))
	case crawl.TrapHosts:
		return fmt.Sprintf("trap on %s: %s on hosts%s left out: of %s of such hosts %s brought nothing new; %s", l.Site, plural(l.Waiting, "URL"), l.like("like"),
			plural(l.Answers, "first page"), count(l.Empty), one)
	case crawl.TrapPart:
		return fmt.Sprintf("trap on %s: %s%s left out: %s makes no difference to the page; %s", l.Site, plural(l.Waiting, "URL"), l.like("like"), l.first.Part, one)
	}
	why := ""
	if l.Answers > 0 {
		why = fmt.Sprintf(": of %s from such URLs %s brought nothing new", plural(l.Answers, "answer"), count(l.Empty))
	}
	return fmt.Sprintf("trap on %s: %s%s left out%s; %s", l.Site, plural(l.Waiting, "URL"), l.like("like"), why, one)
}

// emptyOf says how many of a chain's answers brought nothing, and whether most of these only varied: a table of figures may be worth having.
func emptyOf(t crawl.Trap) string {
	if 2*t.Varied > t.Empty {
		return count(t.Empty) + " of them new by a word or two, by numbers or by their order only"
	}
	return count(t.Empty) + " with nothing new"
}

// like names what the URLs of a line look like, if it is known.
func (l trapLine) like(word string) string {
	if strings.Trim(l.first.Template, " ") == "" {
		return ""
	}
	if l.kinds > 1 {
		return fmt.Sprintf(" %s %s (and %s more)", word, l.first.Template, plural(l.kinds-1, "kind"))
	}
	return " " + word + " " + l.first.Template
}
