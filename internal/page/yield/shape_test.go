package yield

import (
	"testing"

	"argosy/internal/crawl"
)

func TestTemplates(t *testing.T) {
	m := New()
	of := func(path string) uint32 {
		u, err := crawl.Parse("http://a.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		return m.Template(u)
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"/page/1", "/page/22", true}, {"/page/1", "/story/1", false}, {"/a/item-5.html", "/a/item-77.html", true},
		{"/x;s=1a2b3c4d5e6f", "/y;s=00ff00ff00ff1", true}, {"/l?b=1&a=2", "/l?a=3&b=4", true}, {"/l?a=1", "/l?b=1", false},
		{"/r?t=mP3xAa8Zq1LkT2", "/r?t=PTHfUkTXUGPWjN", true}, {"/r?u=names", "/r?u=prices", false},
		{"/s/1a2b3c4d5e6f/item/5", "/s/99ab00cd11ef2/item/6", true}, {"/g/a/b/a/b/a/", "/g/b/b/a/a/b/b/", true},
	} {
		if same := of(c.a) == of(c.b); same != c.same {
			t.Errorf("%s and %s: the same template: %v", c.a, c.b, same)
		}
	}
}
