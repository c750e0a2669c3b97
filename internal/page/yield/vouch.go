package yield

import (
	"slices"

	"github.com/zeebo/xxh3"
)

// Which values of a parameter of a few words are known to make no difference: that a patch is the same whether one reads or saves it (a=patch,
// a=plain) says nothing of the commit itself (a=commit).

const (
	maxVouched = 16 // values of a parameter: of one that has more it is not one word that says something
	agreeVouch = 2  // pairs that gave the same text as long as hardly any did not, in all templates
)

// vouch is what pairs have shown of one value.
type vouch struct {
	Value  uint64 `cbor:"1,keyasint"`
	Agree  int64  `cbor:"2,keyasint,omitempty"`
	Differ int64  `cbor:"3,keyasint,omitempty"`
}

// vouches are those of a parameter.
type vouches []vouch

// add takes in what pairs have shown of a value.
func (v *vouches) add(of vouch) {
	i := slices.IndexFunc(*v, func(o vouch) bool { return o.Value == of.Value })
	if i < 0 {
		if len(*v) > maxVouched {
			return
		}
		i, *v = len(*v), append(*v, vouch{Value: of.Value})
	}
	o := &(*v)[i]
	o.Agree, o.Differ = o.Agree+of.Agree, o.Differ+of.Differ
}

// good reports whether a value is known to make no difference, or there are too many to tell.
func (v vouches) good(value string) bool {
	if len(v) > maxVouched || classify(value) != word {
		return true
	}
	at := xxh3.HashString(value)
	i := slices.IndexFunc(v, func(o vouch) bool { return o.Value == at })
	return i >= 0 && v[i].Agree >= agreeVouch && v[i].Differ*agreeOne <= v[i].Agree
}

// worded returns the value of a part that may say something in one word; empty if it has none.
func (p Part) worded(u *pieces) string {
	if p.Kind != partParam && p.Kind != partExtra {
		return ""
	}
	if value, _ := p.value(u); classify(value) == word {
		return value
	}
	return ""
}

// vouch takes in a pair of which one URL has such a value of a part, or none.
func (m *Model) vouch(g *guess, value string, same bool) {
	if value == "" {
		return
	}
	of := vouch{Value: xxh3.HashString(value), Differ: 1}
	if same {
		of.Agree, of.Differ = 1, 0
	}
	g.Vouches.add(of)
	m.handedOf(g).vouches.add(of)
	g.dirty, m.changed = true, true
}

// vouched reports whether a parameter's value is known to make no difference where the parameter is.
func (m *Model) vouched(g *guess, value string) bool {
	if all := m.handed[g.Part.named()]; all != nil && g.says() {
		return all.vouches.good(value)
	}
	return true
}
