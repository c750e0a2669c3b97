package main

import (
	"fmt"
	"net/url"
	"strings"
)

// spelling is where the addresses of a version control's pages have what they show.
type spelling uint8

const (
	inPath      spelling = iota // /view/version/file, as hgweb's do
	inParameter                 // /view/file?id=version, as cgit's
	inScript                    // ?view=…&path=file&id=version, as gitweb's
)

// repository is a version control's pages: files × versions × views, of which most are as they were one version before. Commits name
// their files in all views if versions are in paths; else in two.
type repository struct {
	root           string
	changes, files int
	written        spelling
	hashes         []string
	at             map[string]int
}

// repositoryViews are what a file is shown in; all but a diff show something of every version.
var repositoryViews = strings.Fields("file plain log blame diff")

func newRepository(root string, changes, files int, as spelling) *part {
	r := &repository{root: root, changes: changes, files: files, written: as, at: map[string]int{}}
	for c := range changes {
		h := fmt.Sprintf("%010x%010x", rng(fmt.Sprint(root, c)).Uint64()&(1<<40-1), rng(fmt.Sprint(root, -c)).Uint64()&(1<<40-1))
		r.hashes, r.at[h] = append(r.hashes, h), c
	}
	real := ids("commit", changes)
	for f := range files {
		for c := range changes {
			if r.last(c, f) != c {
				continue
			}
			real = append(real, fmt.Sprintf("file %d/%d", f, c), fmt.Sprintf("diff %d/%d", f, c))
			if as == inPath {
				real = append(real, fmt.Sprintf("log %d/%d", f, c))
			}
		}
	}
	traps := []trap{{name: "trees"}}
	for _, view := range repositoryViews {
		traps = append(traps, trap{name: view + " as before"})
	}
	return made(root, []link{{root, "Repository", ""}}, real, traps, r.show)
}

// of is the file that a change has written; the first ones have made one each.
func (r *repository) of(c int) int {
	if c < r.files {
		return c
	}
	return draw(fmt.Sprint(r.root, "of", c), r.files)
}

// last is the change up to c in which a file was written last, -1 if it was not there yet.
func (r *repository) last(c, f int) int {
	for c >= 0 && r.of(c) != f {
		c--
	}
	return c
}

func (r *repository) file(f int) string {
	return fmt.Sprintf("src/part%c/%s.txt", 'a'+f%5, strings.ReplaceAll(name(fmt.Sprint(r.root, f)), " ", ""))
}

// address is where a view of a path shows a version.
func (r *repository) address(view, path string, c int) string {
	switch r.written {
	case inPath:
		return r.root + view + "/" + r.hashes[c] + "/" + path
	case inScript:
		return r.root + script(view, path) + "&id=" + r.hashes[c]
	default:
		return r.root + view + "/" + path + "?id=" + r.hashes[c]
	}
}

// script has the view and the path of a page that one script shows.
func script(view, path string) string {
	s := "?view=" + view
	if path != "" {
		s += "&path=" + path
	}
	return s
}

// parse is the reverse of address.
func (r *repository) parse(rest string, q url.Values) (view, path string, c int, ok bool) {
	view, path, _ = strings.Cut(rest, "/")
	h := q.Get("id")
	switch r.written {
	case inPath:
		h, path, _ = strings.Cut(path, "/")
	case inScript:
		view, path = q.Get("view"), q.Get("path")
	}
	c, ok = r.at[h]
	return view, path, c, ok && q.Has("id") == (r.written != inPath)
}

func (r *repository) show(s *site, rest string, q url.Values) *answer {
	pg := s.little("Repository")
	page := number(strings.TrimPrefix(rest, "changes/"))
	home := rest == "" && !q.Has("view")
	if home {
		page = 0
	}
	if home || page > 0 && page*15 < r.changes {
		for c := r.changes - 1 - page*15; c >= max(0, r.changes-15-page*15); c-- {
			pg.link(r.address("commit", "", c), name(fmt.Sprint(r.root, "commit", c)), fmt.Sprint("commit", c))
		}
		if page*15+15 < r.changes {
			pg.link(fmt.Sprint(r.root, "changes/", page+1), "older", "")
		}
		return pg.trap("", fmt.Sprint("changes ", page))
	}
	view, path, c, ok := r.parse(rest, q)
	if !ok {
		return nil
	}
	for _, to := range []string{"commit", "tree"} {
		pg.link(r.address(to, "", c), to, "")
	}
	pg.link(r.root, "changes", "")
	switch {
	case view == "commit" && path == "":
		return r.commit(pg, c)
	case view == "tree":
		return r.tree(pg, path, c)
	}
	for f := range r.files {
		if r.file(f) == path && r.last(c, f) >= 0 && contains(repositoryViews, view) {
			return r.view(pg, view, f, c)
		}
	}
	return nil
}

func (r *repository) commit(pg *page, c int) *answer {
	pg.title = name(fmt.Sprint(r.root, "commit", c))
	pg.para(fmt.Sprint(r.root, "commit", c), 25)
	pg.text("Author %s", name(fmt.Sprint("author", c%5)))
	if c > 0 {
		pg.link(r.address("commit", "", c-1), "parent", fmt.Sprint("commit", c-1))
	}
	pg.text("%s", r.file(r.of(c)))
	for _, view := range repositoryViews {
		if r.written == inPath || view == "diff" || view == "file" {
			pg.link(r.address(view, r.file(r.of(c)), c), view, "")
		}
	}
	return pg.real(fmt.Sprint("commit", c))
}

func (r *repository) tree(pg *page, path string, c int) *answer {
	pg.title = "Tree"
	known := path == ""
	seen := map[string]bool{}
	for f := range r.files {
		rest, ok := strings.CutPrefix(r.file(f), path)
		if !ok || r.last(c, f) < 0 {
			continue
		}
		known = true
		if dir, _, ok := strings.Cut(rest, "/"); ok {
			if !seen[dir] {
				pg.link(r.address("tree", path+dir+"/", c), dir, "")
			}
			seen[dir] = true
			continue
		}
		pg.link(r.address("file", r.file(f), c), rest, fmt.Sprintf("file %d/%d", f, r.last(c, f)))
		pg.link(r.address("log", r.file(f), c), "log", fmt.Sprintf("log %d/%d", f, r.last(c, f)))
		pg.link(r.address("plain", r.file(f), c), "plain", "")
	}
	if !known || path != "" && !strings.HasSuffix(path, "/") {
		return nil
	}
	return pg.trap("trees", "tree "+path)
}

// view shows a file: what it had at first, and what each change has added.
func (r *repository) view(pg *page, view string, f, c int) *answer {
	last := r.last(c, f)
	pg.title = r.file(f)
	for _, to := range repositoryViews {
		pg.link(r.address(to, r.file(f), c), to, "")
	}
	text := func(k int) string { return prose(fmt.Sprint(r.root, f, " of ", k), 30) }
	id := fmt.Sprintf("%s %d/%d", view, f, last)
	switch view {
	case "plain":
		body := ""
		for k := last; k >= 0; k = r.last(k-1, f) {
			body += text(k) + "\n"
		}
		return &answer{kind: "text/plain", body: body, trap: "plain as before", says: id}
	case "log":
		for k := last; k >= 0; k = r.last(k-1, f) {
			pg.link(r.address("commit", "", k), name(fmt.Sprint(r.root, "commit", k)), fmt.Sprint("commit", k))
		}
	case "diff":
		if last == c {
			pg.text("%s", text(c))
			return pg.real(id)
		}
		return pg.trap("diff as before", "no difference")
	default:
		for k := last; k >= 0; k = r.last(k-1, f) {
			if view == "blame" {
				pg.text("%s", name(fmt.Sprint("author", k%5)))
			}
			pg.text("%s", text(k))
		}
		if id = fmt.Sprintf("file %d/%d", f, last); view == "blame" {
			return pg.trap("blame as before", "blame of "+id)
		}
	}
	if last != c || view == "log" && r.written != inPath {
		a := pg.trap(view+" as before", id)
		if view == "file" {
			a.real = id
		}
		return a
	}
	return pg.real(id)
}
