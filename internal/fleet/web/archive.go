package web

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/shelf"
	"argosy/internal/page/replay"
)

// An archived page is shown in an opaque origin: a sandbox without scripts, that asks nobody but us. It has no session, so that its
// images and styles are asked for by a ticket, which stands in their addresses and is good for the pages of one job for an hour. That a
// page knows its own ticket is no harm: nothing in it can run, or send it anywhere.

const (
	ticketLives    = time.Hour
	archivePath    = "/archive/"
	maxReplay      = 32 << 20         // bytes of a body
	maxRewritten   = 8 << 20          // of one whose URLs are turned
	maxShownCopy   = 64 << 20         // of what it becomes: each URL gets longer
	maxReplays     = 4                // at once, for all who look; each holds a body
	replayWait     = 15 * time.Second // for the turn of one
	chunkPatience  = 10 * time.Second // for a client to take some of it
	replayPatience = time.Minute      // for a client to take all of it
)

var errSlow = errors.New("it was not taken in time, or became too long")

// taker passes on what a client takes, as long as it takes it.
type taker struct {
	w    http.ResponseWriter
	c    *http.ResponseController
	ctx  context.Context
	end  time.Time
	room int
}

// Write implements io.Writer.
func (t *taker) Write(p []byte) (n int, err error) {
	for n < len(p) {
		piece := p[n:min(len(p), n+64<<10)]
		now := time.Now()
		if t.room -= len(piece); t.room < 0 || now.After(t.end) {
			return n, errSlow
		}
		if err := t.ctx.Err(); err != nil {
			return n, err
		}
		_ = t.c.SetWriteDeadline(now.Add(chunkPatience)) // a writer that knows no deadlines is a test's
		k, err := t.w.Write(piece)
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}

// tickets makes and reads tickets.
type tickets struct{ secret [32]byte }

func newTickets() *tickets {
	t := &tickets{}
	_, _ = rand.Read(t.secret[:]) // never fails: it ends the program instead
	return t
}

const ticketBytes = 4 + 4 + 4 + 8

// make makes a ticket for the pages of a job in a layer.
func (t *tickets) make(job uint32, l crawl.Layer, until time.Time) string {
	var b [ticketBytes]byte
	binary.BigEndian.PutUint32(b[0:], job)
	binary.BigEndian.PutUint32(b[4:], l.Owner)
	binary.BigEndian.PutUint32(b[8:], l.Gen)
	binary.BigEndian.PutUint64(b[12:], uint64(until.Unix()))
	return base64.RawURLEncoding.EncodeToString(t.sign(b[:]))
}

func (t *tickets) sign(b []byte) []byte {
	m := hmac.New(sha256.New, t.secret[:])
	m.Write(b)
	return m.Sum(b)
}

// read reads a ticket; false of one that is not ours, or is not good any more.
func (t *tickets) read(text string, now time.Time) (job uint32, l crawl.Layer, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != ticketBytes+sha256.Size || !hmac.Equal(t.sign(b[:ticketBytes:ticketBytes]), b) {
		return 0, l, false
	}
	if now.Unix() >= int64(binary.BigEndian.Uint64(b[12:])) {
		return 0, l, false
	}
	return binary.BigEndian.Uint32(b), crawl.Layer{Owner: binary.BigEndian.Uint32(b[4:]), Gen: binary.BigEndian.Uint32(b[8:])}, true
}

// copyOf is the address of the copy of a URL.
func copyOf(ticket, u string) string { return archivePath + ticket + "?u=" + url.QueryEscape(u) }

// shownTypes are what types begin with that are sent as they are: nothing in them runs in a sandbox without scripts.
var shownTypes = []string{"image/", "font/", "audio/", "video/", "application/font", "application/x-font", "application/vnd.ms-fontobject"}

// archived answers with the copy of a URL.
func (a *api) archived(w http.ResponseWriter, r *http.Request) {
	own := "'self' " + scheme(r) + "://" + r.Host // which is not the same behind some proxies
	h := w.Header()
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; img-src "+own+" data:; media-src "+own+" data:; font-src "+own+" data:; style-src "+own+" 'unsafe-inline'; frame-src "+own+"; form-action 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-DNS-Prefetch-Control", "off")
	job, layer, ok := a.tickets.read(r.PathValue("ticket"), time.Now())
	if !ok || !a.ourName(r.Host) {
		http.Error(w, "this address is not good any more: open the page again", http.StatusForbidden)
		return
	}
	u, err := crawl.Parse(r.URL.Query().Get("u"))
	if err != nil {
		http.Error(w, "not the address of a page", http.StatusNotFound)
		return
	}
	ctx := r.Context()
	waiting, cancel := context.WithTimeout(ctx, replayWait)
	leave, err := a.replays.Take(waiting)
	cancel()
	if err != nil {
		http.Error(w, "others look at archived pages already: try again in a moment", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	p, err := a.s.Ledger().Page(ctx, job, crawl.Page{Layer: layer, Key: u.Key()})
	if err != nil || p == nil || !p.Captured() {
		if slices.Contains(partsOfPages, r.Header.Get("Sec-Fetch-Dest")) {
			lendFont(w, r)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		http.Error(w, "This is not archived:\n\n"+u.String(), http.StatusNotFound)
		return
	}
	c, err := shelf.New(a.s.Dir(), a.s.Ledger()).Read(ctx, job, p, maxReplay)
	if err != nil {
		http.Error(w, "The archive cannot be read: "+err.Error(), http.StatusNotFound)
		return
	}
	a.show(w, r, r.PathValue("ticket"), u, p, c)
}

// show sends a copy as a browser may have it.
func (a *api) show(w http.ResponseWriter, r *http.Request, ticket string, u crawl.URL, p *ledger.Page, c *shelf.Copy) {
	to := func(v string) string { return copyOf(ticket, v) }
	if crawl.Redirects(c.Status) && c.Location != "" {
		if v, err := u.Resolve(c.Location); err == nil {
			http.Redirect(w, r, to(v.String()), http.StatusFound)
			return
		}
	}
	media := strings.ToLower(shelf.MediaOf(p, c))
	kind, write := "text/plain; charset=utf-8", (func(io.Writer, []byte, crawl.URL, replay.To) error)(nil)
	switch {
	case isFont(c.Body): // whatever its type says: many servers know none for fonts
		kind = "font/sfnt"
		lendFont(w, r)
	case media == "image/svg+xml":
		kind, write = "image/svg+xml; charset=utf-8", replay.SVG
	case p.HTML || media == "text/html" || media == "application/xhtml+xml":
		kind, write = "text/html; charset=utf-8", replay.HTML
	case media == "text/css":
		kind, write = "text/css; charset=utf-8", replay.CSS
	case isShown(media):
		kind = media
	case strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "json") || strings.HasSuffix(media, "xml"):
		c.Body = []byte(shelf.UTF8(p, c))
	default:
		http.Error(w, "This is archived, and not shown: "+media+".", http.StatusUnsupportedMediaType)
		return
	}
	w.Header().Set("Content-Type", kind)
	out := &taker{w: w, c: http.NewResponseController(w), ctx: r.Context(), end: time.Now().Add(replayPatience), room: maxShownCopy}
	if write == nil {
		_, _ = out.Write(c.Body)
		return
	}
	c.Body = c.Body[:min(len(c.Body), maxRewritten)]
	if err := write(out, []byte(shelf.UTF8(p, c)), u, to); err != nil && a.cfg.Logger != nil {
		a.cfg.Logger.Debug("an archived page was shown in part", "url", p.URL, "error", err)
	}
}

func isShown(media string) bool {
	return slices.ContainsFunc(shownTypes, func(s string) bool { return strings.HasPrefix(media, s) })
}

// fontMarks are what files of fonts begin with.
var fontMarks = []string{"wOFF", "wOF2", "OTTO", "true", "ttcf", "\x00\x01\x00\x00"}

func isFont(body []byte) bool {
	return slices.ContainsFunc(fontMarks, func(mark string) bool { return bytes.HasPrefix(body, []byte(mark)) })
}

// partsOfPages are as what browsers ask for parts of a page. One that is not archived is nothing: an error would stand in the console
// of whoever looks at the page, once for each.
var partsOfPages = []string{"font", "image", "style", "audio", "video", "track"}

// lendFont lets a page in a sandbox use a font. A browser asks for the fonts of a page, unlike its images and styles, as for something
// that a script could read, and takes none for an opaque origin without this. Nothing else is lent, and to pages of other sites nothing:
// those have an origin.
func lendFont(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Origin")
	if r.Header.Get("Origin") == "null" {
		w.Header().Set("Access-Control-Allow-Origin", "null")
	}
}
