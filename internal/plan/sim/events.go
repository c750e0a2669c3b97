package sim

// event is something that is due. Among those due at one time the first made comes first.
type event struct {
	at   int64
	seq  int
	kind eventKind
	id   int // node, site or change
	ver  int
}

type eventKind uint8

const (
	evCycle   eventKind = iota
	evNode              // a lease of a node ends, unless its version has passed
	evReady             // a site may be asked
	evResolve           // its addresses are looked up
	evArrive            // a task comes
	evChange
	evJoin
	evLeave
	evDie
	evHeld // a task that a dead node had is given back
	evPart // leases tell what they have done
)

type events []event

func (h events) Len() int { return len(h) }
func (h events) Less(a, b int) bool {
	return h[a].at < h[b].at || h[a].at == h[b].at && h[a].seq < h[b].seq
}
func (h events) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

// Push implements heap.Interface.
func (h *events) Push(x any) { *h = append(*h, x.(event)) }

// Pop implements heap.Interface.
func (h *events) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
