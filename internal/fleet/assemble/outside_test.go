package assemble_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/verdict"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// Where all that a seed's page leads to lies outside the scope, the end of the crawl says so, with a URL and the flag that lets it in.
func TestOutside(t *testing.T) {
	t.Parallel()
	w := webs.New()
	port := served(t, w)
	at := func(rest string) string { return ":" + port + rest }
	page := func(host, body string) {
		w.Sites[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(rw, r)
				return
			}
			rw.Header().Set("Content-Type", "text/html")
			_, _ = rw.Write([]byte(body))
		})
	}
	page("frame.test", `<frameset><frame src="http://other.test`+at("/x")+`"></frameset>`)
	page("name.test", `<link rel=canonical href="http://www.name.test`+at("/")+`"><p>words`)
	page("plain.test", `<a href="http://www.plain.test`+at("/a")+`">a</a> <a href="http://www.plain.test`+at("/b")+`">b</a> <a href="http://other.test`+at("/c")+`">c</a>`)
	page("dir.test", `<a href="/up">up</a>`)
	page("more.test", `<a href="/more">more</a> <a href="http://www.more.test`+at("/")+`">www</a>`)
	page("none.test", `<p>words`)
	for _, c := range []struct {
		seed string
		more func(j *crawl.Job)
		want verdict.Loss
	}{
		{seed: "http://frame.test/", want: verdict.Loss{URLs: 1, Example: "http://other.test" + at("/x"), Flag: "--scope any", Admits: 1}},
		{seed: "http://name.test/", want: verdict.Loss{URLs: 1, Example: "http://www.name.test" + at("/"), Flag: "--scope domain", Admits: 1}},
		{seed: "http://plain.test/", want: verdict.Loss{URLs: 3, Example: "http://www.plain.test" + at("/"), Flag: "--scope domain", Admits: 2}},
		{
			seed: "http://dir.test/in/", more: func(j *crawl.Job) { j.Identity.Scope = crawl.ScopePrefix },
			want: verdict.Loss{URLs: 1, Example: "http://dir.test" + at("/up"), Flag: "--scope site", Admits: 1},
		},
		{seed: "http://plain.test/", more: func(j *crawl.Job) { j.Limits.MaxDepth = 0 }},
		{seed: "http://more.test/"},
		{seed: "http://none.test/"},
	} {
		conf := fleettest.Crawl(t.TempDir(), port, 0, 1)
		u, err := crawl.Parse(c.seed)
		if err != nil {
			t.Fatal(err)
		}
		conf.Job.Identity.Seeds = []string{u.Origin() + at(u.Path())}
		if c.more != nil {
			c.more(&conf.Job)
		}
		sum := runConfig(t, conf)
		if c.want.URLs == 0 {
			if len(sum.Losses) > 0 {
				t.Errorf("%s: %+v", c.seed, sum.Losses)
			}
			continue
		}
		c.want.Why, c.want.Sites = string(crawl.ReasonScope), 1
		if len(sum.Losses) == 1 && strings.HasPrefix(sum.Losses[0].Example, c.want.Example) {
			c.want.Example = sum.Losses[0].Example // which of them is the order of their keys
		}
		if !slices.Equal(sum.Losses, []verdict.Loss{c.want}) {
			t.Errorf("%s: %+v, want %+v", c.seed, sum.Losses, c.want)
		}
	}
}
