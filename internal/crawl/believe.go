package crawl

import "crypto/subtle"

// Facts are what a reader of the log knows of a lease: a part is believed by them.
type Facts struct {
	Node        string
	Incarnation string
	Epoch       uint64
	Attempt     uint32
	Secret      string
	Parts       uint32 // applied so far
}

// Repeat is why a part that was applied before is not applied again: its acknowledgement was lost.
const Repeat = "repeat"

// Gap is why a part is not applied whose predecessor was refused, or lost: nothing more of the lease can be believed.
const Gap = "a part before it is missing"

// Believe tells whether a part of an entry is to be applied: empty if so, else why not. Frontier and ledger judge by it
// alike, each from its own position. What it says never holds a secret.
func Believe(e *Entry, p *Part, f Facts) string {
	switch {
	case subtle.ConstantTimeCompare([]byte(f.Secret), []byte(p.Secret)) != 1 || f.Attempt != p.Attempt || f.Epoch != p.Epoch:
		return "wrong secret, attempt or epoch"
	case f.Node != e.Node || f.Incarnation != e.Incarnation:
		return "not the lease's node"
	case p.No <= f.Parts:
		return Repeat
	case p.No != f.Parts+1:
		return Gap
	}
	return ""
}
