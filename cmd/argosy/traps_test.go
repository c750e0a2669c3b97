package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

func TestPrintTraps(t *testing.T) {
	var b bytes.Buffer
	printTraps(&b, []crawl.Trap{
		{Site: "a.test", Template: "/cal/#/*", Example: "http://a.test/cal/1/may", Waiting: 1200, Answers: 560, Empty: 540},
		{Site: "a.test", Example: "http://a.test/old", Waiting: 3000},
		{Site: "a.test", Template: "/item/#?s=#", Example: "http://a.test/item/1?s=x1", Waiting: 1, Answers: 30, Part: "the parameter s"},
		{Site: "b.test", Template: "/maze/*", Waiting: 7, Answers: 1500, Budget: true},
		{Site: "c.test", Example: "http://c.test/go/11", Waiting: 1, Chain: true},
		{Site: "d.test", Example: "http://d.test/old", Waiting: 5},
		{Site: "e.test", Template: "/#", Example: "http://e.test/547", Waiting: 1, Answers: 546, Empty: 545},
		{Site: "f.test", Template: "/lot/#", Example: "http://f.test/lot/514", Waiting: 1, Answers: 513, Empty: 506, Varied: 503},
	}, "argosy retry D --cut")
	const want = `  trap on e.test: a chain like /# cut after 546 answers, 545 with nothing new; nobody knows how much follows http://e.test/547
  trap on f.test: a chain like /lot/# cut after 513 answers, 506 of them new by a word or two, by numbers or by their order only; nobody knows how much follows http://f.test/lot/514
  trap on a.test: 3,000 URLs left out; one: http://a.test/old
  trap on a.test: 1,200 URLs like /cal/#/* left out: of 560 answers from such URLs 540 brought nothing new; one: http://a.test/cal/1/may
  trap on d.test: 5 URLs left out; one: http://d.test/old
  trap on a.test: 1 URL like /item/#?s=# left out: the parameter s makes no difference to the page; one: http://a.test/item/1?s=x1
  b.test has had its --site-pages: 7 URLs refused; 1,500 of its answers are of /maze/*
  c.test redirects without end: 1 URL left out; one: http://c.test/go/11
  what was left out may name more than is counted here: argosy retry D --cut, and then the same crawl again, fetches more of it (# is any number, * any name, … any path)
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// The traps that are told of are those behind which most may be: chains, of which one URL waits, and not the templates of one site.
func TestTrapsThatMatterAreTold(t *testing.T) {
	var traps []crawl.Trap
	for i := range 60 {
		traps = append(traps, crawl.Trap{Site: "shop.test", Template: fmt.Sprintf("/shop?f%d", i), Example: "http://shop.test/x", Waiting: int64(1000 + i), Answers: 90, Empty: 80})
	}
	for i := range 40 {
		traps = append(traps, crawl.Trap{Site: fmt.Sprintf("c%d.test", i), Template: "/#", Example: "http://c.test/2", Waiting: 1, Answers: int64(500 + i), Empty: 490})
	}
	var b bytes.Buffer
	printTraps(&b, traps, "argosy retry D --cut")
	for _, want := range []string{"trap on c39.test: a chain", "and more on 21 sites"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "\n"); n != maxTraps+2 {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
}

// Where nothing of a crawl is kept, as of a demo, no command is named that would let a trap go on.
func TestTrapsOfWhatIsNotKept(t *testing.T) {
	var b strings.Builder
	printTraps(&b, []crawl.Trap{{Site: "a.example", Template: "/day/#", Answers: 200, Empty: 180, Waiting: 9, Example: "http://a.example/day/9"}}, "")
	if out := b.String(); !strings.Contains(out, "trap on a.example") || strings.Contains(out, "the same crawl again") {
		t.Errorf("printed %q, want the trap alone", out)
	}
}

// Each section of a site has a line, as long as there is room; then the first line of the kind tells of the others, too.
func TestSectionsOfASite(t *testing.T) {
	var traps []crawl.Trap
	for i := range 30 {
		for j := range 2 {
			traps = append(traps, crawl.Trap{Site: "a.test", Template: fmt.Sprintf("/s%d/%d/#", i, j), Example: "http://a.test/x", Waiting: 100, Answers: 90, Empty: 80})
		}
	}
	var b bytes.Buffer
	printTraps(&b, traps[:8], "again")
	for _, want := range []string{"200 URLs like /s0/0/# (and 1 kind more)", "200 URLs like /s3/0/# (and 1 kind more)", "argosy tasks --json has all kinds"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	b.Reset()
	printTraps(&b, traps, "again")
	if want := "2,200 URLs like /s0/0/# (and 21 kinds more)"; !strings.Contains(b.String(), want) || strings.Count(b.String(), "trap on") != maxTraps {
		t.Errorf("%q is missing in\n%s", want, b.String())
	}
}
