package agent

import (
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// maxMarked bounds the body of which phrases are taken, in bytes: what comes after it says little more.
const maxMarked = 256 << 10

// budget bounds what marks cost that are not needed: in bytes of pages, a share of those that were read. All leases of a node
// share it.
type budget struct {
	mu   sync.Mutex
	left int64
}

// A mark costs a fifth of what a page costs in all, so that one byte in twelve keeps marks below two percent. The pages of a small
// crawl may all be marked.
const (
	markShare  = 12
	markBudget = 2 << 20
)

// marks counts a page of so many bytes, and reports whether it is marked.
func (b *budget) marks(wanted crawl.Mark, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+bytes/markShare, markBudget)
	if wanted != crawl.MarkMay || b.left < bytes {
		return wanted == crawl.MarkMust
	}
	b.left -= bytes
	return true
}

// markPage says in an outcome what a page shows, if the frontier wants to know.
func (b *budget) markPage(t *crawl.Target, u, base crawl.URL, charset string, body []byte, page *parse.Page, o *crawl.Outcome) {
	if !b.marks(t.Mark, int64(len(body))) {
		return
	}
	m := parse.Mark(body[:min(len(body), maxMarked)], u.String(), page.Links)
	o.Shows, o.Sample, o.Figures = m.Text, m.Sample, m.Figures
	if t.Parent == nil {
		return
	}
	o.Back = slices.ContainsFunc(page.Links, func(l parse.Link) bool {
		v, err := base.Resolve(parse.DecodeRef(l.Ref, charset))
		return err == nil && v.Key() == *t.Parent
	})
}

// markOther does so for what is not a page: a redirect shows where it leads, anything else its bytes. What leads on by its header may
// differ in numbers only, as pages do: its bytes are read as words, whatever they are, and so is text that must be marked.
func (b *budget) markOther(t *crawl.Target, body []byte, o *crawl.Outcome) {
	if t.Mark == crawl.MarkNone || o.Shows != 0 {
		return
	}
	if o.Redirect != "" {
		o.Shows = xxh3.HashString(o.Redirect) | 1
		return
	}
	o.Shows = xxh3.HashString(o.Digest) | 1
	text := strings.HasPrefix(o.Mime, "text/") || strings.HasSuffix(o.Mime, "json") || strings.HasSuffix(o.Mime, "xml")
	if len(body) == 0 || len(body) > maxMarked || o.Links == 0 && !(text && t.Mark == crawl.MarkMust) || !b.marks(t.Mark, int64(len(body))) {
		return
	}
	m := parse.Mark(body, o.URL, nil)
	if o.Sample = m.Sample; text {
		o.Shows, o.Figures = m.Text, m.Figures
	}
	if len(o.Sample) == 0 {
		o.Sample = []uint32{wordless}
	}
}

// wordless is the mark of all bodies in which there is not a word.
const wordless = 1
