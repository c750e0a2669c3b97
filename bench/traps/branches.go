package main

import (
	"fmt"
	"net/url"
	"strings"
)

// branches is a version control's pages whose tabs keep what a reader looks at, as cgit's do: each view of a directory or a file is there as it
// is now, for each tag, for each change and for each change that a tag leads to. All of it lies below one directory.
type branches struct {
	repository
	tags int
	dirs []string
	all  []string // names of the files
}

const logged = 20 // changes on a page of a log

func newBranches(root string, changes, files, tags int, as spelling) *part {
	b := &branches{repository: repository{root: root, changes: changes, files: files, written: as, at: map[string]int{}}, tags: tags}
	for c := range changes {
		h := fmt.Sprintf("%010x%010x", rng(fmt.Sprint(root, c)).Uint64()&(1<<40-1), rng(fmt.Sprint(root, -c)).Uint64()&(1<<40-1))
		b.hashes, b.at[h] = append(b.hashes, h), c
	}
	real := ids("commit", changes)
	seen := map[string]bool{"": true}
	for f := range files {
		b.all = append(b.all, b.repository.file(f))
		real = append(real, fmt.Sprint("now ", b.file(f)))
		for i, r := range b.file(f) {
			if dir := b.file(f)[:i]; r == '/' && !seen[dir] {
				seen[dir] = true
				b.dirs = append(b.dirs, dir)
				real = append(real, fmt.Sprint("now ", dir))
			}
		}
	}
	p := made(root, []link{{root, "Repository", ""}}, real, []trap{{name: "views"}, {name: "versions"}, {name: "pages of logs"}}, b.show)
	p.name, p.need = strings.ReplaceAll(p.name, "/", "-"), 1
	return p
}

func (b *branches) file(f int) string { return b.all[f] }

// lookedAt is what a reader looks at: a tag or the newest, and a change or none.
type lookedAt struct {
	path string
	tag  int // 0: none
	at   int // the change that is shown
	id   bool
}

func (b *branches) to(view, path string, tag int, id int) string {
	q := url.Values{}
	if tag > 0 {
		q.Set("h", fmt.Sprint("v", tag))
	}
	if id >= 0 {
		q.Set("id", b.hashes[id])
	}
	switch {
	case b.written == inScript && len(q) > 0:
		return b.root + script(view, path) + "&" + q.Encode()
	case b.written == inScript:
		return b.root + script(view, path)
	case len(q) > 0:
		return b.root + view + "/" + path + "?" + q.Encode()
	}
	return b.root + view + "/" + path
}

func (b *branches) show(s *site, rest string, q url.Values) *answer {
	view, path, _ := strings.Cut(rest, "/")
	if b.written == inScript {
		view, path = q.Get("view"), q.Get("path")
	}
	w := lookedAt{path: path, at: b.changes - 1, tag: max(0, number(strings.TrimPrefix(q.Get("h"), "v")))}
	if q.Has("h") {
		if w.tag < 1 || w.tag > b.tags {
			return nil
		}
		w.at = b.changes*w.tag/(b.tags+1) - 1
	}
	if q.Has("id") {
		if w.at, w.id = b.at[q.Get("id")]; !w.id {
			return nil
		}
	}
	pg := s.little("Repository")
	b.tabs(pg, &w)
	f := -1
	for i := range b.files {
		if b.file(i) == path {
			f = i
		}
	}
	if f >= 0 && b.last(w.at, f) < 0 || f < 0 && path != "" && !contains(b.dirs, path) {
		return nil
	}
	switch view {
	case "":
		return b.log(pg, &w, 0)
	case "log":
		return b.log(pg, &w, query(&url.URL{RawQuery: q.Encode()}, "ofs", 0))
	case "refs":
		for t := 1; t <= b.tags; t++ {
			pg.link(b.to("log", "", t, -1), fmt.Sprint("v", t), "")
			pg.link(b.to("commit", "", t, -1), fmt.Sprint("release ", t), fmt.Sprint("commit", b.changes*t/(b.tags+1)-1))
		}
		return pg.trap("views", "tags")
	case "tree", "blame":
		if f < 0 {
			return b.directory(pg, &w)
		}
		return b.content(pg, view, &w, f)
	case "plain":
		if f >= 0 {
			a := b.content(s.little(""), view, &w, f)
			return &answer{kind: "text/plain", body: a.says + b.text(f, b.last(w.at, f)), trap: a.trap, says: a.says}
		}
	case "commit", "diff":
		return b.change(pg, view, &w, f)
	}
	return nil
}

// tabs are on every page: they keep what is looked at.
func (b *branches) tabs(pg *page, w *lookedAt) {
	id := -1
	if w.id {
		id = w.at
	}
	for _, view := range strings.Fields("refs log tree commit diff") {
		path, at := w.path, id
		if view == "refs" {
			path = ""
		}
		if view == "log" {
			at = -1
		}
		pg.link(b.to(view, path, w.tag, at), view, "")
	}
	for i, r := range w.path {
		if r == '/' {
			pg.link(b.to("tree", w.path[:i], w.tag, id), w.path[:i], "")
		}
	}
}

func (b *branches) log(pg *page, w *lookedAt, from int) *answer {
	n := 0
	for c := w.at; c >= 0; c-- {
		if w.path != "" && !strings.HasPrefix(b.file(b.of(c)), w.path) {
			continue
		}
		if n++; n <= from || n > from+logged {
			continue
		}
		pg.link(b.to("commit", w.path, w.tag, c), name(fmt.Sprint(b.root, "commit", c)), fmt.Sprint("commit", c))
	}
	if n > from+logged {
		id := -1
		if w.id {
			id = w.at
		}
		more := b.to("log", w.path, w.tag, id)
		if strings.Contains(more, "?") {
			more += "&"
		} else {
			more += "?"
		}
		pg.link(fmt.Sprint(more, "ofs=", from+logged), "next", "")
	}
	return pg.trap("pages of logs", fmt.Sprint("log of ", w.path, from, w.at))
}

func (b *branches) directory(pg *page, w *lookedAt) *answer {
	id := -1
	if w.id {
		id = w.at
	}
	whole := true // all is there that there is now
	seen := map[string]bool{}
	prefix := w.path
	if prefix != "" {
		prefix += "/"
	}
	for f := range b.files {
		rest, ok := strings.CutPrefix(b.file(f), prefix)
		if whole = whole && (!ok || b.last(w.at, f) >= 0); !ok || b.last(w.at, f) < 0 {
			continue
		}
		dir, _, sub := strings.Cut(rest, "/")
		if sub && seen[dir] {
			continue
		}
		seen[dir] = true
		views := "tree log plain blame"
		if sub {
			views = "tree log"
		}
		for _, view := range strings.Fields(views) {
			to := ""
			if view == "tree" && id < 0 && w.tag == 0 {
				to = fmt.Sprint("now ", prefix+dir)
			}
			pg.link(b.to(view, prefix+dir, w.tag, id), dir+" "+view, to)
		}
	}
	if w.path != "" && w.tag == 0 && !w.id {
		return pg.real("now " + w.path)
	}
	a := pg.trap("views", "tree of "+w.path)
	if whole && w.path != "" {
		a.real = "now " + w.path
	}
	return a
}

// text is what a file says after a change: what each has added.
func (b *branches) text(f, last int) string {
	var s strings.Builder
	for k := last; k >= 0; k = b.last(k-1, f) {
		s.WriteString(prose(fmt.Sprint(b.root, f, " of ", k), 30) + "\n")
	}
	return s.String()
}

func (b *branches) content(pg *page, view string, w *lookedAt, f int) *answer {
	last := b.last(w.at, f)
	pg.title = b.file(f)
	if view == "blame" {
		for k := last; k >= 0; k = b.last(k-1, f) {
			pg.link(b.to("commit", "", 0, k), name(fmt.Sprint("author", k%5)), fmt.Sprint("commit", k))
		}
	}
	for l := range strings.SplitSeq(b.text(f, last), "\n") {
		pg.text("%s", l)
	}
	if view == "tree" {
		id := -1
		if w.id {
			id = w.at
		}
		pg.link(b.to("plain", w.path, w.tag, id), "plain", "")
		pg.link(b.to("blame", w.path, w.tag, id), "blame", "")
	}
	if view == "tree" && w.tag == 0 && !w.id {
		return pg.real("now " + w.path)
	}
	a := pg.trap("versions", fmt.Sprintf("file %d/%d", f, last))
	if view == "tree" && last == b.last(b.changes-1, f) {
		a.real = "now " + w.path // word for word
	}
	return a
}

func (b *branches) change(pg *page, view string, w *lookedAt, f int) *answer {
	c := w.at
	pg.title = name(fmt.Sprint(b.root, "commit", c))
	of := b.file(b.of(c))
	if view == "commit" {
		pg.para(fmt.Sprint(b.root, "commit", c), 25)
		pg.text("Author %s", name(fmt.Sprint("author", c%5)))
		pg.link(b.to("tree", "", w.tag, c), "tree", "")
		if c > 0 {
			pg.link(b.to("commit", w.path, w.tag, c-1), "parent", fmt.Sprint("commit", c-1))
		}
	}
	if strings.HasPrefix(of, w.path) {
		pg.link(b.to("diff", of, w.tag, c), "diff", "")
		pg.link(b.to("tree", of, w.tag, c), of, "")
		pg.text("%s", prose(fmt.Sprint(b.root, b.of(c), " of ", c), 30))
		if view == "commit" && w.path == "" {
			return pg.real(fmt.Sprint("commit", c))
		}
	}
	return pg.trap("views", fmt.Sprint(view, c, strings.HasPrefix(of, w.path)))
}
