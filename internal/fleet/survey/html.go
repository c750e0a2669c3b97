package survey

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

//go:embed survey.css
var style string

const (
	namedBroken    = 25 // broken URLs that are shown before the reader asks for more
	namedSites     = 200
	namedTemplates = 100
	namedTraps     = 50
	openReasons    = 3 // up to so many reasons of refusal are shown unfolded
)

// Explain says in words why a URL was not fetched, and which step helps; both may be empty.
type Explain func(reason string) (what, step string)

// HTML writes the report as one file that needs nothing else. It is built as nodes, whose text and attributes the renderer
// escapes: a template of the standard library calls methods by names that are known only when it runs, and because of that the
// linker keeps every exported method of every type (docs/decisions.md).
func (r *Report) HTML(w io.Writer, explain Explain) error {
	head := el("head", nil,
		el("meta", at{"charset": "utf-8"}),
		el("meta", at{"name": "viewport", "content": "width=device-width, initial-scale=1"}),
		el("meta", at{"name": "robots", "content": "noindex, nofollow"}),
		el("title", nil, r.title()+" – crawl report"),
		el("style", nil, style))
	body := el("main", nil, r.head(), r.overTime(), r.harvest(),
		el("div", class("grid"),
			el("div", class("card"), el("h3", nil, "Status codes"), chart(statusBars(r.Statuses))),
			el("div", class("card"), el("h3", nil, "Types"), chart(bars(r.Types, plain))),
			el("div", class("card"), el("h3", nil, "Sizes of bodies"), chart(bars(r.Sizes, plain)))),
		r.brokenLinks(), r.sites(),
		heading("slow", "Slowest sites"), lead("By the mean time from a request to the first byte of its answer."),
		el("div", class("card sites"), chart(slowBars(r.Sites))),
		r.refused(explain), r.traps(), r.templates(), r.duplicates(), r.redirects(),
		el("footer", nil, "Made ", date(r.Made), " by argosy report ", r.Dir, "."))
	doc := &html.Node{Type: html.DocumentNode}
	doc.AppendChild(&html.Node{Type: html.DoctypeNode, Data: "html"})
	doc.AppendChild(el("html", at{"lang": "en"}, head, el("body", nil, body)))
	return html.Render(w, doc)
}

// at holds the attributes of an element.
type at map[string]string

func class(name string) at { return at{"class": name} }

// nodes is a piece of the page; nil draws nothing.
type nodes []*html.Node

// el makes an element. Its parts are strings, elements and pieces of the page.
func el(tag string, attrs at, parts ...any) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: tag, DataAtom: atom.Lookup([]byte(tag))}
	for _, key := range slices.Sorted(maps.Keys(attrs)) {
		n.Attr = append(n.Attr, html.Attribute{Key: key, Val: attrs[key]})
	}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			n.AppendChild(&html.Node{Type: html.TextNode, Data: p})
		case *html.Node:
			if p != nil {
				n.AppendChild(p)
			}
		case nodes:
			for _, child := range p {
				n.AppendChild(child)
			}
		}
	}
	return n
}

// list draws each item.
func list[T any](items []T, draw func(T) *html.Node) (out nodes) {
	for _, item := range items {
		out = append(out, draw(item))
	}
	return out
}

// when is what is drawn only if something holds.
func when(holds bool, n *html.Node) *html.Node {
	if !holds {
		return nil
	}
	return n
}

func heading(id, text string) *html.Node { return el("h2", at{"id": id}, text) }
func lead(parts ...any) *html.Node       { return el("p", class("lead"), parts...) }
func none(text string) *html.Node        { return el("p", class("none"), text) }
func words(parts ...any) *html.Node      { return el("span", class("words"), parts...) }

// shortURL shows a URL, the whole of which stands in its title.
func shortURL(url string) *html.Node { return el("span", at{"class": "url", "title": url}, cut(url)) }

// page links to a page of the web.
func page(url string) *html.Node {
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return shortURL(url)
	}
	return el("a", at{"class": "url", "href": url, "rel": "noreferrer"}, cut(url))
}

// column is a column of a table: a number's is aligned to the right; a narrow screen has no place for those that hide.
type column struct{ name, class string }

func table(columns []column, rows nodes) *html.Node {
	head := list(columns, func(c column) *html.Node { return el("th", c.at(), c.name) })
	return el("div", class("scroll"), el("table", nil, el("thead", nil, el("tr", nil, head)), el("tbody", nil, rows)))
}

// row makes a row of a table from what stands in each column.
func row(columns []column, cells ...any) *html.Node {
	tr := el("tr", nil)
	for i, c := range columns {
		tr.AppendChild(el("td", c.at(), cells[i]))
	}
	return tr
}

func (c column) at() at {
	if c.class == "" {
		return nil
	}
	return class(c.class)
}

func (r *Report) head() nodes {
	sub := []any{r.State}
	if r.Running {
		sub = append(sub, ", as of ", date(r.Made))
	}
	sub = append(sub, " · ", plural(r.Seeds, "seed"), " · scope ", r.Scope)
	if !r.First.IsZero() {
		sub = append(sub, " · ", date(r.First), until(r.First, r.Last), " · ", took(r.First, r.Last))
	}
	tile := func(figure, name string) *html.Node {
		return el("div", class("tile"), el("b", nil, figure), el("span", nil, name))
	}
	broken := tile(num(len(r.Broken)+r.BrokenMore), "broken URLs")
	if len(r.Broken) > 0 {
		broken.Attr[0].Val = "tile bad"
	}
	sites := "sites"
	if r.Counts.Sites == 1 {
		sites = "site"
	}
	nav := el("nav", nil)
	to := [][2]string{}
	if r.harvest() != nil {
		to = append(to, [2]string{"topic", "On the topic"})
	}
	for _, to := range append(to, [][2]string{
		{"broken", "Broken links"}, {"sites", "Sites"}, {"slow", "Slowest"}, {"refused", "Refused"}, {"templates", "Templates"},
		{"same", "Duplicates"}, {"redirects", "Redirects"},
	}...) {
		nav.AppendChild(el("a", at{"href": "#" + to[0]}, to[1]))
	}
	return nodes{
		el("h1", nil, r.title()), el("p", class("sub"), sub...),
		el("div", class("tiles"),
			tile(num(r.Counts.Fetched), "fetched"), tile(num(r.Counts.Pages), "HTML pages"), tile(Size(r.Counts.Bytes), "of bodies"),
			tile(num(r.Counts.Sites), sites), broken, tile(num(r.Counts.Failed), "failed"),
			tile(num(r.Counts.Excluded), "refused"), tile(num(r.Counts.Pending), "pending")),
		nav,
	}
}

func (r *Report) overTime() nodes {
	if len(r.Timeline) == 0 {
		return nil
	}
	return nodes{
		el("h2", nil, "Over time"),
		lead(fmt.Sprintf("URLs fetched in each of %d equal stretches of time, %s each; those answered with an error in red.", len(r.Timeline), stretch(r))),
		el("div", class("card"), timeline(r, urlsOverTime)),
		lead("Bytes of bodies in each of them."),
		el("div", class("card"), timeline(r, sizeOverTime)),
	}
}

// harvest shows how many pages were on the topic, from the crawl's beginning to its end.
func (r *Report) harvest() nodes {
	t := r.Topic
	if t == nil || len(t.Curve) == 0 {
		return nil
	}
	var steps []bar
	last := Harvest{}
	for _, h := range t.Curve {
		on, of := h.Relevant-last.Relevant, h.Pages-last.Pages
		steps = append(steps, bar{Name: num(h.Pages) + " pages", Text: num(on) + " of " + num(of), Percent: percent(on, of)})
		last = h
	}
	return nodes{
		heading("topic", "On the topic"),
		lead(fmt.Sprintf("%s of %s are about “%s”, different ones for %.3f of the fetches. Of the pages of each step, in the order in which they came:",
			num(t.CC), plural(t.VC, "page"), t.Topic, t.Harvest)),
		el("div", class("card"), chart(steps)),
	}
}

func (r *Report) brokenLinks() nodes {
	out := nodes{heading("broken", "Broken links")}
	if len(r.Broken) == 0 {
		out = append(out, none("None: every URL that was asked for was answered well."))
	} else {
		first := min(len(r.Broken), namedBroken)
		out = append(out, lead("URLs that could not be had, most linked first, with each page that links there and the words of its link (at most a hundred pages each)."))
		out = append(out, list(r.Broken[:first], broken)...)
		if rest := r.Broken[first:]; len(rest) > 0 {
			out = append(out, el("details", class("more"), el("summary", nil, num(len(rest))+" more"), list(rest, broken)))
		}
		if r.BrokenMore > 0 {
			out = append(out, el("p", class("sub"), num(r.BrokenMore)+" more are in the ledger: ",
				el("code", nil, "SELECT url, status, reason FROM pages WHERE state = 'failed' OR status >= 400")))
		}
	}
	if r.Missing > 0 {
		out = append(out, el("p", class("sub"), plural(r.Missing, "archive file")+" missing: argosy verify says which. Links of pages in there are missing."))
	}
	if r.Unread > 0 {
		out = append(out, el("p", class("sub"), plural(r.Unread, "archive file")+" could not be read to the end: argosy verify says where. Links of pages in there are missing."))
	}
	return out
}

func broken(b Broken) *html.Node {
	in := el("div", class("in"))
	if b.Detail != "" {
		in.AppendChild(el("p", class("words"), b.Detail))
	}
	if len(b.From) == 0 {
		in.AppendChild(el("p", class("words"), "No archived page links there: a seed, or an entry of a sitemap."))
	} else {
		in.AppendChild(el("ul", nil, list(b.From, func(l Link) *html.Node {
			return el("li", nil, page(l.Page), when(l.Text != "", words(" “", l.Text, "”")))
		})))
	}
	return el("details", nil,
		el("summary", nil, el("span", class("tag"), b.Why), shortURL(b.URL), el("span", class("n"), plural(b.Links, "page"))), in)
}

func (r *Report) sites() nodes {
	columns := []column{{"site", ""}, {"fetched", "n"}, {"pages", "n hide"}, {"failed", "n"}, {"refused", "n"}, {"pending", "n"}, {"bodies", "n"}, {"first byte", "n hide"}}
	shown := r.Sites[:min(len(r.Sites), namedSites)]
	which := "Most fetched first."
	if len(shown) < len(r.Sites) {
		which = fmt.Sprintf("Most fetched first, the first %d of %s.", namedSites, num(len(r.Sites)))
	}
	return nodes{heading("sites", "Sites"), lead(which), table(columns, list(shown, func(s Site) *html.Node {
		name := nodes{el("span", class("url"), s.Site)}
		if s.State == "manual" || s.State == "dropped" {
			name = append(name, el("span", class("tag mute"), s.State))
		}
		if s.Trouble != "" {
			name = append(name, el("br", nil), words(s.Trouble))
		}
		return row(columns, name, num(s.Fetched), num(s.Pages), num(s.Failed), num(s.Excluded), num(s.Pending), Size(s.Bytes), ms(s.FirstByteMS))
	}))}
}

func (r *Report) refused(explain Explain) nodes {
	out := nodes{heading("refused", "Refused, and failed")}
	if len(r.Refused) == 0 {
		return append(out, none("Nothing was refused, and nothing failed."))
	}
	out = append(out, lead("Why URLs were not fetched, with examples. ", el("code", nil, "argosy export "+r.Dir+" --state excluded"), " lists all."))
	return append(out, list(r.Refused, func(f Refused) *html.Node {
		what, step := explain(f.Reason)
		examples := el("ul", nil, list(f.Examples, func(e Example) *html.Node {
			li := el("li", nil, shortURL(e.URL))
			if e.Parent != "" {
				on := words("on ", el("span", class("url"), e.Parent))
				if e.Anchor != "" {
					on.AppendChild(&html.Node{Type: html.TextNode, Data: ": “" + e.Anchor + "”"})
				}
				li.AppendChild(el("br", nil))
				li.AppendChild(on)
			}
			return li
		}))
		var unfolded at
		if len(r.Refused) <= openReasons {
			unfolded = at{"open": ""}
		}
		return el("details", unfolded,
			el("summary", nil, el("span", class("tag mute"), f.Reason), el("span", class("wide"), what), el("span", class("n"), plural(f.URLs, "URL"))),
			el("div", class("in"), when(step != "", el("p", nil, "→ "+step)), when(len(f.Examples) > 0, examples)))
	})...)
}

func (r *Report) traps() nodes {
	if len(r.Traps) == 0 {
		return nil
	}
	columns := []column{{"site", ""}, {"URLs like", ""}, {"left out", "n"}, {"answers", "n"}, {"with nothing new", "n"}}
	return nodes{
		el("h3", class("below"), "Traps"),
		table(columns, list(r.Traps[:min(len(r.Traps), namedTraps)], func(t crawl.Trap) *html.Node {
			like := t.Template
			if t.Chain {
				like = "redirects in a row"
			}
			next := cut(t.Example)
			if t.Kind() == crawl.TrapOpen {
				next = "a chain, and what follows is not known; next: " + next
			}
			return row(columns, el("span", class("url"), t.Site), nodes{el("span", class("url"), like), el("br", nil), el("span", class("words url"), next)},
				num(t.Waiting), num(t.Answers), num(t.Empty))
		})),
		el("p", class("sub"), el("code", nil, "argosy retry "+r.Dir+" --cut"), " lets them go on."),
	}
}

func (r *Report) templates() nodes {
	columns := []column{{"template", ""}, {"URLs", "n"}, {"brought", ""}, {"own", "n"}, {"bodies", "n hide"}}
	key := el("p", class("key"))
	for _, k := range [][2]string{{"good", "something of their own"}, {"mute", "bytes or text that others have"}, {"warm", "redirects"}, {"bad", "errors"}} {
		key.AppendChild(el("span", nil, el("i", class(k[0])), k[1]))
	}
	return nodes{
		heading("templates", "Templates, and what each brought"),
		lead("URLs that look alike: digits stand as #, names as *. What brought next to nothing has the ", el("code", nil, "--exclude"), " that would have saved it and nothing else, if there is one."),
		key,
		table(columns, list(foremost(r.Templates, namedTemplates), func(t Template) *html.Node {
			name := nodes{el("span", at{"class": "url", "title": t.Example}, t.Site+t.Template)}
			if t.Exclude != "" {
				name = append(name, el("br", nil), el("code", class("words"), "--exclude '"+t.Exclude+"'"))
			}
			brought := el("span", class("track"), fill("good", percent(t.Fresh, t.URLs)), fill("mute", percent(t.Copies, t.URLs)),
				fill("warm", percent(t.Moved, t.URLs)), fill("bad", percent(t.Errors, t.URLs)))
			return row(columns, name, num(t.URLs), brought, num(t.Fresh), Size(t.Bytes))
		})),
	}
}

func (r *Report) duplicates() nodes {
	out := nodes{heading("same", "Duplicates")}
	if len(r.Same) == 0 {
		return append(out, none("None."))
	}
	columns := []column{{"one of them", ""}, {"URLs", "n"}, {"bytes each", "n"}}
	return append(out, lead("URLs whose answers had the same bytes, the largest sets first. The archive has the bytes once."),
		table(columns, list(r.Same, func(s ledger.Same) *html.Node {
			return row(columns, el("span", class("url"), cut(s.Example)), num(s.URLs), Size(s.Bytes))
		})))
}

func (r *Report) redirects() nodes {
	out := nodes{heading("redirects", "Redirects")}
	if len(r.Redirects) == 0 {
		return append(out, none("None."))
	}
	text := plural(r.Redirected, "URL") + " redirected"
	if r.Redirected > int64(len(r.Redirects)) {
		text += ", the first " + strconv.Itoa(len(r.Redirects)) + " by name here"
	}
	return append(out, lead(text+"."), el("details", nil, el("summary", nil, el("span", class("wide"), "Show")),
		el("div", class("in"), list(r.Redirects, func(to Redirect) *html.Node {
			return el("p", nil, el("span", class("tag move"), strconv.Itoa(to.Status)), " ", shortURL(to.From), words(" → "), shortURL(to.To))
		}))))
}
