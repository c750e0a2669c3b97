package access

import (
	"fmt"
	"time"
)

// MinWire is the oldest version of what nodes say about joining (bus.Wire) that is served.
const MinWire = 2

// Node is a node's name and the key that it is bound to.
type Node struct {
	Name    string `cbor:"1,keyasint" json:"node"`
	Key     string `cbor:"2,keyasint" json:"key"`   // public
	Bound   int64  `cbor:"3,keyasint" json:"bound"` // Unix ms: when it joined first
	By      string `cbor:"4,keyasint,omitempty" json:"by,omitempty"`
	Addr    string `cbor:"5,keyasint,omitempty" json:"addr,omitempty"` // where it came from last
	Joined  int64  `cbor:"6,keyasint,omitempty" json:"joined"`         // Unix ms: when it joined last
	Version string `cbor:"7,keyasint,omitempty" json:"version,omitempty"`
	Echo    string `cbor:"8,keyasint,omitempty" json:"echo,omitempty"` // where others may measure it: its own host
}

// Cut says that credentials of a key are not good any more.
type Cut struct {
	Key     string `cbor:"1,keyasint" json:"key"`
	Node    string `cbor:"2,keyasint" json:"node"`                   // the name that it had
	At      int64  `cbor:"3,keyasint" json:"at"`                     // Unix ms: those given until then
	Until   int64  `cbor:"4,keyasint,omitempty" json:"until"`        // Unix ms: it may not join before; 0: it may
	Forever bool   `cbor:"5,keyasint,omitempty" json:"forever"`      // it may not join again
	Why     string `cbor:"6,keyasint,omitempty" json:"why"`          // for people
	By      string `cbor:"7,keyasint,omitempty" json:"by,omitempty"` // who wanted it
	Times   int    `cbor:"8,keyasint,omitempty" json:"times"`        // how often it was shut out for saying too much
}

// Join takes over from a copy of the cut what shuts more out. It reports whether that changed something.
func (c *Cut) Join(copied *Cut) (changed bool) {
	forever := c.Forever || copied.Forever
	if changed = forever != c.Forever || copied.At > c.At; changed && copied.At > c.At {
		*c = *copied
	}
	c.Forever = forever
	return changed
}

// MaxNodes bounds the names that are bound to keys.
const MaxNodes = 10_000

// Rule is why somebody is not let in.
type Rule string

// Rules.
const (
	RuleOld     Rule = "version" // the agent is too old
	RuleProof   Rule = "proof"   // it does not have the key that it names
	RuleRevoked Rule = "revoked" // the operator has shut it out
	RuleWait    Rule = "wait"    // it has said too much, and may come back later
	RuleTaken   Rule = "taken"   // the name is another key's
	RuleToken   Rule = "token"   // the name is new, and there is no token for it
	RuleSpent   Rule = "spent"   // the token has no use left
	RuleFull    Rule = "full"    // too many names
	RuleStore   Rule = "store"   // its archives would lie where the operator does not want them
)

// Refusal is why somebody is not let in, in one line.
type Refusal struct {
	Rule  Rule
	Line  string
	After time.Duration // RuleWait: how long
}

func (r *Refusal) Error() string { return r.Line }

func refuse(rule Rule, format string, args ...any) *Refusal {
	return &Refusal{Rule: rule, Line: fmt.Sprintf(format, args...)}
}

// Asking is a node that wants credentials.
type Asking struct {
	Node    string
	Key     string // public
	Wire    int    // 0: that of 0.1.0
	Version string // of its program
	Proved  bool   // it has shown that it has the key
	Addr    string // where it asks from
	Echo    string // where others may measure it, looked at already (Echoes.Of)
	Who     Who    // who lets it in
	At      int64  // Unix ms
}

// Known is what is known of a node that asks; nil where there is nothing.
type Known struct {
	Node  *Node  // who has the name
	Cut   *Cut   // of its key
	Token *Token // that it came with, where its uses are counted
	Prior *Node  // who has the name for which the same key has used that token before
	Full  bool   // there are MaxNodes names
}

// Admitted is what changes when a node is let in.
type Admitted struct {
	Node  Node
	First bool   // the name was not bound before
	Token *Token // it has one use less; nil: nothing changes
}

// Admit decides whether a node gets credentials. A name belongs to the key that came with it first. Who has that key needs no
// token any more.
func Admit(a Asking, k Known) (Admitted, *Refusal) {
	switch {
	case a.Wire < MinWire:
		return Admitted{}, refuse(RuleOld, "this agent is of version 0.1.0, or older, and has no key of its own: upgrade the agent; this coordinator is upgraded already")
	case !a.Proved:
		return Admitted{}, refuse(RuleProof, "node %s has not shown in time that it has the key that it names", a.Node)
	case k.Cut != nil && k.Cut.Forever:
		return Admitted{}, refuse(RuleRevoked, "node %s was revoked: its key is not let in again; with another key (another --key FILE) and a token it may join", a.Node)
	case k.Cut != nil && a.At < k.Cut.Until:
		r := refuse(RuleWait, "node %s has said more than a node may (%s), and may join again later", a.Node, k.Cut.Why)
		r.After = time.Duration(k.Cut.Until-a.At) * time.Millisecond
		return Admitted{}, r
	case k.Node != nil && k.Node.Key != a.Key && a.Who.Role.May(ToJoin): // others are not told which names there are
		return Admitted{}, refuse(RuleTaken, "the name %s belongs to another node, which has another key: use another --name, or, if that node has lost its key: argosy nodes release %s", a.Node, a.Node)
	case k.Node != nil && k.Node.Key == a.Key:
		n := *k.Node
		n.Addr, n.Joined, n.Version, n.Echo = a.Addr, a.At, a.Version, a.Echo
		return Admitted{Node: n}, nil
	case k.Token != nil && k.Token.State(a.At) == TokenRevoked:
		return Admitted{}, refuse(RuleToken, "token %s was revoked at %s: node %s needs another one (argosy token create --role join)", k.Token.ID, moment(k.Token.Revoked), a.Node)
	case k.Token != nil && k.Token.State(a.At) == TokenExpired:
		return Admitted{}, refuse(RuleToken, "token %s expired at %s: node %s needs another one (argosy token create --role join)", k.Token.ID, moment(k.Token.Expires), a.Node)
	case !a.Who.Role.May(ToJoin):
		return Admitted{}, refuse(RuleToken, "node %s is new here: it needs a token that lets nodes join (--token-file; argosy token create --role join)", a.Node)
	case k.Full:
		return Admitted{}, refuse(RuleFull, "%d names are bound to keys, and no more may be: release some (argosy nodes release NAME)", MaxNodes)
	}
	out := Admitted{First: true, Node: Node{Name: a.Node, Key: a.Key, Bound: a.At, By: a.Who.Name, Addr: a.Addr, Joined: a.At, Version: a.Version, Echo: a.Echo}}
	if k.Token != nil && k.Token.Uses > 0 {
		t, ok := k.Token.use(a.Node, a.Key, a.At, k.Prior)
		if !ok {
			return Admitted{}, refuse(RuleSpent, "token %s: its --uses is %d, and as many nodes have joined with it", t.ID, t.Uses)
		}
		out.Token = &t
	}
	return out, nil
}

// moment writes a time, Unix ms, for people.
func moment(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// PriorName returns the name for which a key has used a token before; empty: none, or the one that it asks for again.
func PriorName(t *Token, a Asking) string {
	if t == nil {
		return ""
	}
	for _, u := range t.Used {
		if u.Key == a.Key && u.Node != a.Node {
			return u.Node
		}
	}
	return ""
}

// Trusted reports whether what comes under a node's name, from who has a public key (empty: who joined as of 0.1.0 did), is that
// node's. node is who the name is bound to, cut what is known against the key; nil: nothing. now is Unix ms.
func Trusted(node *Node, cut *Cut, key string, now int64) bool {
	if node != nil && node.Key != key {
		return false
	}
	if cut == nil {
		return true
	}
	return node != nil && !cut.Out(now)
}

// Out reports whether a key may not join. now is Unix ms.
func (c *Cut) Out(now int64) bool { return c != nil && (c.Forever || now < c.Until) }
