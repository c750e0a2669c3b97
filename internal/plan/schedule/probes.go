package schedule

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// CheckProbe finds what Wants cannot be asked for.
func CheckProbe(asked string) error {
	_, err := Wants(Composition{}, asked)
	return err
}

// ErrNoPlaces says that a strategy decides by where sites are, and nothing tells it.
var ErrNoPlaces = errors.New("it decides by where sites are, and nothing says that: give a file of MaxMind's format (--geoip FILE), or places in the job file")

// CheckPlaces refuses a strategy that decides by where sites are, unless somebody knows.
func CheckPlaces(st Strategy, known bool) error {
	if of, ok := st.(Measurer); !ok || known || !of.Measures().Places {
		return nil
	}
	return fmt.Errorf("strategy %s: %w", st.Name(), ErrNoPlaces)
}

// Missing says what a strategy or a job names that no node has.
type Missing string

// Error implements error.
func (m Missing) Error() string { return string(m) }

func missing(format string, args ...any) error { return Missing(fmt.Sprintf(format, args...)) }

// CheckNames refuses a strategy that goes by nodes or by a label which there are not, or by where nodes are or what they cost if none of several says it, and landmarks that a job names which there are not. all: no other
// nodes can come; else some of the landmarks are enough, and where nobody is there yet nothing is known.
func CheckNames(st Strategy, landmarks []string, nodes []Node, all bool) error {
	c, _ := st.(Composition)
	named := c.Wants.Landmark.Given
	if c.Wants.Places && len(nodes) > 1 && !slices.ContainsFunc(nodes, tellsPlace) {
		return missing("strategy %s: no node says where it is: allowed are the labels lat and lon, in degrees, or region", c.spec())
	}
	if c.Wants.Prices && len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n Node) bool { return n.Prices.Use > 0 || n.Prices.Surcharge > 0 }) {
		return missing("strategy %s: no node says what it costs (argosy agent --prices)", c.spec())
	}
	if len(nodes) == 0 || len(landmarks) == 0 && len(named) == 0 && c.Label == "" {
		return nil
	}
	var ids []string
	labels := map[string]bool{}
	for i := range nodes {
		ids = append(ids, nodes[i].ID)
		for name, value := range nodes[i].Labels {
			labels[name] = labels[name] || value != ""
		}
	}
	maps.DeleteFunc(labels, func(_ string, said bool) bool { return !said })
	first := func(of []string) string {
		k := slices.IndexFunc(of, func(id string) bool { return !slices.Contains(ids, id) })
		if k < 0 || !all && slices.ContainsFunc(of, func(id string) bool { return slices.Contains(ids, id) }) {
			return ""
		}
		return of[k]
	}
	if id := first(landmarks); id != "" {
		return missing("landmarks: there is no node %s: allowed are %s", id, few(ids))
	}
	if id := first(named); id != "" {
		return missing("strategy %s: there is no node %s: allowed are %s", c.spec(), id, few(ids))
	}
	switch {
	case c.Label == "" || labels[c.Label]:
		return nil
	case len(labels) == 0:
		return missing("strategy %s: no node has the label %s, nor any other", c.spec(), c.Label)
	}
	return missing("strategy %s: no node has the label %s: allowed are %s", c.spec(), c.Label, few(slices.Sorted(maps.Keys(labels))))
}

// tellsPlace reports whether a node says where it is.
func tellsPlace(n Node) bool {
	_, _, ok := Position(n.Labels)
	return ok || n.Labels["region"] != ""
}

// few names some words, and says how many more there are.
func few(words []string) string {
	const most = 12
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// Wants returns what a strategy wants measured, or what is asked for instead: of the pairs' bandwidth none, few or all.
// With none no site is asked anything before it is crawled. Empty is what the strategy wants.
func Wants(st Strategy, asked string) (Measures, error) {
	var m Measures
	if of, ok := st.(Measurer); ok {
		m = of.Measures()
	}
	if m.Few <= 0 && asked != "" {
		m.Few = 3
	}
	m.Asked = asked != "" && asked != "none"
	switch asked {
	case "":
	case "none":
		m.Crawl, m.Delay, m.Store = None, None, false
	case "few":
		m.Crawl, m.Store = Few, true
	case "all":
		m.Crawl, m.Store = All, true
	default:
		return m, fmt.Errorf("%q: allowed are none, few, all, and nothing for what the strategy wants", asked)
	}
	return m, nil
}

// pauseMost is how long a site's pauses may make the pings of all landmarks, s, for them to be worth it: a hundredth of the
// half hour for which a measurement holds at most.
const pauseMost = 18

// Pings is the extent to which the delay to a site is measured before it is crawled, with so many nodes of which so many
// are landmarks, where the site wants so many seconds between two requests. Landmarks are worth their pings where they
// tell of more nodes than themselves: else each node's first lease tells as much, and brings pages.
func (m *Measures) Pings(nodes, landmarks int, gap float64) Extent {
	if m.Delay != Worth {
		return m.Delay
	}
	if nodes > landmarks && gap*float64(landmarks) <= pauseMost {
		return Landmark
	}
	return None
}

// Probing is what planning probes goes by.
type Probing struct {
	Measures
	Marks []int                                // landmarks, by their places in the snapshot
	Done  func(site, node int, ping bool) bool // tells what was measured before, by numbers in the book: the delay (ping), or the bandwidth
	Spent *Allowance                           // what measuring has asked of sites; nil: that is without bounds
	Waits int                                  // tasks that wait and that the snapshot does not hold
}

// PlanProbes says which waiting tasks are probed now, by which node, and which of the probes are httppings. Delays come
// first. Then bandwidth: of sites of which fewer pairs were measured than wanted (Few), or not all (All), or of which a
// pair is worth more to know than it costs to measure (Worth). A probe is a lease of its own, under the same limits as
// any other, so a site is asked by one node at a time and on its clock. The probes of a cycle are spread: each node gets
// its turn with other sites than the others, so that no node is asked by all sites and no site by all nodes at a time.
// Where many more tasks wait than a cycle looks at, only some of it are pinged because that is worth it (pingsAtOnce). Tasks whose addresses are not known yet are left for later. What is measured because it is worth it stays within what is allowed (Allowance). Of a
// fleet of one node nothing is measured, unless that was asked for: there is nothing to choose.
func PlanProbes(s *Snapshot, by Probing) (p Plan, ping []bool) {
	if by.Crawl == None && by.Delay == None || s.Book == nil || len(s.Nodes) < 2 && !by.Asked {
		return p, nil
	}
	s.figures = newFigures(s)
	all := count(s, 0)
	s.counted = &all
	c := newContext(s, &Composition{Filters: Always}, false)
	if !c.through {
		s.figures.memory, s.figures.past, s.figures.leases = s.Memory, &c.past, len(s.Running)
	}
	c.through = c.through || by.Crawl != Worth
	s.figures.through = c.through
	open, _ := gate(s)
	most := pingsAtOnce(len(open), by.Waits)
	turn := probing{c: c, by: by, given: make([]int, len(s.Nodes)), sites: map[string]bool{}}
	for _, t := range open {
		if s.PerIP > 0 && s.Tasks[t].Addrs == nil || turn.sites[s.Tasks[t].Site] {
			continue
		}
		if by.Crawl == Worth && c.rests(t) != nil {
			continue
		}
		n, pings := -1, true
		if by.Delay != Worth || turn.pings < most && (by.Spent == nil || by.Spent.Pays(&s.Tasks[t])) { // one landmark alone tells less than a probe
			n = turn.ping(t)
		}
		if n < 0 && by.Crawl != None && (by.Crawl != Worth || turn.lets(t)) {
			n, pings = turn.next(t), false
		}
		if n >= 0 {
			if by.Spent != nil && !by.Spent.Pays(&s.Tasks[t]) {
				turn.early++
			}
			if ping = append(ping, pings); pings {
				turn.pings++
			}
			turn.given[n]++
			turn.sites[s.Tasks[t].Site] = true
			c.Take(t, n)
			p.Assignments = append(p.Assignments, Assignment{Task: t, Node: n})
		}
	}
	return p, ping
}

// pingsAtOnce is how many of the tasks that a cycle looks at may be pinged because that is worth it, where so many more wait: all, as long as four
// cycles look at everything, and of the others the fewer the more cycles that takes. Each task would be pinged by all landmarks, one after the
// other, before the first of them is crawled, and a cycle that looks at a task to have it pinged crawls none instead.
func pingsAtOnce(looks, waits int) int {
	if waits <= 0 || looks == 0 {
		return looks
	}
	cycles := float64(looks+waits) / float64(looks)
	return max(1, int(float64(looks)*min(1, 2/math.Sqrt(cycles))))
}

// probing is the state of one PlanProbes.
type probing struct {
	c     *Context
	by    Probing
	given []int // probes of each node in this plan
	sites map[string]bool
	worth worth
	early int // probes in this plan that no pages pay for
	pings int // httppings in this plan
}

// lets reports whether a task's site may be measured.
func (p *probing) lets(t int) bool {
	return p.by.Spent == nil || p.by.Spent.lets(&p.c.S.Tasks[t], len(p.c.S.Nodes), p.early)
}

// ping returns the node that measures the delay to a task's site now, -1 for none.
func (p *probing) ping(t int) int {
	s := p.c.S
	extent := p.by.Pings(len(s.Nodes), len(p.by.Marks), s.Tasks[t].Gap)
	if extent == None {
		return -1
	}
	var able []int
	add := func(n int) {
		if !p.probed(t, n, true) && p.c.Room(n) && p.c.passes(t, n) {
			able = append(able, n)
		}
	}
	if extent == All {
		for n := range s.Nodes {
			add(n)
		}
	} else {
		for _, n := range p.by.Marks {
			add(n)
		}
	}
	return p.turn(t, able)
}

func (p *probing) probed(t, n int, ping bool) bool {
	return p.by.Done(p.c.S.Tasks[t].Book, p.c.S.Nodes[n].Book, ping)
}

// next returns the node that a task's site is probed by now, -1 for none.
func (p *probing) next(t int) int {
	s := p.c.S
	if p.by.Crawl == Worth {
		before := func(a, b int) bool { return p.before(t, a, b) }
		if n := p.worth.most(p.c, t, before); n >= 0 && !p.probed(t, n, false) {
			if p.worth.used != nil {
				p.worth.used[n] += p.c.Rate(t, n).Value
			}
			return n
		}
		return -1
	}
	done, open := 0, p.c.Candidates(t)
	var able []int
	for _, n := range open {
		if p.probed(t, n, false) {
			done++
		} else if p.c.Room(n) {
			able = append(able, n)
		}
	}
	if p.by.Crawl == Few && done >= min(p.by.Few, len(open)) || len(able) == 0 {
		return -1
	}
	if p.by.Crawl == Few {
		books, at := make([]int32, len(able)), make(map[int32]int, len(able))
		for k, n := range able {
			books[k] = int32(s.Nodes[n].Book)
			at[books[k]] = n
		}
		if b := s.Book.Probes(s.Tasks[t].Book, s.Now, books, 1); len(b) > 0 {
			return at[b[0]]
		}
	}
	return p.turn(t, able)
}

// turn returns the node whose turn it is with a task's site; -1 of none.
func (p *probing) turn(t int, able []int) int {
	best := -1
	for _, n := range able {
		if best < 0 || p.before(t, n, best) {
			best = n
		}
	}
	return best
}

// before reports whether a node's turn with a task's site comes before another's: it has fewer probes, or as many, and each site begins with
// another node.
func (p *probing) before(t, a, b int) bool {
	nodes, shift := len(p.c.S.Nodes), p.c.S.Tasks[t].Book
	after := func(n int) int { return (n + nodes - shift%nodes) % nodes }
	return p.given[a] < p.given[b] || p.given[a] == p.given[b] && after(a) < after(b)
}

// Without returns a snapshot in which a plan's assignments have been carried out: its tasks wait no more, and their
// nodes hold a lease more. ping says which of them are httppings; nil is none.
func (s *Snapshot) Without(p Plan, ping []bool) *Snapshot {
	if len(p.Assignments) == 0 {
		return s
	}
	next := *s
	next.Nodes = append([]Node(nil), s.Nodes...)
	next.Running = append(make([]Running, 0, len(s.Running)+len(p.Assignments)), s.Running...)
	gone := make(map[int]bool, len(p.Assignments))
	for i, a := range p.Assignments {
		t := &s.Tasks[a.Task]
		gone[a.Task] = true
		next.Nodes[a.Node].Running++
		next.Running = append(next.Running, Running{Task: t.ID, Site: t.Site, Domain: t.Domain, Node: s.Nodes[a.Node].ID, Addrs: t.Addrs, Need: t.Need, Width: t.Width, Book: t.Book, Ping: ping != nil && ping[i], Silent: t.Silent, Failed: t.Failed})
	}
	next.Tasks = make([]Task, 0, len(s.Tasks)-len(gone))
	for i := range s.Tasks {
		if !gone[i] {
			next.Tasks = append(next.Tasks, s.Tasks[i])
		}
	}
	return &next
}

// Choose returns the landmarks among n nodes as far as they are given by id or chosen by label: the first node of each
// combination of the labels' values, at most Count; a node without them is none. node says what the i-th is, and whether
// it is there.
func (l Landmarks) Choose(n int, node func(i int) (id string, labels map[string]string, there bool)) []int {
	var out []int
	seen := map[string]bool{}
	for i := range n {
		id, labels, there := node(i)
		key, labelled := "", false
		for _, name := range l.Labels {
			key += labels[name] + "/"
			labelled = labelled || labels[name] != ""
		}
		switch {
		case len(l.Given) > 0:
			if slices.Contains(l.Given, id) {
				out = append(out, i)
			}
		case labelled && there && !seen[key]:
			seen[key] = true
			out = append(out, i)
		}
	}
	if l.Count > 0 && len(out) > l.Count {
		out = out[:l.Count]
	}
	return out
}
