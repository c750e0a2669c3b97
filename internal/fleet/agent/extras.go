package agent

import (
	"bytes"
	"net/url"

	readability "github.com/go-shiori/go-readability"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// maxText bounds the text that is kept of a page, in bytes.
const maxText = 2 << 20

// extras does what costs more than everything else together and is off unless a job asks for it: text, main text,
// language and near-duplicate marks.
func (l *lease) extras(u crawl.URL, body []byte, charset string, page *parse.Page, o *crawl.Outcome) {
	id := l.job.Identity
	if !id.Text && !id.MainText && !id.Language && !id.NearDup {
		return
	}
	utf8 := []byte(parse.Decode(body, charset))
	text := ""
	if id.MainText {
		text = mainText(u, utf8)
	}
	if text == "" {
		text = parse.Text(utf8, maxText)
	}
	if id.Language {
		o.Lang = parse.Language(string(page.Lang), text)
	}
	if id.NearDup {
		o.Simhash = parse.Simhash(text)
	}
	if id.Text || id.MainText {
		o.Text = crawl.Location{File: text, Length: -1}
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
