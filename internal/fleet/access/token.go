package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Token is a secret that somebody shows to be let in, without the secret: only its hash is kept.
type Token struct {
	ID        string `cbor:"1,keyasint" json:"id"`
	Role      Role   `cbor:"2,keyasint" json:"-"`
	Hash      []byte `cbor:"3,keyasint" json:"-"`                           // SHA-256
	Label     string `cbor:"4,keyasint,omitempty" json:"label,omitempty"`   // for people
	By        string `cbor:"5,keyasint,omitempty" json:"by,omitempty"`      // who made it
	Made      int64  `cbor:"6,keyasint" json:"made"`                        // Unix ms
	Expires   int64  `cbor:"7,keyasint,omitempty" json:"expires,omitempty"` // Unix ms; 0: never
	Uses      int    `cbor:"8,keyasint,omitempty" json:"uses,omitempty"`    // nodes that may join with it; 0: any number
	Used      []Use  `cbor:"9,keyasint,omitempty" json:"used,omitempty"`    // where Uses is set
	Revoked   int64  `cbor:"10,keyasint,omitempty" json:"revoked,omitempty"`
	RevokedBy string `cbor:"11,keyasint,omitempty" json:"revoked_by,omitempty"`
}

// Use is a node that has joined with a token.
type Use struct {
	Node string `cbor:"1,keyasint" json:"node"`
	Key  string `cbor:"2,keyasint" json:"key"`
	At   int64  `cbor:"3,keyasint" json:"at"` // Unix ms
}

// Bounds of tokens.
const (
	MaxTokens = 1000         // that are kept
	MaxUses   = 1000         // of a token whose uses are counted
	MaxLabel  = 64           // characters
	minSecret = 16           // characters of a token that a person has made
	idBytes   = 4            // of a token's id
	Chance    = idBytes + 32 // bytes of chance that a token wants
	prefix    = "argosy_"    // of every token that is made here: scanners for secrets know it by that
	MaxTTL    = 10 * 365 * 24 * time.Hour
)

var secretText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Wanted is a token that somebody asks for.
type Wanted struct {
	Role  Role
	Label string
	TTL   time.Duration // 0: it does not expire
	Uses  int
}

// Check reports what is wrong with what somebody asks for.
func (w Wanted) Check() error {
	switch {
	case w.Role != Join && w.Role != Observer && w.Role != Operator:
		return fmt.Errorf("role: allowed are join, observer and operator")
	case w.TTL < 0 || w.TTL > 0 && w.TTL < time.Second || w.TTL > MaxTTL:
		return fmt.Errorf("expires %v: allowed are 1s to 87600h, or 0 for never", w.TTL)
	case w.Uses < 0 || w.Uses > MaxUses:
		return fmt.Errorf("uses %d: allowed are 1 to %d, or 0 for any number", w.Uses, MaxUses)
	case w.Uses > 0 && w.Role != Join:
		return fmt.Errorf("uses: only join tokens are counted")
	case !utf8.ValidString(w.Label) || utf8.RuneCountInString(w.Label) > MaxLabel || strings.ContainsFunc(w.Label, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("label: allowed are at most %d printable characters", MaxLabel)
	}
	return nil
}

// NewToken makes a token, and the text that its owner shows. now is Unix ms; chance is Chance random bytes.
func NewToken(w Wanted, by string, now int64, chance []byte) (Token, string, error) {
	if err := w.Check(); err != nil {
		return Token{}, "", err
	}
	t := Token{ID: hex.EncodeToString(chance[:idBytes]), Role: w.Role, Label: w.Label, By: by, Made: now, Uses: w.Uses}
	if w.TTL > 0 {
		t.Expires = now + w.TTL.Milliseconds()
	}
	text := prefix + w.Role.String() + "_" + t.ID + "_" + secretText.EncodeToString(chance[idBytes:Chance])
	t.Hash = hashOf(text)
	return t, text, nil
}

// FileToken is a token whose text stands in a file that its owner gives to coordinators: it does not expire, and is not kept.
func FileToken(role Role, text string) (Token, error) {
	if len(text) < minSecret {
		return Token{}, fmt.Errorf("a token has at least %d characters", minSecret)
	}
	return Token{ID: "file", Role: role, Hash: hashOf(text)}, nil
}

func hashOf(text string) []byte {
	h := sha256.Sum256([]byte("argosy token\x00" + text))
	return h[:]
}

// IDOf returns the id that a token's text names; empty where it is none that was made here.
func IDOf(text string) string {
	rest, ok := strings.CutPrefix(text, prefix)
	words := strings.Split(rest, "_")
	if !ok || len(words) != 3 {
		return ""
	}
	return words[1]
}

// Is reports whether a text is this token's, in constant time.
func (t *Token) Is(text string) bool { return subtle.ConstantTimeCompare(t.Hash, hashOf(text)) == 1 }

// States of a token.
const (
	TokenGood    = "good"
	TokenExpired = "expired"
	TokenRevoked = "revoked"
	TokenSpent   = "spent" // all its uses are used
)

// State says whether a token is good for something still. now is Unix ms.
func (t *Token) State(now int64) string {
	switch {
	case t.Revoked > 0:
		return TokenRevoked
	case t.Expires > 0 && now >= t.Expires:
		return TokenExpired
	case t.Uses > 0 && len(t.Used) >= t.Uses:
		return TokenSpent
	}
	return TokenGood
}

// Join takes over from a copy of the token what makes it worth less: that it is revoked, and who has joined with it. It reports whether
// that changed something.
func (t *Token) Join(copied *Token) (changed bool) {
	if copied.Revoked > 0 && t.Revoked == 0 {
		t.Revoked, t.RevokedBy, changed = copied.Revoked, copied.RevokedBy, true
	}
	used := slices.Clip(t.Used)
	for _, u := range copied.Used {
		if !slices.ContainsFunc(used, func(has Use) bool { return has.Node == u.Node && has.Key == u.Key }) {
			used, changed = append(used, u), true
		}
	}
	t.Used = used
	return changed
}

// Who returns whom a token lets in; false where it is not good any more. A spent one still says who comes: whether the node may join
// again is for Admit to say.
func (t *Token) Who(now int64) (Who, bool) {
	if s := t.State(now); s != TokenGood && s != TokenSpent {
		return Who{Token: t.ID}, false
	}
	name := "token " + t.ID
	if t.Label != "" {
		name += " (" + t.Label + ")"
	}
	return Who{Role: t.Role, Name: name, Token: t.ID}, true
}

// use notes that a node joins with a token, of which none is left to others then. A key that has used it before, as prior, which
// it no longer is or never came to be, uses it again.
func (t *Token) use(node, key string, at int64, prior *Node) (Token, bool) {
	next := *t
	next.Used = slices.Clone(t.Used)
	for i, u := range next.Used {
		if u.Key != key {
			continue
		}
		if u.Node != node && prior != nil && prior.Key == key {
			return *t, false
		}
		next.Used[i] = Use{node, key, at}
		return next, true
	}
	if len(next.Used) >= t.Uses {
		return *t, false
	}
	next.Used = append(next.Used, Use{node, key, at})
	return next, true
}
