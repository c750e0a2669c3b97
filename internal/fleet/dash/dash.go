// Package dash holds the pages by which people see and steer a crawl in a browser: HTML, styles and scripts as they are served, built
// from src (make dash) and checked in, so that building argosy needs nothing besides Go. The pages ask the API and nothing else; what
// they show comes from sites, and is never markup.
package dash

import (
	"embed"
	"net/http"
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
	b, err := files.ReadFile("dist/" + name)
	if err != nil || types[name] == "" {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", types[name])
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write(b)
}
