package agent

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// A page that shows next to nothing and leads nowhere says why, if that is because of its scripts or of a form.
func TestBars(t *testing.T) {
	const script, form = `<script src="/main.js"></script>`, `<form method="post"><input name=user><button>Log in</button></form>`
	for body, want := range map[string]crawl.Kind{
		`<div id=root></div><noscript>You need JavaScript.</noscript>` + script: crawl.KindScripts,
		`<link rel=icon href=/i.png>` + script:                                  crawl.KindScripts,
		form:                                                                    crawl.KindForm,
		`<INPUT TYPE="password">`:                                               "",
		`<FORM><INPUT TYPE="password">`:                                         crawl.KindForm,
		form + script:                                                           crawl.KindForm,
		`<a href=/x>x</a>` + script:                                             "",
		`<a href=/forgot>x</a>` + form:                                          "",
		`<a href=/forgot>x</a><FORM><INPUT TYPE="password">`:                    crawl.KindForm,
		strings.Repeat(`<a href=/x>x</a>`, 9) + `<form><input type=password>`: "",
		`<iframe src=/x></iframe>` + script:                                   "",
		`<p>Nothing here.`:                                                    "",
		strings.Repeat("words and more ", 20) + script:                        "",
	} {
		var doc parse.Page
		parse.Scan([]byte(body), parse.Options{}, &doc)
		if got := bars([]byte(body), &doc); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
