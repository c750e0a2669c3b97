package main

import (
	"bytes"
	"testing"

	"argosy/internal/crawl"
)

func TestPrintTraps(t *testing.T) {
	var b bytes.Buffer
	printTraps(&b, []crawl.Trap{
		{Site: "a.test", Template: "/cal/#/*", Example: "http://a.test/cal/1/may", Waiting: 1200, Answers: 560, Empty: 540},
		{Site: "a.test", Template: "/item/#?s=#", Example: "http://a.test/item/1?s=x1", Waiting: 1, Answers: 30, Part: "the parameter s"},
		{Site: "b.test", Template: "/maze/*", Waiting: 7, Answers: 1500, Budget: true},
		{Site: "c.test", Example: "http://c.test/go/11", Waiting: 1, Chain: true},
	}, "argosy retry D --cut")
	const want = `  trap on a.test: 1,200 URLs like /cal/#/* left out: of 560 answers from such URLs 540 brought nothing new; one of those left out: http://a.test/cal/1/may
  trap on a.test: 1 URL like /item/#?s=# left out: the parameter s makes no difference to the page; one of those left out: http://a.test/item/1?s=x1
  b.test has had its --site-pages: 7 URLs refused; 1,500 of its answers are of /maze/*
  c.test redirects without end: 1 URL left out; one of them: http://c.test/go/11
  (# is any number, * any name, … any path) argosy retry D --cut, and then the same crawl again, fetches more of them
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
