package agent

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// maxMarked bounds the body of which phrases are taken, in bytes: what comes after it says little more.
const maxMarked = 256 << 10

// markPage says in an outcome what a page shows, if the frontier wants to know.
func markPage(t *crawl.Target, u, base crawl.URL, charset string, body []byte, page *parse.Page, o *crawl.Outcome) {
	if !t.Mark {
		return
	}
	m := parse.Mark(body[:min(len(body), maxMarked)], u.String(), page.Links)
	o.Shows, o.Sample = m.Text, m.Sample
	if t.Parent == nil {
		return
	}
	o.Back = slices.ContainsFunc(page.Links, func(l parse.Link) bool {
		v, err := base.Resolve(parse.DecodeRef(l.Ref, charset))
		return err == nil && v.Key() == *t.Parent
	})
}

// markOther does so for what is not a page: a redirect shows where it leads, texts their phrases, anything else its bytes.
func markOther(t *crawl.Target, body []byte, o *crawl.Outcome) {
	switch {
	case !t.Mark || o.Shows != 0:
	case o.Redirect != "":
		o.Shows = xxh3.HashString(o.Redirect) | 1
	case len(body) > 0 && len(body) <= maxMarked && (strings.HasPrefix(o.Mime, "text/") || strings.HasSuffix(o.Mime, "json") || strings.HasSuffix(o.Mime, "xml")):
		m := parse.Mark(body, o.URL, nil)
		o.Shows, o.Sample = m.Text, m.Sample
	default:
		o.Shows = xxh3.HashString(o.Digest) | 1
	}
}
