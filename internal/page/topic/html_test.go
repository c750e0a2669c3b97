package topic

import "testing"

// Elements are found by their names, in whatever case, and by nothing else.
func TestTags(t *testing.T) {
	for tag, want := range map[string]tagKind{
		"a href=x>": tagLink, "/A>": tagLink, "SPAN>": tagInline, "wbr/>": tagInline, "h1>": tagHeading, "/H6 >": tagHeading, "h7>": tagBlock, "title>": tagTitle,
		"nav\n": tagAround, "footer>": tagAround, "main>": tagMain, "article>": tagMain, "Script>": tagHidden, "template>": tagHidden, "ab>": tagBlock, "abbré>": tagInline,
		"!doctype html>": tagBlock, "?xml>": tagBlock, "/>": tagBlock, "b": tagInline, "/": tagBlock, "h1": tagHeading, "tt\xff>": tagInline,
	} {
		if kind, _ := tagAt([]byte(tag), 0); kind != want {
			t.Errorf("%q: %d, want %d", tag, kind, want)
		}
	}
	var at place
	kind, key := tagAt([]byte("H2 class=x"), 0)
	if at.tag(kind, key, false, false); at.heading != '2' || at.now() != inHeading {
		t.Errorf("%+v", at)
	}
	if at.tag(kind, key, true, false); at.now() != inText {
		t.Errorf("%+v", at)
	}
}
