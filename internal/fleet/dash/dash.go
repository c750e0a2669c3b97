// Package dash holds the pages by which people see and steer a crawl in a browser: HTML, styles and scripts as they are served, built
// from src (make dash) and checked in, so that building argosy needs nothing besides Go. The pages ask the API and nothing else; what
// they show comes from sites, and is never markup.
package dash

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"
	"strings"
)

//go:embed dist
var files embed.FS

// Names are the files that there are, besides the page itself.
var Names = []string{"app.js", "app.css", "icon.svg"}

// policy lets a page load what we serve, show what is archived in a frame, and nothing else; no script or style in the page itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var types = map[string]string{"index.html": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "app.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}

// Serve answers with a file: of Names, or index.html, the page.
func Serve(w http.ResponseWriter, r *http.Request, name string) {
	b, packed, err := read(name)
	if err == nil && packed && !takesGzip(r) {
		b, err = unpacked(b)
		packed = false
	}
	if err != nil || types[name] == "" {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", types[name])
	h.Set("Vary", "Accept-Encoding")
	if packed {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write(b)
}

// read returns a file as it is in the binary: the large ones are compressed.
func read(name string) (b []byte, packed bool, err error) {
	if b, err = files.ReadFile("dist/" + name + ".gz"); err == nil {
		return b, true, nil
	}
	b, err = files.ReadFile("dist/" + name)
	return b, false, err
}

func unpacked(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// takesGzip reports whether a client reads gzip (RFC 9110, section 12.5.3). A refusal by "q=0", which no browser sends, is one.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return !strings.HasPrefix(strings.ReplaceAll(weight, " ", ""), "q=0")
		}
	}
	return false
}
