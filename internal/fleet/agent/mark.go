package agent

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// maxMarked bounds the body of which phrases are taken, in bytes: what comes after it says little more.
const maxMarked = 256 << 10

// Marks says in outcomes what answers show, and bounds what that costs where it is not needed: in bytes of pages, by a share of
// those that were read. All leases of a node share it.
type Marks struct {
	mu   sync.Mutex
	left int64
}

// NewMarks returns the marks of a node that has read nothing yet.
func NewMarks() *Marks { return &Marks{left: markBudget} }

// Spend uses the budget up: from now on the node is one that has read much.
func (m *Marks) Spend() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = 0
}

// A mark costs two fifths of what a page costs in all, so that one byte in 16 keeps those that need not be made below three percent. The
// pages of a small crawl may all be marked.
const (
	markShare  = 16
	markBudget = 8 << 20
)

// may counts a page of so many bytes, and reports whether it is marked. Long pages are as likely to be marked as short ones.
func (m *Marks) may(wanted crawl.Mark, bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	bytes = min(bytes, maxMarked)
	m.left = min(m.left+bytes/markShare, markBudget)
	if wanted != crawl.MarkMay || m.left <= 0 {
		return wanted >= crawl.MarkMust
	}
	m.left -= bytes
	return true
}

// Page says in an outcome what a page shows, if the frontier wants to know. Relative links are resolved against base.
func (m *Marks) Page(t *crawl.Target, u, base crawl.URL, charset string, body []byte, page *parse.Page, o *crawl.Outcome) {
	if !m.may(t.Mark, int64(len(body))) {
		return
	}
	mark := parse.MarkPage(body[:min(len(body), maxMarked)], u.String(), page, t.Mark >= crawl.MarkClosely)
	o.Shows, o.Sample, o.Figures, o.Pictures, o.Names, o.Numbers = mark.Text, mark.Sample, mark.Figures, mark.Pictures, mark.Names, mark.Numbers
	if t.Parent == nil {
		return
	}
	page.Each(func(links []parse.Link) bool {
		o.Back = slices.ContainsFunc(links, func(l parse.Link) bool {
			v, err := base.Resolve(parse.DecodeRef(l.Ref, charset))
			return err == nil && v.Key() == *t.Parent
		})
		return !o.Back
	})
}

// Both leaves in an outcome what both answers to its URL have shown.
func Both(o, second *crawl.Outcome) {
	o.Twice = true
	if o.Shows == second.Shows {
		return
	}
	o.Changed = true
	h := xxh3.New()
	for _, marks := range [...]struct{ of, other *crawl.Marks }{{&o.Sample, &second.Sample}, {&o.Figures, &second.Figures}, {&o.Pictures, &second.Pictures}, {&o.Names, &second.Names}} {
		*marks.of = slices.DeleteFunc(*marks.of, func(m uint32) bool { return !slices.Contains(*marks.other, m) })
		for _, m := range *marks.of {
			_, _ = h.Write(binary.LittleEndian.AppendUint32(nil, m))
		}
	}
	o.Numbers = bothNumbers(o.Numbers, second.Numbers)
	for _, n := range o.Numbers {
		_, _ = h.Write(binary.LittleEndian.AppendUint32(nil, n))
	}
	o.Shows = h.Sum64() | 1
}

// bothNumbers returns those of two answers, crawl.Drawn where they differ; none if they do not say as many.
func bothNumbers(one, two []uint32) []uint32 {
	if len(one) != len(two) {
		return nil
	}
	out := slices.Clone(one)
	for i := range out {
		if out[i] != two[i] {
			out[i] = crawl.Drawn
		}
	}
	return out
}

// Other says in an outcome what an answer shows that is not a page: a redirect shows where it leads, anything else its bytes. What leads
// on by its header may differ in numbers only, as pages do: its bytes are read as words, whatever they are, and so is text, such as the
// entry of a calendar. The outcome has its redirect, digest, type and number of links already.
func (m *Marks) Other(t *crawl.Target, body []byte, o *crawl.Outcome) {
	if t.Mark == crawl.MarkNone || o.Shows != 0 {
		return
	}
	if o.Redirect != "" {
		o.Shows = xxh3.HashString(o.Redirect) | 1
		return
	}
	o.Shows = xxh3.HashString(o.Digest) | 1
	text := strings.HasPrefix(o.Mime, "text/") || strings.HasSuffix(o.Mime, "json") || strings.HasSuffix(o.Mime, "xml")
	if len(body) == 0 || len(body) > maxMarked || o.Links == 0 && !text || !m.may(t.Mark, int64(len(body))) {
		return
	}
	mark := parse.Mark(body, o.URL, nil, false)
	if o.Sample = mark.Sample; text {
		o.Shows, o.Figures, o.Pictures = mark.Text, mark.Figures, mark.Pictures
	}
	if len(o.Sample) == 0 {
		o.Sample = []uint32{wordless}
	}
}

// wordless is the mark of all bodies in which there is not a word.
const wordless = 1
