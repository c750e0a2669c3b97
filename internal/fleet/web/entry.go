package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"argosy/internal/fleet/access"
)

// Me is what a browser is told of who it is, and of whom it asks.
type Me struct {
	Role    string `json:"role"`
	Name    string `json:"name"`
	Kind    string `json:"kind"` // fleet, crawl or over
	Version string `json:"version"`
	Page    string `json:"page,omitempty" doc:"to who has just been let in: the key that goes with the cookie, in the field Argosy-Page of each request"`
}

// Entry is what a browser shows to be let in: a code of a link, or a token.
type Entry struct {
	Code  string `json:"code,omitempty" maxLength:"128"`
	Token string `json:"token,omitempty" maxLength:"512"`
}

// Let is the answer to an entry.
type Let struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Me
}

// Code is a code that lets one browser in.
type Code struct {
	Code string `json:"code" doc:"the page's address, then #code= and this"`
}

// asked is what an entry comes with.
type asked struct {
	Body Entry
	r    *http.Request
}

// Resolve implements huma.Resolver.
func (e *asked) Resolve(ctx huma.Context) []error {
	e.r, _ = humago.Unwrap(ctx)
	return nil
}

// request is a request without a body.
type request struct {
	r *http.Request
	w http.ResponseWriter
}

// Resolve implements huma.Resolver.
func (e *request) Resolve(ctx huma.Context) []error {
	e.r, e.w = humago.Unwrap(ctx)
	return nil
}

func (a *api) registerEntry(h huma.API, get, post func(id, path, what string) huma.Operation) {
	register(h, get("me", "/session", "Who asks, and what may they do"), func(ctx context.Context, _ *struct{}) (*out[Me], error) {
		return &out[Me]{a.me(whoAsks(ctx))}, nil
	})
	let := post("enter", "/session", "Trade the code of a link, or a token, for a session: a cookie, and a key that goes with it")
	let.MaxBodyBytes = maxPetition // anybody may ask
	huma.Register(h, let, a.enter)
	register(h, post("leave", "/session/end", "End the session"), func(_ context.Context, in *request) (*out[Me], error) {
		cookie, _, ok := a.sessionOf(in.r, false)
		if !ok {
			return nil, huma.Error403Forbidden("only a page that has been let in ends its session")
		}
		a.door.end(cookie)
		gone := a.cookie(in.r, "")
		gone.MaxAge = -1
		http.SetCookie(in.w, &gone)
		return &out[Me]{a.me(access.Who{})}, nil
	})
	register(h, post("code", "/session/code", "Make a code that lets another browser in, once, as who asks"), func(ctx context.Context, in *request) (*out[Code], error) {
		return &out[Code]{Code{a.door.code(pass{who: whoAsks(ctx), token: a.shown(in.r)})}}, nil
	})
}

func (a *api) me(who access.Who) Me {
	return Me{Role: who.Role.String(), Name: who.Name, Kind: a.cfg.Kind, Version: a.cfg.Version}
}

func (a *api) cookie(r *http.Request, value string) http.Cookie {
	return http.Cookie{Name: cookieName(r), Value: value, Path: "/", HttpOnly: true, Secure: scheme(r) == "https" || strings.HasPrefix(r.Header.Get("Origin"), "https://"), SameSite: http.SameSiteStrictMode}
}

func (a *api) enter(_ context.Context, in *asked) (*Let, error) {
	if !a.ourName(in.r.Host) {
		return nil, &huma.ErrorModel{Status: http.StatusMisdirectedRequest, Title: http.StatusText(http.StatusMisdirectedRequest), Detail: notOurs(in.r.Host)}
	}
	if !a.sameOrigin(in.r) {
		return nil, huma.Error403Forbidden("a page of another origin cannot let a browser in; behind a proxy, have it pass on the name that the browser asks for " +
			"(nginx: proxy_set_header Host $http_host), or, where it speaks TLS, start the coordinator with --allow-host and that name")
	}
	p, ok := pass{token: in.Body.Token}, in.Body.Token != ""
	if in.Body.Code != "" {
		p, ok = a.door.trade(in.Body.Code)
	}
	if ok {
		p.who, ok = a.whose(p)
	}
	if !ok {
		return nil, huma.Error401Unauthorized("the code was used before, or is older than an hour, or the token is not good: argosy link prints another link")
	}
	cookie, page := a.door.begin(p.who, p.token)
	me := a.me(p.who)
	me.Page = page
	return &Let{a.cookie(in.r, cookie), me}, nil
}

// notOurs says why a name is not answered.
func notOurs(host string) string {
	return "the name " + host + " is not one of this coordinator's: use an address, localhost or the machine's name, or start it with --allow-host"
}
