package agent

import (
	"bytes"
	"net/url"

	readability "github.com/go-shiori/go-readability"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/parse"
)

// maxText bounds the text that is kept of a page, in bytes, and maxTextSource what of the page it is made from.
const (
	maxText       = 2 << 20
	maxTextSource = 8 << 20
)

// extras does what costs more than everything else together and is off unless a job asks for it: text, main text,
// language and near-duplicate marks.
func (l *lease) extras(p *page, body []byte, charset string, doc *parse.Page) {
	id, o := l.job.Identity, p.outcome
	if !id.Text && !id.MainText && !id.Language && !id.NearDup {
		return
	}
	utf8 := []byte(parse.Decode(body[:min(len(body), maxTextSource)], charset))
	text := ""
	if id.MainText {
		text = mainText(p.url, utf8)
	}
	if text == "" {
		text = parse.Text(utf8, maxText)
	}
	if id.Language {
		o.Lang = parse.Language(string(doc.Lang), text)
	}
	if id.NearDup {
		o.Simhash = parse.Simhash(text)
	}
	if id.Text || id.MainText {
		p.records = append(p.records, record{archive.Record{
			Type: "conversion", ID: archive.NewID(), Date: p.resp.Date, URI: p.url.String(), ContentType: "text/plain; charset=utf-8",
			Blocks: [][]byte{[]byte(text)},
		}, &o.Text, nil})
	}
}

// mainText returns the text of a page without what stands around it, "" where that cannot be told.
func mainText(u crawl.URL, utf8 []byte) (text string) {
	defer func() {
		if recover() != nil { // a page from outside must not end the node, whatever the library makes of it
			text = ""
		}
	}()
	base, err := url.Parse(u.String())
	if err != nil {
		return ""
	}
	a, err := readability.FromReader(bytes.NewReader(utf8), base)
	if err != nil {
		return ""
	}
	return a.TextContent[:min(len(a.TextContent), maxText)]
}
