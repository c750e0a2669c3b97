package web

import (
	"crypto/rand"
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
// trades it, once, for a cookie. The cookie is of this host and port alone, out of reach of scripts, and is never sent by a page of
// another site.

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
	var raw [24]byte
	_, _ = rand.Read(raw[:]) // never fails: it ends the program instead
	key := base64.RawURLEncoding.EncodeToString(raw[:])
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

// trade takes a code for a session; false if it is not good, or was used before.
func (d *Door) trade(code string) (session string, who access.Who, ok bool) {
	d.mu.Lock()
	p, ok := d.codes[code]
	delete(d.codes, code)
	ok = ok && d.now().Before(p.until)
	d.mu.Unlock()
	if !ok {
		return "", access.Who{}, false
	}
	return d.begin(p.who, p.token), p.who, true
}

// begin begins a session of somebody, who has shown a token if it is not empty.
func (d *Door) begin(who access.Who, token string) string {
	return d.put(d.sessions, maxSessions, pass{who: who, token: token}, sessionLives)
}

// session returns whose session it is, and the token that it was made with.
func (d *Door) session(key string) (p pass, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok = d.sessions[key]
	if !ok || !d.now().Before(p.until) {
		delete(d.sessions, key)
		return pass{}, false
	}
	if p.until = d.now().Add(sessionLives); p.until.After(p.last) {
		p.until = p.last
	}
	d.sessions[key] = p
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

// bySession returns who asks by the cookie of a session. The page that asks must be ours: of the same origin, at a name of ours.
func (a *api) bySession(r *http.Request) access.Who {
	c, err := r.Cookie(cookieName(r))
	if err != nil || !a.ourName(r.Host) || !sameOrigin(r) {
		return access.Who{}
	}
	p, ok := a.door.session(c.Value)
	if !ok {
		return access.Who{}
	}
	if p.token == "" {
		return p.who
	}
	who, ok := a.byToken(p.token) // it may be revoked by now
	if !ok {
		a.door.end(c.Value)
	}
	return who
}

// shown returns the token by which somebody is let in: that of the request, or of its session; empty where it is neither.
func (a *api) shown(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	if c, err := r.Cookie(cookieName(r)); err == nil {
		if p, ok := a.door.session(c.Value); ok {
			return p.token
		}
	}
	return ""
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
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
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
