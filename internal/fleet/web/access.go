package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/gate"
)

// NewToken is a token that somebody asks for.
type NewToken struct {
	Role    string `json:"role" enum:"join,observer,operator"`
	Label   string `json:"label,omitempty" doc:"for people: at most 64 characters"`
	Expires string `json:"expires,omitempty" doc:"a span such as 24h; empty or 0: never"`
	Uses    int    `json:"uses,omitempty" doc:"join: nodes that may join with it; 0: any number"`
}

// Wanted reads what is asked for, and says what of it is not allowed.
func (t *NewToken) Wanted() (w access.Wanted, err error) {
	w = access.Wanted{Label: t.Label, Uses: t.Uses}
	if w.Role, err = access.RoleOf(t.Role); err != nil {
		return w, err
	}
	if t.Expires != "" && t.Expires != "0" {
		if w.TTL, err = time.ParseDuration(t.Expires); err != nil || w.TTL <= 0 {
			return w, fmt.Errorf("expires: %.40q is not a span; allowed are 1s to 87600h, such as 24h, or 0 for never", t.Expires)
		}
	}
	return w, w.Check()
}

// TokenView is a token as people see it.
type TokenView struct {
	access.Token
	Role  string `json:"role"`
	State string `json:"state"`           // good, expired, revoked or spent
	Text  string `json:"token,omitempty"` // once, when it is made
}

func viewOf(t *access.Token, text string) TokenView {
	return TokenView{Token: *t, Role: t.Role.String(), State: t.State(time.Now().UnixMilli()), Text: text}
}

// TokenPath names a token.
type TokenPath struct {
	ID string `path:"id" maxLength:"64"`
}

// Rotated says that nodes get other credentials.
type Rotated struct {
	Rotated bool `json:"rotated"`
}

// registerAccess adds what is about who may do what.
func (a *api) registerAccess(h huma.API, get, post func(id, path, what string) huma.Operation) {
	register(h, get("challenge", "/join", "What a node signs to show that it has its key"), a.challenge)
	join := post("join", "/join", "Get a node's credentials for the bus")
	join.MaxBodyBytes = maxPetition // anybody may ask
	register(h, join, a.join)
	huma.Register(h, get("names", "/names", "The names of nodes, and the keys that they are bound to"), func(_ context.Context, in *Part) (*Found[gate.Name], error) {
		return partOf(*in, a.fleet.Gate().Names()), nil
	})
	register(h, post("revoke", "/nodes/{node}/revoke", "Shut a node's key out for good"), func(ctx context.Context, in *NodePath) (*out[Named], error) {
		return order(ctx, a, "revoke node "+in.Node, func(ctx context.Context, _ *coordinator.Coordinator) (Named, error) {
			return Named{in.Node}, a.fleet.Gate().RevokeNode(ctx, in.Node, whoAsks(ctx))
		})
	})
	register(h, post("release", "/nodes/{node}/release", "Make the name of a node free for another key"), func(ctx context.Context, in *NodePath) (*out[Named], error) {
		return order(ctx, a, "release the name "+in.Node, func(ctx context.Context, _ *coordinator.Coordinator) (Named, error) {
			return Named{in.Node}, a.fleet.Gate().ReleaseNode(ctx, in.Node, whoAsks(ctx))
		})
	})
	register(h, post("rotate", "/keys/rotate", "Give all nodes other credentials"), func(ctx context.Context, _ *struct{}) (*out[Rotated], error) {
		return order(ctx, a, "rotate the keys of nodes", func(context.Context, *coordinator.Coordinator) (Rotated, error) {
			return Rotated{true}, a.fleet.Gate().Rotate()
		})
	})
	huma.Register(h, get("tokens", "/tokens", "The tokens, without what is secret"), func(_ context.Context, in *Part) (*Found[TokenView], error) {
		v := []TokenView{}
		for _, t := range a.fleet.Gate().Tokens() {
			v = append(v, viewOf(&t, ""))
		}
		return partOf(*in, v), nil
	})
	register(h, post("create-token", "/tokens", "Make a token"), a.makeToken)
	register(h, post("revoke-token", "/tokens/{id}/revoke", "Make a token worthless"), func(ctx context.Context, in *TokenPath) (*out[Rotated], error) {
		return order(ctx, a, "revoke token "+in.ID, func(ctx context.Context, _ *coordinator.Coordinator) (Rotated, error) {
			return Rotated{true}, a.fleet.Gate().RevokeToken(ctx, in.ID, whoAsks(ctx))
		})
	})
}

func (a *api) makeToken(ctx context.Context, in *struct{ Body NewToken }) (*out[TokenView], error) {
	w, err := in.Body.Wanted()
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	what := "make a token: " + w.Role.String()
	if w.Label != "" {
		what += ", " + w.Label
	}
	return order(ctx, a, what, func(ctx context.Context, _ *coordinator.Coordinator) (TokenView, error) {
		t, text, err := a.fleet.Gate().Make(ctx, w, whoAsks(ctx))
		return viewOf(&t, text), err
	})
}

func (a *api) challenge(context.Context, *struct{}) (*out[Challenge], error) {
	c, err := a.fleet.Gate().Challenge()
	if err != nil {
		return nil, problem(err)
	}
	return &out[Challenge]{Challenge{c, bus.Wire, a.cfg.Version}}, nil
}

// maxPetition bounds what a node that wants to join sends, in bytes.
const maxPetition = 16 << 10

// joinTime bounds how long a node's petition may take: the bus may be away.
const joinTime = 20 * time.Second

// petition is a request to join, and where it comes from.
type petition struct {
	Body Petition
	who  access.Who
	from string
}

// Resolve implements huma.Resolver.
func (p *petition) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	p.who = whoAsks(r.Context())
	p.from = from(r, p.who)
	return nil
}

func (a *api) join(ctx context.Context, in *petition) (*out[bus.Pass], error) {
	if err := bus.CheckNode(in.Body.Node); err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	p, err := a.fleet.Admit(ctx, in.Body.Petition, in.who, in.from)
	if err != nil {
		return nil, problem(err)
	}
	return &out[bus.Pass]{p}, nil
}

// refusedType is what the type of a problem begins with that is a refusal to let a node in; its rule follows.
const refusedType = "urn:argosy:refused:"

var refusedStatus = map[access.Rule]int{
	access.RuleOld: http.StatusUpgradeRequired, access.RuleToken: http.StatusUnauthorized, access.RuleWait: http.StatusTooManyRequests,
	access.RuleTaken: http.StatusConflict, access.RuleFull: http.StatusConflict, access.RuleStore: http.StatusUnprocessableEntity,
}

// refusal says why a node is not let in.
func refusal(r *access.Refusal) error {
	status := refusedStatus[r.Rule]
	if status == 0 {
		status = http.StatusForbidden
	}
	e := &huma.ErrorModel{Type: refusedType + string(r.Rule), Title: http.StatusText(status), Status: status, Detail: r.Line}
	if r.After <= 0 {
		return e
	}
	seconds := strconv.Itoa(int((r.After + time.Second - 1) / time.Second))
	return huma.ErrorWithHeaders(e, http.Header{"Retry-After": {seconds}})
}
