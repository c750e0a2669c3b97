package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"argosy/internal/fleet/access"
)

// A browser has no token. Whoever starts a coordinator gets a link whose fragment holds a code, which no server sees until the page
// trades it, once, for two secrets. One is a cookie, out of reach of scripts; but the browser sends it to every port of this host, to a
// site that somebody else serves there, too. So it is worth nothing without the other, the key, which the page keeps in a storage that is of
// this port alone, and sends in a field of its own.

// pageKey is the field in which a page of ours sends its key. A page of another origin cannot set it without asking us first.
const pageKey = "Argosy-Page"

const (
	codeLives    = time.Hour
	sessionLives = 12 * time.Hour // since it was used last
	sessionMost  = 7 * 24 * time.Hour
	maxCodes     = 64
	maxSessions  = 1000
)

// Door lets browsers in.
type Door struct {
	mu       sync.Mutex
	now      func() time.Time
	codes    map[[sha256.Size]byte]pass // by hashes of the codes
	sessions map[[sha256.Size]byte]pass // by hashes of the cookies
	book     *book                      // nil: they end with the process
}

// pass is what a code or a session stands for.
type pass struct {
	who   access.Who
	token string // that it was made with, and without which it is worth nothing; empty: none
	until time.Time
	last  time.Time // it is good no longer than this, however often it is used

	page   [sha256.Size]byte // of a session: hash of the key that its page has
	sealed []byte            // likewise: the token, which is not kept otherwise
}

// NewDoor returns a door.
func NewDoor() *Door {
	return &Door{now: time.Now, codes: map[[sha256.Size]byte]pass{}, sessions: map[[sha256.Size]byte]pass{}}
}

// Code makes a code that lets one browser in, once, within the hour. Of so many that nobody uses the oldest is forgotten.
func (d *Door) Code(who access.Who) string { return d.code(pass{who: who}) }

func (d *Door) code(p pass) string {
	code := secret()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(d.codes, maxCodes, hashed("code", code), p, codeLives)
	return code
}

// Link returns the link to a page, with a code in its fragment.
func (d *Door) Link(base string, who access.Who) string { return base + "/#code=" + d.Code(who) }

// put keeps a pass. Who calls holds the mutex.
func (d *Door) put(in map[[sha256.Size]byte]pass, most int, key [sha256.Size]byte, p pass, lives time.Duration) {
	now := d.now()
	var oldest [sha256.Size]byte
	var until time.Time
	for k, v := range in {
		if !now.Before(v.until) {
			delete(in, k)
		} else if until.IsZero() || v.until.Before(until) {
			oldest, until = k, v.until
		}
	}
	if len(in) >= most {
		delete(in, oldest)
	}
	p.until, p.last = now.Add(lives), now.Add(sessionMost)
	in[key] = p
}

// secret returns 24 random bytes as text.
func secret() string {
	var raw [24]byte
	_, _ = rand.Read(raw[:]) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// trade takes a code for what it stands for; false if it is not good, or was used before.
func (d *Door) trade(code string) (p pass, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := hashed("code", code)
	p, ok = d.codes[key]
	delete(d.codes, key)
	return p, ok && d.now().Before(p.until)
}

// begin begins a session of somebody, who has shown a token if it is not empty. It returns the session's two secrets.
func (d *Door) begin(who access.Who, token string) (cookie, page string) {
	cookie, page = secret(), secret()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(d.sessions, maxSessions, hashed("cookie", cookie), pass{who: who, page: hashed("page", page), sealed: seal(cookie, token)}, sessionLives)
	d.changed()
	return cookie, page
}

// session returns whose session it is by both of its secrets, and the token that it was made with. To use it makes it last longer.
func (d *Door) session(cookie, page string, use bool) (p pass, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key, of := hashed("cookie", cookie), hashed("page", page)
	p, ok = d.sessions[key]
	switch {
	case !ok:
		return pass{}, false
	case !d.now().Before(p.until):
		delete(d.sessions, key)
		return pass{}, false
	case subtle.ConstantTimeCompare(p.page[:], of[:]) == 0:
		return pass{}, false
	}
	if p.token, ok = unseal(cookie, p.sealed); !ok { // the file was changed by somebody
		return pass{}, false
	}
	if use {
		kept := p
		kept.token = ""
		if kept.until = d.now().Add(sessionLives); kept.until.After(p.last) {
			kept.until = p.last
		}
		d.sessions[key] = kept
		if d.book != nil && d.now().Sub(d.book.at) > noted {
			d.changed()
		}
	}
	return p, true
}

func (d *Door) end(cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, hashed("cookie", cookie))
	d.changed()
}

// cookieName is the name of the cookie of a session: cookies know no ports, and several coordinators may be on one machine.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "argosy_" + port
	}
	return "argosy"
}

// sessionOf returns the session of a request. The page that asks must be ours: of the same origin, at a name of ours, and with its key.
func (a *api) sessionOf(r *http.Request, use bool) (cookie string, p pass, ok bool) {
	c, err := r.Cookie(cookieName(r))
	if err != nil || !a.ourName(r.Host) || !a.sameOrigin(r) {
		return "", pass{}, false
	}
	p, ok = a.door.session(c.Value, r.Header.Get(pageKey), use)
	return c.Value, p, ok
}

// bySession returns who asks by a session.
func (a *api) bySession(r *http.Request, use bool) access.Who {
	cookie, p, ok := a.sessionOf(r, use)
	if !ok {
		return access.Who{}
	}
	who, ok := a.whose(p)
	if !ok {
		a.door.end(cookie)
		return access.Who{}
	}
	return who
}

// whose returns whom a pass stands for: nobody, when the token that it was made with is revoked by now.
func (a *api) whose(p pass) (access.Who, bool) {
	if p.token == "" {
		return p.who, true
	}
	who, ok := a.byToken(p.token)
	return who, ok && who.Role.May(access.ToRead)
}

// shown returns the token by which somebody is let in: that of the request, or of its session; empty where it is neither.
func (a *api) shown(r *http.Request) string {
	if token, ok := bearer(r); ok {
		return token
	}
	_, p, _ := a.sessionOf(r, false)
	return p.token
}

// sameOrigin reports whether a request comes from a page of ours, or from a person who has given its address. A browser says so; what
// changes something must say it. Behind a proxy that asks us by another name than the browser asked it, or speaks TLS and does not tell, the
// browser's word that the page is of the origin that it asks counts if that is at a name that was given as ours.
func (a *api) sameOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return site != "" || r.Method == http.MethodGet || r.Method == http.MethodHead
	}
	if origin == scheme(r)+"://"+r.Host {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && site == "same-origin" && slices.Contains(a.cfg.Hosts, strings.ToLower(u.Hostname()))
}

// scheme is what a browser asks us by: https over TLS, or where a proxy says that it speaks TLS for us.
func scheme(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https"
	}
	return "http"
}

// ourName reports whether a host that a browser asks for is ours: an address, this machine's name, or one that was named as ours. A
// name of somebody else's that leads here is a page of somebody else's that wants to read us.
func (a *api) ourName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(a.cfg.Hosts, host) {
		return true
	}
	own, err := os.Hostname()
	return err == nil && strings.EqualFold(own, host)
}
