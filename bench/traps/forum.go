package main

import (
	"fmt"
	"net/url"
	"strings"
)

// forum is a board as phpBB makes them: boards, threads in pages, members, and many other ways to the same.
type forum struct{ threads, boards, members int }

const (
	postsPage   = 10 // posts on a page of a thread
	threadsPage = 20 // threads on a page of a board
	membersPage = 25
)

func (f forum) posts(t int) int   { return 1 + draw(fmt.Sprint("posts", t), 35) }
func (f forum) author(p int) int  { return draw(fmt.Sprint("author", p), f.members) }
func (f forum) post(t, k int) int { return t*100 + k }
func (f forum) boardThreads(b int) int {
	return (f.threads - b + f.boards - 1) / f.boards
}

func topic(t, start int) string   { return fmt.Sprintf("forum/topic%d/%d", t, start) }
func board(b, start int) string   { return fmt.Sprintf("forum/board%d/%d", b, start) }
func member(u int) string         { return fmt.Sprintf("forum/member%d", u) }
func memberList(start int) string { return fmt.Sprintf("forum/members/%d", start) }

func newForum(threads int) *part {
	f := forum{threads, 6, threads / 2}
	p := &part{name: "forum", paths: "/forum/", entry: []link{{"/forum/index.php", "Forum", "forum/index"}}, answer: f.answer, real: []string{"forum/index"}}
	p.traps = []trap{{name: "links to posts", mark: "/forum/"}, {name: "quote forms", mark: "/forum/"}, {name: "highlights"}, {name: "next topic"}, {name: "orders"}, {name: "start=0"}}
	for t := range f.threads {
		for k := 0; k < f.posts(t); k += postsPage {
			p.real = append(p.real, topic(t, k))
		}
	}
	for b := range f.boards {
		for k := 0; k < f.boardThreads(b); k += threadsPage {
			p.real = append(p.real, board(b, k))
		}
	}
	for u := range f.members {
		p.real = append(p.real, member(u))
	}
	for k := 0; k < f.members; k += membersPage {
		p.real = append(p.real, memberList(k))
	}
	return p
}

// answer reads a URL; what is not exactly one that the forum writes is not there.
func (f forum) answer(s *site, u *url.URL) *answer {
	start := query(u, "start", 0)
	t, b := query(u, "t", -1), query(u, "f", -1)
	switch file := strings.TrimPrefix(u.Path, "/forum/"); {
	case file == "index.php" && u.RawQuery == "":
		pg := s.page("Forum")
		for b := range f.boards {
			pg.link(fmt.Sprintf("viewforum.php?f=%d", b), name(fmt.Sprint("board", b)), board(b, 0))
		}
		pg.link("memberlist.php", "Members", memberList(0))
		return pg.real("forum/index")
	case file == "viewforum.php" && b >= 0 && b < f.boards && start >= 0 && start < f.boardThreads(b) && start%threadsPage == 0:
		return f.board(s, u, b, start)
	case file == "viewtopic.php" && query(u, "p", -1) >= 0:
		n := query(u, "p", -1)
		t, k := n/100, n%100
		if t >= f.threads || k >= f.posts(t) {
			return nil
		}
		a := f.topic(s, t, k/postsPage*postsPage)
		a.trap = "links to posts"
		return a
	case file == "viewtopic.php" && t >= 0 && t < f.threads && start >= 0 && start < f.posts(t) && start%postsPage == 0:
		trap := ""
		switch v := u.Query(); {
		case v.Get("view") == "next":
			t, trap = (t+f.boards)%f.threads, "next topic"
		case v.Get("view") == "previous":
			t, trap = (t-f.boards+f.threads)%f.threads, "next topic"
		case v.Has("hilit"):
			trap = "highlights"
		case v.Has("start") && start == 0:
			trap = "start=0"
		}
		a := f.topic(s, t, start)
		a.trap = trap
		return a
	case file == "posting.php" && query(u, "p", -1) >= 0:
		pg := s.page("Log in")
		pg.text("You have to be registered and logged in to quote posts in this forum. User name, password, remember me.")
		return pg.trap("quote forms", "log in")
	case file == "memberlist.php" && start >= 0 && start < f.members && start%membersPage == 0:
		return f.memberList(s, u, start)
	case file == "member.php" && query(u, "u", -1) >= 0 && query(u, "u", -1) < f.members:
		n := query(u, "u", -1)
		pg := s.page(name(fmt.Sprint("member", n)))
		pg.text("%s, member since %d, %d posts.", name(fmt.Sprint("member", n)), 2001+n%25, draw(fmt.Sprint("count", n), 5000))
		pg.para(fmt.Sprint("member", n), 12)
		return pg.real(member(n))
	}
	return nil
}

func (f forum) board(s *site, u *url.URL, b, start int) *answer {
	pg := s.page(name(fmt.Sprint("board", b)))
	for i := start; i < min(start+threadsPage, f.boardThreads(b)); i++ {
		t := i*f.boards + b
		pg.link(fmt.Sprintf("viewtopic.php?f=%d&t=%d", b, t), name(fmt.Sprint("topic", t)), topic(t, 0))
		last := f.posts(t) - 1
		pg.link(fmt.Sprintf("viewtopic.php?p=%d#p%d", f.post(t, last), f.post(t, last)), "Last post", topic(t, last/postsPage*postsPage))
	}
	for k := 0; k < f.boardThreads(b); k += threadsPage {
		to := fmt.Sprintf("viewforum.php?f=%d", b)
		if k > 0 {
			to += fmt.Sprintf("&start=%d", k)
		}
		pg.link(to, fmt.Sprint(k/threadsPage+1), board(b, k))
	}
	for _, key := range []string{"a", "t", "r", "s", "v"} {
		for _, dir := range []string{"a", "d"} {
			pg.link(fmt.Sprintf("viewforum.php?f=%d&sk=%s&sd=%s&start=%d", b, key, dir, start), "Sort", "")
		}
	}
	a := pg.real(board(b, start))
	if u.Query().Has("sk") {
		a.trap = "orders"
	}
	return a
}

func (f forum) topic(s *site, t, start int) *answer {
	b := t % f.boards
	pg := s.page(name(fmt.Sprint("topic", t)))
	for k := start; k < min(start+postsPage, f.posts(t)); k++ {
		n := f.post(t, k)
		pg.link(fmt.Sprintf("member.php?u=%d", f.author(n)), name(fmt.Sprint("member", f.author(n))), member(f.author(n)))
		pg.link(fmt.Sprintf("viewtopic.php?p=%d#p%d", n, n), "Post", topic(t, start))
		pg.link(fmt.Sprintf("posting.php?mode=quote&f=%d&p=%d", b, n), "Quote", "")
		pg.para(fmt.Sprint("post", n), 15+draw(fmt.Sprint("post", n), 50))
	}
	for k := 0; k < f.posts(t); k += postsPage {
		pg.link(fmt.Sprintf("viewtopic.php?f=%d&t=%d&start=%d", b, t, k), fmt.Sprint(k/postsPage+1), topic(t, k))
	}
	pg.link(fmt.Sprintf("viewtopic.php?f=%d&t=%d&view=next", b, t), "Next topic", topic((t+f.boards)%f.threads, 0))
	pg.link(fmt.Sprintf("viewtopic.php?f=%d&t=%d&view=previous", b, t), "Previous topic", topic((t-f.boards+f.threads)%f.threads, 0))
	pg.link(fmt.Sprintf("viewtopic.php?f=%d&t=%d&hilit=%s", b, t, url.QueryEscape(prose(fmt.Sprint("hilit", t), 1))), "Highlight", topic(t, 0))
	pg.link(fmt.Sprintf("viewforum.php?f=%d", b), "Back", board(b, 0))
	return pg.real(topic(t, start))
}

func (f forum) memberList(s *site, u *url.URL, start int) *answer {
	pg := s.page("Members")
	for n := start; n < min(start+membersPage, f.members); n++ {
		pg.link(fmt.Sprintf("member.php?u=%d", n), name(fmt.Sprint("member", n)), member(n))
	}
	q := u.Query()
	for k := 0; k < f.members; k += membersPage {
		to := "memberlist.php?"
		if q.Has("sk") {
			to += fmt.Sprintf("sk=%s&sd=%s&", q.Get("sk"), q.Get("sd"))
		}
		pg.link(to+fmt.Sprintf("start=%d", k), fmt.Sprint(k/membersPage+1), memberList(k))
	}
	for _, key := range []string{"a", "c", "d", "m"} {
		for _, dir := range []string{"a", "d"} {
			pg.link(fmt.Sprintf("memberlist.php?sk=%s&sd=%s", key, dir), "Sort", "")
		}
	}
	a := pg.real(memberList(start))
	if q.Has("sk") || q.Get("start") == "0" {
		a.trap = "orders"
	}
	return a
}
