package learn

import (
	"cmp"
	"math"
	"slices"

	"argosy/internal/plan/predict"
	"argosy/internal/plan/price"
	"argosy/internal/plan/schedule"
)

// View is what a fleet looks like at one moment, a real one or a simulated one, in plain values: what its nodes say of
// themselves, what its queues hold, what its leases are.
type View struct {
	Now          int64 // Unix ms
	Seed         uint64
	PerIP        int // leases at once on one address; 0 is no limit
	PerSite      int // on one site
	PerDomain    int // on one registrable domain; 0 is no limit
	LeaseSeconds float64
	Ran          float64          // seconds for which the job has run, interruptions left out
	Book         *predict.Book    // over the fleet's record, as the strategy reads it
	Memory       *schedule.Memory // what the last cycle left; nil is nothing
	Nodes        []Node
	Tasks        []Task // first in, first out
	Leases       []Lease
}

// Node is a node as it describes itself, and what it does.
type Node struct {
	ID          string
	Incarnation string
	Labels      map[string]string
	Leases      int // at once
	Held        int
	Requests    int  // at once; 0 is not stated
	Worked      bool // it has held a lease
	Draining    bool // it takes no more
	OnDemand    bool // it is not reserved
	Offer       schedule.Vector
	Prices      price.Rates
}

// Site is what is known of a site that a task or a lease is for.
type Site struct {
	Name        string
	Domain      string // registrable, where PerDomain counts
	Addrs       []string
	Pause       float64 // seconds between the starts of two requests to it; 0 is none
	Latency     float64 // seconds that an answer takes; 0 is not known
	Connections int     // at once, where there is no pause
	Silent      bool    // it has not answered yet,
	Failed      bool    // or not the last time
}

// Task is a task that waits for a node.
type Task struct {
	Site
	ID      uint32
	Job     uint32
	Since   int64    // waiting since, Unix ms
	Turn    uint32   // leases that it has had
	Pending int64    // URLs in its queue
	Avoid   []string // nodes that it was recalled from, last first
	Last    string   // node that had it last
	Type    string   // label "type" of nodes that it may go to; empty is any
	Product string
	Need    schedule.Vector // as its job states it
	Pages   float64         // that it still has, as far as one can tell; 0 is not known, +Inf: its site has no end
	Known   float64         // pages of its site: those that were had, and those that are known and will be
	Place   schedule.Place
	About   string // what its search is about, as About names it; empty: it is of no search
	Bound   string // node that it goes to as long as that takes it

	ByAddress bool     // its site is asked by a clock for each source address
	Shut      []string // nodes whose address must not ask it now
}

// Lease is a lease that is held.
type Lease struct {
	Site
	ID   uint64
	Task uint32
	Node string
	Need schedule.Vector
	Ping bool // it measures a delay
	Long bool // it was given out longer ago than sites take that answer

	Job  uint32
	Type string // label "type" of nodes that it may go to; empty is any
}

// Snapshot returns what a cycle may know: it is the one place where what strategies read is written. It tells the book
// which nodes are alike: those of one city and provider.
func Snapshot(v View) *schedule.Snapshot { return SnapshotIn(new(schedule.Snapshot), v) }

// SnapshotIn is Snapshot in the room of one that nobody needs any more. Which numbers the sites of its leases have in the book is not looked
// up again.
func SnapshotIn(s *schedule.Snapshot, v View) *schedule.Snapshot {
	before := s.Running
	if s.Book != v.Book {
		before = nil
	}
	*s = schedule.Snapshot{
		Now: v.Now, Seed: v.Seed, PerIP: v.PerIP, PerSite: v.PerSite, PerDomain: v.PerDomain, LeaseSeconds: v.LeaseSeconds, Ran: v.Ran,
		Book: v.Book, Memory: v.Memory,
		Nodes: slices.Grow(s.Nodes[:0], len(v.Nodes)), Tasks: slices.Grow(s.Tasks[:0], len(v.Tasks)), Running: slices.Grow(s.Running[:0], len(v.Leases)),
	}
	for i := range v.Nodes {
		s.Nodes = append(s.Nodes, v.Nodes[i].offered(v.Book))
	}
	slices.SortFunc(s.Nodes, func(a, b schedule.Node) int { return cmp.Compare(a.ID, b.ID) })
	if byID := func(a, b Lease) int { return cmp.Compare(a.ID, b.ID) }; !slices.IsSortedFunc(v.Leases, byID) {
		slices.SortFunc(v.Leases, byID)
	}
	unseen := firstLatencyOf(v.Leases)
	for i := range v.Tasks {
		s.Tasks = append(s.Tasks, v.Tasks[i].waiting(v.Book, unseen))
	}
	for i := range v.Leases {
		l := &v.Leases[i]
		for len(before) > 0 && before[0].Lease < l.ID {
			before = before[1:]
		}
		var number int
		if len(before) > 0 && before[0].Lease == l.ID && before[0].Site == l.Name {
			number = before[0].Book
		} else {
			number = v.Book.Site(l.Name)
		}
		s.Running = append(s.Running, schedule.Running{
			Lease: l.ID, Task: l.Task, Site: l.Name, Node: l.Node, Addrs: l.Addrs, Domain: l.Domain, Need: l.Need, Width: l.width(unseen), Book: number, Ping: l.Ping, Silent: l.Silent, Failed: l.Failed, Long: l.Long,
			Job: l.Job, Type: l.Type, Gap: l.Pause,
		})
	}
	return s
}

// Group names nodes that are alike before anything is measured: those of one city and provider; empty is not known.
func Group(labels map[string]string) string {
	if labels["city"] == "" && labels["provider"] == "" {
		return ""
	}
	return labels["city"] + "/" + labels["provider"]
}

// offered is a node as a cycle sees it.
func (n *Node) offered(book *predict.Book) schedule.Node {
	number := book.Node(n.ID)
	if g := Group(n.Labels); g != "" {
		book.SetGroup(number, g)
	}
	return schedule.Node{
		ID: n.ID, Incarnation: n.Incarnation, Labels: n.Labels, Capacity: n.Leases, Running: n.Held, Requests: float64(n.Requests),
		Untried: !n.Worked, Draining: n.Draining, Offer: n.Offer, Prices: n.Prices, Reserved: !n.OnDemand, Book: number,
	}
}

// waiting is a task as a cycle sees it.
func (t *Task) waiting(book *predict.Book, unseen float64) schedule.Task {
	out := schedule.Task{
		ID: t.ID, Job: t.Job, Site: t.Name, Domain: t.Domain, Addrs: t.Addrs, Since: t.Since, Turn: t.Turn, Pending: t.Pending, Avoid: t.Avoid, Last: t.Last,
		Type: t.Type, Product: t.Product, Need: t.Need, Width: t.width(unseen), Gap: t.Pause, Place: t.Place, Book: book.Site(t.Name), Bound: t.Bound, Known: t.Known, Silent: t.Silent, Failed: t.Failed,
		ByAddress: t.ByAddress, Shut: t.Shut,
	}
	if t.About != "" {
		out.About = book.Site(t.About) + 1
	}
	switch {
	case math.IsInf(t.Pages, 1):
		out.Bits = t.Pages
	case t.Pages > 0:
		out.Bits = t.Pages * book.PageBits(out.Book)
	}
	return out
}

// firstLatency is how long an answer is thought to take before there was one, s. As soon as fewLatencies leases have had answers, a
// site that nobody has asked is thought to take as long as they do in the middle, of mostLatencies of them.
const (
	firstLatency  = 0.1
	fewLatencies  = 8
	mostLatencies = 255
)

// firstLatencyOf is how long the first answer of a site is thought to take, s, as the sites of leases tell, each as often as it has leases.
// Of many leases it looks at some, by their order.
func firstLatencyOf(leases []Lease) float64 {
	known := make([]float64, 0, mostLatencies)
	for i := 0; i < len(leases); i += 1 + len(leases)/mostLatencies {
		if l := leases[i].Latency; l > 0 {
			known = append(known, l)
		}
	}
	if len(known) < fewLatencies {
		return firstLatency
	}
	slices.Sort(known)
	return known[len(known)/2]
}

// width is how many requests at once a lease of a site makes, on average: where there are pauses, the share of the time in
// which one is under way. unseen is the latency of a site that nobody has asked, s.
func (s *Site) width(unseen float64) float64 {
	if s.Pause <= 0 {
		return float64(max(1, s.Connections))
	}
	latency := s.Latency
	if latency <= 0 {
		latency = unseen
	}
	return min(1, latency/s.Pause)
}
