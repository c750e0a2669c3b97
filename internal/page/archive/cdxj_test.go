package archive

import (
	"testing"
	"time"

	"argosy/internal/crawl"
)

// A line has the key, the second, and JSON in a fixed order; owner and generation only where they are not 0.
func TestCaptureLine(t *testing.T) {
	u, err := crawl.Parse("http://www.example.com/a/?c=<&b=2")
	if err != nil {
		t.Fatal(err)
	}
	c := Capture{
		URL: u, Date: time.Date(2026, 11, 1, 2, 3, 4, 999, time.UTC), Mime: "text/html", Status: "200", Digest: "sha1:X",
		Location: crawl.Location{File: "f.warc.gz", Offset: 7, Length: 9},
	}
	const start = `com,example)/a?b=2&c=< 20261101020304 {"url":"http://www.example.com/a/?c=%3C&b=2","mime":"text/html","status":"200","digest":"sha1:X","length":"9","offset":"7","filename":"f.warc.gz"`
	if got := c.Line(); got != start+"}\n" {
		t.Errorf("%s", got)
	}
	c.Layer = crawl.Layer{Gen: 2}
	if got := c.Line(); got != start+`,"gen":2}`+"\n" {
		t.Errorf("%s", got)
	}
	c.Layer.Owner = 5
	if got := c.Line(); got != start+`,"owner":5,"gen":2}`+"\n" {
		t.Errorf("%s", got)
	}
}
