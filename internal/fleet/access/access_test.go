package access

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

var everyone = []Role{Nobody, Join, Observer, Operator}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		need Need
		may  [4]bool // in the order of everyone
	}{
		{Nothing, [4]bool{true, true, true, true}},
		{ToJoin, [4]bool{false, true, false, true}},
		{ToRead, [4]bool{false, false, true, true}},
		{ToOrder, [4]bool{false, false, false, true}},
		{Need(99), [4]bool{false, false, false, true}},
	} {
		for i, r := range everyone {
			if r.May(c.need) != c.may[i] {
				t.Errorf("%v, need %d: %v", r, c.need, r.May(c.need))
			}
		}
	}
	var zero Need
	if Observer.May(zero) || Join.May(zero) {
		t.Error("what nobody has thought of is not the operator's alone")
	}
	if _, err := RoleOf("nobody"); err == nil {
		t.Error("a token can be nobody's")
	}
}

func chance(seed byte) []byte { return bytes.Repeat([]byte{seed}, Chance) }

func made(t *testing.T, w Wanted, seed byte) (Token, string) {
	t.Helper()
	tok, text, err := NewToken(w, "me", 1000, chance(seed))
	if err != nil {
		t.Fatal(err)
	}
	return tok, text
}

// A token is known by its text alone, keeps nothing of it, and ends when it should, to the millisecond.
func TestToken(t *testing.T) {
	tok, text := made(t, Wanted{Role: Observer, Label: "ci", TTL: time.Hour}, 7)
	other, otherText := made(t, Wanted{Role: Observer}, 8)
	if IDOf(text) != tok.ID || !tok.Is(text) || tok.Is(otherText) || other.Is(text) || tok.Is(text+"a") || tok.Is("") {
		t.Errorf("%s is not known for what it is", text)
	}
	secret := text[strings.LastIndexByte(text, '_')+1:]
	if len(secret) < 50 || bytes.Contains(tok.Hash, []byte(secret)) || len(tok.Hash) != 32 {
		t.Errorf("secret %q, hash %x", secret, tok.Hash)
	}
	end := int64(1000) + time.Hour.Milliseconds()
	for _, c := range []struct {
		at   int64
		good bool
	}{{1000, true}, {end - 1, true}, {end, false}, {end + 1, false}, {math.MaxInt64, false}} {
		if who, ok := tok.Who(c.at); ok != c.good || ok && (who.Role != Observer || who.Name != "token "+tok.ID+" (ci)") {
			t.Errorf("at %d: %+v, %v", c.at, who, ok)
		}
	}
	if _, ok := other.Who(math.MaxInt64); !ok {
		t.Error("a token without an end has one")
	}
	other.Revoked = 5
	if _, ok := other.Who(6); ok {
		t.Error("a revoked token lets in")
	}
	for _, w := range []Wanted{
		{Role: Nobody}, {Role: Role(9)}, {Role: Join, TTL: -1}, {Role: Join, TTL: time.Millisecond}, {Role: Join, TTL: MaxTTL + 1}, {Role: Join, Uses: -1},
		{Role: Join, Uses: MaxUses + 1}, {Role: Observer, Uses: 1}, {Role: Join, Label: "a\nb"}, {Role: Join, Label: "\xff"}, {Role: Join, Label: strings.Repeat("x", 65)},
	} {
		if _, _, err := NewToken(w, "me", 0, chance(1)); err == nil {
			t.Errorf("%+v was made", w)
		}
	}
	for _, s := range []string{"", "x", "argosy_", "argosy_join", "argosy_join_1", "argosy_a_b_c_d", text[1:]} {
		if id := IDOf(s); id != "" {
			t.Errorf("%q names %q", s, id)
		}
	}
	if _, err := FileToken(Operator, "fifteen letters"); err == nil {
		t.Error("a short token was taken")
	}
	f, err := FileToken(Operator, "sixteen letters!")
	if err != nil || !f.Is("sixteen letters!") || f.Is("sixteen letters?") {
		t.Errorf("the operator's token: %v", err)
	}
}

func asks(node, key string, who Role) Asking {
	return Asking{Node: node, Key: key, Wire: MinWire, Proved: true, Who: Who{Role: who, Name: "w"}, At: 5000}
}

// Every way of asking to join, and what comes of it.
func TestAdmit(t *testing.T) {
	bound := &Node{Name: "n", Key: "K", Bound: 1}
	for _, c := range []struct {
		name   string
		change func(*Asking, *Known)
		want   Rule // empty: admitted
	}{
		{"new, with a token", func(*Asking, *Known) {}, ""},
		{"new, as an operator", func(a *Asking, _ *Known) { a.Who.Role = Operator }, ""},
		{"new, without", func(a *Asking, _ *Known) { a.Who.Role = Nobody }, RuleToken},
		{"new, as an observer", func(a *Asking, _ *Known) { a.Who.Role = Observer }, RuleToken},
		{"0.1.0", func(a *Asking, _ *Known) { a.Wire = 0 }, RuleOld},
		{"not proved", func(a *Asking, k *Known) { a.Proved, k.Node = false, bound }, RuleProof},
		{"bound, without a token", func(a *Asking, k *Known) { a.Who.Role, k.Node = Nobody, bound }, ""},
		{"another key", func(a *Asking, k *Known) { a.Key, k.Node = "L", bound }, RuleTaken},
		{"another key, as an operator", func(a *Asking, k *Known) { a.Key, a.Who.Role, k.Node = "L", Operator, bound }, RuleTaken},
		{"another key, of nobody, who is not told", func(a *Asking, k *Known) { a.Key, a.Who.Role, k.Node = "L", Nobody, bound }, RuleToken},
		{"revoked", func(_ *Asking, k *Known) { k.Node, k.Cut = bound, &Cut{Forever: true} }, RuleRevoked},
		{"revoked and released, as an operator", func(a *Asking, k *Known) { a.Who.Role, k.Cut = Operator, &Cut{Forever: true} }, RuleRevoked},
		{"released", func(_ *Asking, k *Known) { k.Cut = &Cut{At: 5000} }, ""},
		{"out", func(_ *Asking, k *Known) { k.Node, k.Cut = bound, &Cut{Until: 5001} }, RuleWait},
		{"no longer out", func(_ *Asking, k *Known) { k.Node, k.Cut = bound, &Cut{Until: 5000} }, ""},
		{"too many names", func(_ *Asking, k *Known) { k.Full = true }, RuleFull},
		{"too many names, bound", func(_ *Asking, k *Known) { k.Full, k.Node = true, bound }, ""},
		{"the token was revoked meanwhile", func(_ *Asking, k *Known) { k.Token = &Token{Role: Join, Revoked: 1} }, RuleToken},
		{"the token has expired meanwhile", func(_ *Asking, k *Known) { k.Token = &Token{Role: Join, Expires: 5000} }, RuleToken},
		{"spent", func(_ *Asking, k *Known) { k.Token = &Token{Role: Join, Uses: 1, Used: []Use{{"m", "L", 1}}} }, RuleSpent},
		{"spent, but bound", func(_ *Asking, k *Known) {
			k.Node, k.Token = bound, &Token{Role: Join, Uses: 1, Used: []Use{{"m", "L", 1}}}
		}, ""},
		{"again, for the answer was lost", func(_ *Asking, k *Known) { k.Token = &Token{Role: Join, Uses: 1, Used: []Use{{"n", "K", 1}}} }, ""},
		{"again, for its name was taken", func(_ *Asking, k *Known) {
			k.Token, k.Prior = &Token{Role: Join, Uses: 1, Used: []Use{{"m", "K", 1}}}, &Node{Name: "m", Key: "L"}
		}, ""},
		{"a second name with one use", func(_ *Asking, k *Known) {
			k.Token, k.Prior = &Token{Role: Join, Uses: 1, Used: []Use{{"m", "K", 1}}}, &Node{Name: "m", Key: "K"}
		}, RuleSpent},
	} {
		a, k := asks("n", "K", Join), Known{}
		c.change(&a, &k)
		got, refused := Admit(a, k)
		switch {
		case refused != nil && (refused.Rule != c.want || strings.Contains(refused.Line, "\n") || refused.Line == ""):
			t.Errorf("%s: %+v, want %q", c.name, refused, c.want)
		case refused == nil && (c.want != "" || got.Node.Name != "n" || got.Node.Key != a.Key || got.Node.Joined != 5000):
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		case refused == nil && k.Node != nil && (got.First || got.Node.Bound != 1 || got.Token != nil):
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// However keys, names and tries are mixed, a name has one key, and a token binds no more names than it has uses.
func TestTokenBindsNoMoreThanItsUses(t *testing.T) {
	err := quick.Check(func(tries []uint8, uses uint8) bool {
		tok := Token{Role: Join, Uses: int(uses%4) + 1}
		nodes := map[string]*Node{}
		for _, x := range tries {
			a := asks(string('a'+rune(x%5)), string('A'+rune(x/5%5)), Join)
			k := Known{Node: nodes[a.Node], Token: &tok, Prior: nodes[PriorName(&tok, a)]}
			in, refused := Admit(a, k)
			if refused != nil {
				continue
			}
			if n := nodes[a.Node]; n != nil && n.Key != in.Node.Key {
				return false
			}
			if in.Token != nil {
				tok = *in.Token
			}
			if x >= 200 && in.First {
				continue // it died before the name was bound
			}
			nodes[a.Node] = &in.Node
		}
		return len(nodes) <= tok.Uses
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestTrusted(t *testing.T) {
	n := &Node{Name: "n", Key: "K"}
	for _, c := range []struct {
		name string
		node *Node
		cut  *Cut
		key  string
		want bool
	}{
		{"its own", n, nil, "K", true},
		{"another key", n, nil, "L", false},
		{"joined as of 0.1.0, and the name is bound", n, nil, "", false},
		{"joined as of 0.1.0", nil, nil, "", true},
		{"credentials of a fleet that has forgotten", nil, nil, "K", true},
		{"released", nil, &Cut{At: 1}, "K", false},
		{"revoked", n, &Cut{Forever: true}, "K", false},
		{"out", n, &Cut{Until: 11}, "K", false},
		{"back", n, &Cut{Until: 10}, "K", true},
	} {
		if Trusted(c.node, c.cut, c.key, 10) != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
}

// What a node says at its rates is never too much, whatever the steps; twice as much always is, after the burst; and an hour of
// silence lets no more in than the burst.
func TestMeter(t *testing.T) {
	r := Rates{Said{Messages: 100, Bytes: 1000}, 10}
	for _, step := range []int64{1, 7, 10, 250, 1000, 5000} {
		var m Meter
		for at := int64(1); at < 60_000; at += step {
			if why := m.Add(r, Said{Messages: 100 * step / 1000, Bytes: 1000 * step / 1000}, at); why != "" {
				t.Fatalf("every %d ms, at %d: %s", step, at, why)
			}
		}
	}
	var m Meter
	out := int64(0)
	for at := int64(1000); at < 60_000 && out == 0; at += 100 {
		if m.Add(r, Said{Messages: 20}, at) == "more than 100 messages a second" {
			out = at
		}
	}
	if out < 10_000 || out > 12_000 {
		t.Errorf("twice the rate is too much after %d ms", out)
	}
	m = Meter{}
	m.Add(r, Said{}, 1)
	if why := m.Add(r, Said{Bytes: 10_001}, 3_600_000); why == "" {
		t.Error("an hour of silence was saved up")
	}
	if why := (&Meter{}).Add(r, Said{Bytes: math.MaxInt64}, 1); why == "" {
		t.Error("a number without end is not too much")
	}
	m = Meter{}
	for at := int64(100_000); at > 0; at -= 1000 { // a clock that goes back
		if why := m.Add(r, Said{Messages: 1}, at); why != "" {
			t.Fatal(why)
		}
	}
	if Penalty(1) != 10_000 || Penalty(2) != 20_000 || Penalty(1000) != 600_000 || Penalty(0) != 10_000 {
		t.Error("penalties")
	}
}

func TestStores(t *testing.T) {
	for _, c := range []struct {
		allowed string // with commas
		yes, no string // with spaces
	}{
		{"", "file:///a s3://b s3://b/p s3://b?region=eu", "ftp://x s3://b?endpoint=http://e file://host/a s3:// file:///a/../b x file:///a?x=1 s3://u:p@b s3://b#f s3://b?endpoint=http://e&endpoint="},
		{"dir:/data", "file:///data file:///data/n1", "file:///database file:///data/../etc file:/// s3://b"},
		{"s3://b/p", "s3://b/p s3://b/p/q", "s3://b s3://b/pq s3://c/p file:///a"},
		{"s3://*?endpoint=http://m:9000", "s3://b?endpoint=http://m:9000 s3://c/p?endpoint=http://M:9000/", "s3://b s3://b?endpoint=http://m:9001 s3://b?endpoint=http://m:9000.evil s3://b?endpoint=http://m:9000@evil"},
		{"dir,s3://b", "file:///x s3://b", "s3://c"},
	} {
		var list []string
		if c.allowed != "" {
			list = strings.Split(c.allowed, ",")
		}
		s, err := NewStores(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range strings.Fields(c.yes) {
			if !s.Allow(u) {
				t.Errorf("%q: %s is refused (allowed: %s)", c.allowed, u, s)
			}
		}
		for _, u := range append(strings.Fields(c.no), "") {
			if s.Allow(u) {
				t.Errorf("%q: %s is allowed", c.allowed, u)
			}
		}
	}
	for _, bad := range []string{"", "ftp://x", "dir:rel", "dir:/a/..", "dir:/a//b", "s3://", "s3://b?endpoint=x", "s3://u:p@b", "file:///a"} {
		if _, err := NewStores([]string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzStores(f *testing.F) {
	for _, s := range []string{"file:///data/x", "s3://b/p", "file:///data/../x", "s3://b?endpoint=http://e"} {
		f.Add(s)
	}
	s, err := NewStores([]string{"dir:/data", "s3://b/p"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, store string) {
		if s.Allow(store) && (strings.Contains(store, "..") && strings.HasPrefix(store, "file:") && !strings.Contains(store, "...") && strings.Contains(store, "/../") ||
			strings.Contains(store, "endpoint=h")) {
			t.Errorf("%q is allowed", store)
		}
	})
}

// Whoever shows a token that is not good any more is told so, and since when; and what would allow a store is what does.
func TestRefusalsSayWhatToDo(t *testing.T) {
	a := Asking{Node: "q", Key: "k", Wire: MinWire, Proved: true, At: 5000}
	for want, token := range map[string]*Token{
		"token 1f expired at 1970-01-01T00:00:04Z":     {ID: "1f", Role: Join, Expires: 4000},
		"token 1f was revoked at 1970-01-01T00:00:03Z": {ID: "1f", Role: Join, Revoked: 3000},
		"node q is new here":                           nil,
	} {
		if token != nil {
			a.Who, _ = token.Who(a.At)
		}
		if _, r := Admit(a, Known{Token: token}); r == nil || r.Rule != RuleToken || !strings.HasPrefix(r.Line, want) {
			t.Errorf("%v, want %q", r, want)
		}
	}
	for store, want := range map[string]string{
		"s3://b/p?endpoint=https://m:9000": "s3://b/p?endpoint=https://m:9000", "file:///mnt/x": "dir:/mnt/x", "ftp://x": "", "file://h/x": "",
	} {
		if got := StoreRule(store); got != want {
			t.Errorf("%s: %q, want %q", store, got, want)
		}
	}
}
