package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/answer"
	"argosy/internal/fleet/gate"
)

// needs says what each endpoint asks of who calls it. One that does not stand here is an operator's.
var needs = map[string]access.Need{
	"GET /healthz":                     access.Nothing,
	"GET /readyz":                      access.Nothing,
	"GET /metrics":                     access.ToRead,
	"GET /traces/{job}":                access.ToRead,
	"GET /debug/pprof/{name}":          access.ToOrder, // it shows what is in memory
	"GET /{$}":                         access.Nothing, // the pages: what they show they ask the API for
	"GET /archive/{ticket}":            access.Nothing, // a ticket, in the address
	"GET /dash/app.js":                 access.Nothing,
	"GET /dash/app.css":                access.Nothing,
	"GET /dash/icon.svg":               access.Nothing,
	"GET /api/v1/join":                 access.Nothing,
	"POST /api/v1/join":                access.Nothing, // a token, or a key that a name is bound to: access.Admit decides
	"GET /api/v1/openapi.json":         access.ToRead,
	"GET /api/v1/openapi.yaml":         access.ToRead,
	"GET /api/v1/openapi-3.0.json":     access.ToRead,
	"GET /api/v1/openapi-3.0.yaml":     access.ToRead,
	"GET /api/v1/status":               access.ToRead,
	"GET /api/v1/jobs":                 access.ToRead,
	"GET /api/v1/jobs/{id}":            access.ToRead,
	"GET /api/v1/jobs/{id}/tasks":      access.ToRead,
	"GET /api/v1/jobs/{id}/types":      access.ToRead,
	"GET /api/v1/jobs/{id}/statuses":   access.ToRead,
	"GET /api/v1/jobs/{id}/fetchers":   access.ToRead,
	"GET /api/v1/jobs/{id}/timeline":   access.ToRead,
	"GET /api/v1/jobs/{id}/cells":      access.ToRead,
	"GET /api/v1/jobs/{id}/recording":  access.ToRead,
	"GET /api/v1/jobs/{id}/pages":      access.ToRead,
	"GET /api/v1/jobs/{id}/page":       access.ToRead,
	"GET /api/v1/tasks/{task}":         access.ToRead,
	"GET /api/v1/tasks/{task}/explain": access.ToRead,
	"GET /api/v1/leases":               access.ToRead,
	"GET /api/v1/series":               access.ToRead,
	"GET /api/v1/events":               access.ToRead,
	"GET /api/v1/strategies":           access.ToRead,
	"GET /api/v1/session":              access.ToRead,
	"POST /api/v1/session":             access.Nothing, // a code, or a token: Door decides
	"POST /api/v1/session/end":         access.Nothing,
	"POST /api/v1/session/code":        access.ToRead,
	"GET /api/v1/nodes":                access.ToRead,
	"GET /api/v1/reservation":          access.ToRead,
	"POST /api/v1/jobs":                access.ToOrder,
	"POST /api/v1/jobs/{id}/seeds":     access.ToOrder,
	"POST /api/v1/jobs/{id}/pause":     access.ToOrder,
	"POST /api/v1/jobs/{id}/resume":    access.ToOrder,
	"POST /api/v1/jobs/{id}/cancel":    access.ToOrder,
	"POST /api/v1/jobs/{id}/limits":    access.ToOrder,
	"POST /api/v1/jobs/{id}/retry":     access.ToOrder,
	"POST /api/v1/jobs/{id}/drop":      access.ToOrder,
	"POST /api/v1/nodes/{node}/drain":  access.ToOrder,
	"POST /api/v1/nodes/{node}/return": access.ToOrder,

	"POST /api/v1/nodes/{node}/revoke":  access.ToOrder,
	"POST /api/v1/nodes/{node}/release": access.ToOrder,
	"GET /api/v1/names":                 access.ToOrder,
	"GET /api/v1/tokens":                access.ToOrder,
	"POST /api/v1/tokens":               access.ToOrder,
	"POST /api/v1/tokens/{id}/revoke":   access.ToOrder,
	"POST /api/v1/keys/rotate":          access.ToOrder,
	"GET /api/v1/orders":                access.ToOrder, // where nothing runs, whoever reads the rest reads them too
	"GET /api/v1/decisions":             access.ToRead,
	"GET /api/v1/jobs/{id}/believed":    access.ToRead,
	"GET /api/v1/plans":                 access.ToRead,

	"GET /api/v1/jobs/{id}/runs":               access.ToRead,
	"GET /api/v1/jobs/{id}/measurements":       access.ToRead,
	"GET /api/v1/jobs/{id}/markets":            access.ToRead,
	"GET /api/v1/jobs/{id}/markets/{market}":   access.ToRead,
	"GET /api/v1/jobs/{id}/tree":               access.ToRead,
	"GET /api/v1/jobs/{id}/statistics":         access.ToRead,
	"POST /api/v1/jobs/{id}/tasks/{task}/edit": access.ToOrder,
}

// answerPatience is how long making an answer and taking it may last, so that who does not read holds nothing for long.
const answerPatience = 2 * time.Minute

// guard lets in who may ask what it asks: the one place where that is looked at.
func (a *api) guard(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerPatience)) // what takes longer sets its own
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		_, pattern := mux.Handler(r)
		who, need := a.who(r, true), a.need(pattern)
		switch {
		case who.Role.May(need) && pattern == "":
			notThere(w, r, mux)
			return
		case who.Role.May(need):
			r = r.WithContext(context.WithValue(r.Context(), whoKey{}, who))
			if who.Role == access.Nobody || strings.HasPrefix(r.URL.Path, "/api/v1/session") {
				mux.ServeHTTP(w, r)
				return
			}
			a.again.Serve(w, r, who.Name, mux)
			return
		}
		if a.cfg.Logger != nil {
			a.cfg.Logger.Warn("refused: no token that suffices", "from", r.RemoteAddr, "who", who.Name, "role", who.Role.String(), "method", r.Method, "path", r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/problem+json")
		if who.Role == access.Nobody {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"status":401,"title":"Unauthorized","detail":"a token is needed that the coordinator knows: Authorization: Bearer TOKEN (commands: --token-file FILE, or ARGOSY_TOKEN)"}` + "\n"))
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"status":403,"title":"Forbidden","detail":"the role ` + who.Role.String() + ` does not suffice for this"}` + "\n"))
	})
}

// need says what an endpoint asks of who calls it here: the log of orders of a directory that is shown is its owner's, who has an
// observer's rights there because nothing can be ordered.
func (a *api) need(pattern string) access.Need {
	if a.cfg.Kind == KindOver && pattern == "GET /api/v1/orders" {
		return access.ToRead
	}
	return needs[pattern]
}

// notThere answers what asks for a path that there is not, or by a method that it does not take.
func notThere(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := mux.Handler(&other); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		verb := "is"
		if len(allowed) > 1 {
			verb = "are"
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		answer.Refuse(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not allowed here: %s %s", answer.Clip(r.Method), strings.Join(allowed, " and "), verb))
		return
	}
	answer.Refuse(w, http.StatusNotFound, answer.Clip(r.URL.Path)+": there is no such path; /api/v1/openapi.json describes those of the API")
}

type whoKey struct{}

// whoAsks returns who asks.
func whoAsks(ctx context.Context) access.Who {
	who, _ := ctx.Value(whoKey{}).(access.Who)
	return who
}

// who tells by a request who sends it: a token says so, or this machine's own socket, which only its user can open. Where a token is
// shown it alone counts. That a request comes from loopback says nothing. To use a session makes it last longer.
func (a *api) who(r *http.Request, use bool) access.Who {
	if r.Header.Get("Authorization") != "" {
		token, ok := bearer(r)
		if !ok {
			return access.Who{}
		}
		who, _ := a.byToken(token)
		return who
	}
	if who, ok := r.Context().Value(peerKey{}).(access.Who); ok && !passedOn(r) {
		return who
	}
	return a.bySession(r, use)
}

// bearer returns the token that a request shows. The name of the scheme has no case (RFC 9110, section 11.1).
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}

// from is where a request comes from, as gate.Admit takes it. Behind a proxy nobody can tell.
func from(r *http.Request, who access.Who) string {
	if _, ok := r.Context().Value(peerKey{}).(access.Who); ok && who.Role != access.Nobody {
		return gate.Local
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || passedOn(r) {
		return ""
	}
	return at.Addr().Unmap().String()
}

// passedOn reports whether a proxy has passed a request on, or a page of another origin sent it, as far as that can be seen.
func passedOn(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) || r.Close { // as nginx asks, unless it is told otherwise
		return true
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-") || slices.Contains(signsOfOthers, name) {
			return true
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// signsOfOthers are fields by which such a request is known, besides those that begin with X-.
var signsOfOthers = []string{"Origin", "Forwarded", "Via", "Cf-Connecting-Ip", "True-Client-Ip"}

type peerKey struct{}

// ConnContext, as an http.Server takes it, notes who is at the other end of this machine's own socket.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	name, ok := peer(u)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, access.Who{Role: access.Operator, Name: name})
}
