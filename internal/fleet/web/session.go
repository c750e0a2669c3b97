package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
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
	codes    map[string]pass
	sessions map[string]pass
}

// pass is what a code or a session stands for.
type pass struct {
	who   access.Who
	token string // that it was made with, and without which it is worth nothing; empty: none
	page  string // of a session: the key that its page has
	until time.Time
	last  time.Time // it is good no longer than this, however often it is used
}

// NewDoor returns a door.
func NewDoor() *Door {
	return &Door{now: time.Now, codes: map[string]pass{}, sessions: map[string]pass{}}
}

// Code makes a code that lets one browser in, once, within the hour. Of so many that nobody uses the oldest is forgotten.
func (d *Door) Code(who access.Who) string { return d.code(pass{who: who}) }

func (d *Door) code(p pass) string { return d.put(d.codes, maxCodes, p, codeLives) }

// Link returns the link to a page, with a code in its fragment.
func (d *Door) Link(base string, who access.Who) string { return base + "/#code=" + d.Code(who) }

func (d *Door) put(in map[string]pass, most int, p pass, lives time.Duration) string {
	key := secret()
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	oldest := ""
	for k, v := range in {
		if !now.Before(v.until) {
			delete(in, k)
		} else if oldest == "" || v.until.Before(in[oldest].until) {
			oldest = k
		}
	}
	if len(in) >= most {
		delete(in, oldest)
	}
	p.until, p.last = now.Add(lives), now.Add(sessionMost)
	in[key] = p
	return key
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
	p, ok = d.codes[code]
	delete(d.codes, code)
	return p, ok && d.now().Before(p.until)
}

// begin begins a session of somebody, who has shown a token if it is not empty. It returns the session's two secrets.
func (d *Door) begin(who access.Who, token string) (cookie, page string) {
	page = secret()
	return d.put(d.sessions, maxSessions, pass{who: who, token: token, page: page}, sessionLives), page
}

// session returns whose session it is by both of its secrets, and the token that it was made with. To use it makes it last longer.
func (d *Door) session(cookie, page string, use bool) (p pass, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok = d.sessions[cookie]
	switch {
	case !ok:
		return pass{}, false
	case !d.now().Before(p.until):
		delete(d.sessions, cookie)
		return pass{}, false
	case subtle.ConstantTimeCompare([]byte(p.page), []byte(page)) == 0:
		return pass{}, false
	}
	if use {
		if p.until = d.now().Add(sessionLives); p.until.After(p.last) {
			p.until = p.last
		}
		d.sessions[cookie] = p
	}
	return p, true
}

func (d *Door) end(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, key)
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
	if err != nil || !a.ourName(r.Host) || !sameOrigin(r) {
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
// changes something must say it.
func sameOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return site != "" || r.Method == http.MethodGet || r.Method == http.MethodHead
	}
	return origin == scheme(r)+"://"+r.Host
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
