package archive

import (
	"encoding/json"
	"strings"
	"time"

	"argosy/internal/crawl"
)

// Capture is a line of a CDXJ index.
type Capture struct {
	URL      crawl.URL
	Date     time.Time
	Mime     string
	Status   string
	Digest   string
	Location crawl.Location
	Layer    crawl.Layer
}

// cdxj fixes the order of the fields of a line.
type cdxj struct {
	URL      string `json:"url"`
	Mime     string `json:"mime"`
	Status   string `json:"status"`
	Digest   string `json:"digest"`
	Length   int64  `json:"length,string"`
	Offset   int64  `json:"offset,string"`
	Filename string `json:"filename"`
	crawl.Layer
}

// Line returns the capture as a line of CDXJ: the key in SURT form, the date to the second, the rest as JSON. Owner and
// generation stand there when they are not 0.
func (c Capture) Line() string {
	var b strings.Builder
	b.WriteString(c.URL.SURT())
	b.WriteByte(' ')
	b.WriteString(c.Date.UTC().Format("20060102150405"))
	b.WriteByte(' ')
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(cdxj{ // strings and numbers: it cannot fail
		URL: c.URL.String(), Mime: c.Mime, Status: c.Status, Digest: c.Digest,
		Length: c.Location.Length, Offset: c.Location.Offset, Filename: c.Location.File, Layer: c.Layer,
	})
	return b.String()
}
