package yield

// Where the links of answers lead that bring nothing: whether a group runs out by itself.

// bucket counts the links of faint answers, and those that led to URLs that were not there.
type bucket struct {
	Pages int64 `cbor:"1,keyasint"`
	Links int64 `cbor:"2,keyasint"`
	New   int64 `cbor:"3,keyasint"`
	Sound int64 `cbor:"4,keyasint"`           // pages that the group itself has named, or a template that brings something or is finite itself
	Own   int64 `cbor:"5,keyasint,omitempty"` // of New, those that may lead to more of the group
}

// bucketSize is how many faint answers a bucket holds; eight of them are as many as lead to a cut.
const bucketSize = 63

// finite reports whether the links of a group lead to what is there already clearly more often than they did: those of the
// later half of its faint answers against those of the earlier half.
func (g *Group) finite() bool {
	n := len(g.Buckets)
	if n < 4 {
		return false
	}
	var early, late bucket
	for i, b := range g.Buckets {
		if i < n/2 {
			early.Links, early.New = early.Links+b.Links, early.New+b.New
		} else {
			late.Links, late.New = late.Links+b.Links, late.New+b.New
		}
	}
	return early.New > 0 && late.Links > 0 && late.New*early.Links*5 < early.New*late.Links*4
}

// dies reports whether the last answers of a group have named fewer than one new URL of its kind for every two of them, and most of
// these were named by the group itself, by a template that still brings something or by a finite list. Then the group runs out by
// itself, after at most as many answers again as URLs of it wait (a subcritical branching process: Harris 1963): the pages of a
// large manual do, a trap does not.
func (g *Group) dies() bool {
	var last bucket
	for i := len(g.Buckets) - 1; i >= 0 && last.Pages < bucketSize; i-- {
		b := g.Buckets[i]
		last.Pages, last.Own, last.Sound = last.Pages+b.Pages, last.Own+b.Own, last.Sound+b.Sound
	}
	return 2*last.Own < last.Pages && 2*last.Sound > last.Pages
}

// count notes where the links of an answer led.
func (m *Model) count(g *Group, a *Answer, sound bool) {
	if n := len(g.Buckets); n == 0 || g.Buckets[n-1].Pages >= bucketSize {
		if n == 8 {
			g.Buckets = append(g.Buckets[:0], g.Buckets[1:]...)
		}
		g.Buckets = append(g.Buckets, bucket{})
	}
	b := &g.Buckets[len(g.Buckets)-1]
	b.Pages, b.Links, b.New, b.Own = b.Pages+1, b.Links+int64(max(a.Links, a.Found)), b.New+int64(a.Found), b.Own+int64(min(a.Own, a.Found))
	if sound {
		b.Sound++
	}
}
