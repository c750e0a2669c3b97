package topic

import "testing"

// What tag looks at is in the table by which it passes others by.
func TestTold(t *testing.T) {
	for _, name := range []string{"a", "span", "wbr", "nav", "menu", "h1", "h6", "title", "main", "article", "script", "template"} {
		if told[name[0]&31]>>len(name)&1 == 0 {
			t.Error(name)
		}
	}
	var at place
	if at.tag([]byte("H2 class=x"), func() {}); at.heading != '2' || at.now() != inHeading {
		t.Errorf("%+v", at)
	}
	if at.tag([]byte("/h2"), func() {}); at.now() != inText {
		t.Errorf("%+v", at)
	}
}
