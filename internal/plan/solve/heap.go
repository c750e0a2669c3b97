package solve

// event is something that a search meets at a distance: a column (id ≥ 0), or the floor of row ^id.
type event struct {
	key   float64
	floor float64
	id    int32
}

// before orders events by distance; at the same distance columns come first, for a floor only bounds what is beyond.
func (a event) before(b event) bool {
	return a.key < b.key || a.key == b.key && a.id >= 0 && b.id < 0
}

// distHeap is a binary min-heap of events. container/heap would pay for an interface at every step.
type distHeap []event

func (h *distHeap) push(e event) {
	*h = append(*h, e)
	x := *h
	i := len(x) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !e.before(x[p]) {
			break
		}
		x[i] = x[p]
		i = p
	}
	x[i] = e
}

func (h *distHeap) pop() event {
	x := *h
	top, last := x[0], x[len(x)-1]
	x = x[:len(x)-1]
	*h = x
	if len(x) == 0 {
		return top
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= len(x) {
			break
		}
		if c+1 < len(x) && x[c+1].before(x[c]) {
			c++
		}
		if !x[c].before(last) {
			break
		}
		x[i] = x[c]
		i = c
	}
	x[i] = last
	return top
}

// coreHeap keeps the smallest keys seen, the largest of them on top.
type coreHeap struct {
	key []float64
	col []int32
}

func (h *coreHeap) reset(size int) {
	if cap(h.key) < size {
		h.key, h.col = make([]float64, 0, size), make([]int32, 0, size)
	}
	h.key, h.col = h.key[:0], h.col[:0]
}

func (h *coreHeap) add(key float64, col int32) {
	h.key, h.col = append(h.key, key), append(h.col, col)
	i := len(h.key) - 1
	for i > 0 {
		p := (i - 1) / 2
		if h.key[p] >= key {
			break
		}
		h.key[i], h.col[i] = h.key[p], h.col[p]
		i = p
	}
	h.key[i], h.col[i] = key, col
}

// replace puts a key in the place of the largest and returns the new largest.
func (h *coreHeap) replace(key float64, col int32) float64 {
	n := len(h.key)
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && h.key[c+1] > h.key[c] {
			c++
		}
		if h.key[c] <= key {
			break
		}
		h.key[i], h.col[i] = h.key[c], h.col[c]
		i = c
	}
	h.key[i], h.col[i] = key, col
	return h.key[0]
}

// moveHeap is a min-heap of offers.
type moveHeap []offer

func (h moveHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h moveHeap) down(i int) {
	o := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].diff < h[c].diff {
			c++
		}
		if h[c].diff >= o.diff {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = o
}

func (h *moveHeap) push(o offer) {
	*h = append(*h, o)
	x := *h
	i := len(x) - 1
	for i > 0 {
		p := (i - 1) / 2
		if x[p].diff <= o.diff {
			break
		}
		x[i] = x[p]
		i = p
	}
	x[i] = o
}

func (h *moveHeap) pop() {
	x := *h
	last := len(x) - 1
	x[0] = x[last]
	*h = x[:last]
	if last > 1 {
		h.down(0)
	}
}
