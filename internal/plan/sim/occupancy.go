package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"argosy/internal/plan/schedule"
)

// Occupancy is a fleet that is paid by the node, and tasks that need CPU, memory and bandwidth of it, come, and are released
// after a while. Nothing is crawled in it: it is the packing paper's experiment.
type Occupancy struct {
	Seed  uint64
	Nodes []schedule.Node
	Tasks []Stay
}

// Stay is a task that comes and how long it holds what it needs, ms.
type Stay struct {
	At, Holds int64
	Need      schedule.Vector
}

// Occupied is what an allocation makes of an occupancy.
type Occupied struct {
	Spans       map[int]float64 // seconds for which so many nodes were occupied
	Most        int             // nodes occupied at once
	Mean        float64         // nodes occupied, over time
	Utilisation schedule.Vector // of the occupied nodes, over time and nodes, by dimension
	Carried     schedule.Vector // what tasks held, integrated over time, by dimension
	Waited      float64         // seconds, all tasks together
	Refused     int             // tasks that no node could ever hold
	Hours       float64         // until the last task was released
}

// MakeOccupancy draws a fleet and what comes to it. load is the share of all nodes' scarcest resource that tasks hold on
// average; unequal the standard deviation of the logarithm of nodes' sizes.
func MakeOccupancy(nodes, tasks int, load, unequal float64, seed uint64) Occupancy {
	r := rand.New(rand.NewPCG(seed, 0x7061636b))
	o := Occupancy{Seed: seed}
	var total, mean, top schedule.Vector
	for i := range nodes {
		size := math.Exp(unequal * r.NormFloat64())
		offer := schedule.Vector{4 * size, 8 * size * (1 << 30) * math.Exp(unequal/2*r.NormFloat64()), 100e6 * math.Exp(unequal*r.NormFloat64())}
		o.Nodes = append(o.Nodes, schedule.Node{ID: name("node", i+1), Capacity: 1 << 20, Offer: offer, Untried: true})
		for d, x := range offer {
			total[d] += x
			top[d] = max(top[d], x)
		}
	}
	const holds = 600.0 // seconds, on average
	for range tasks {   // some need CPU, some memory, some bandwidth
		need := schedule.Vector{0.2 * math.Exp(0.7*r.NormFloat64()), 0.3 * (1 << 30) * math.Exp(0.7*r.NormFloat64()), 4e6 * math.Exp(0.7*r.NormFloat64())}
		need[r.IntN(3)] *= 3
		for d := range need { // no task is larger than half of the largest node
			need[d] = min(need[d], top[d]/2)
			mean[d] += need[d] / float64(tasks)
		}
		o.Tasks = append(o.Tasks, Stay{Holds: int64(1000 * holds * r.ExpFloat64()), Need: need})
	}
	scarce := 0.0 // what a task takes of the scarcest
	for d := range mean {
		scarce = max(scarce, mean[d]/total[d])
	}
	gap := holds * scarce / load // seconds between two tasks
	at := 0.0
	for k := range o.Tasks {
		o.Tasks[k].At = int64(1000 * at)
		at += gap * r.ExpFloat64()
	}
	return o
}

// Run has a strategy place the tasks, through the scheduler's own cycle.
func (o Occupancy) Run(st schedule.Strategy) (Occupied, error) {
	out := Occupied{Spans: map[int]float64{}}
	e := &occupation{o: o, held: make([]int, len(o.Nodes)), out: &out}
	next := 0
	for next < len(o.Tasks) || len(e.running) > 0 {
		at := int64(math.MaxInt64)
		if next < len(o.Tasks) {
			at = o.Tasks[next].At
		}
		for _, r := range e.running {
			at = min(at, r.until)
		}
		e.pass(at)
		kept := e.running[:0]
		for _, r := range e.running {
			if r.until > at {
				kept = append(kept, r)
			} else {
				e.held[r.node]--
			}
		}
		e.running = kept
		for next < len(o.Tasks) && o.Tasks[next].At <= at {
			e.waiting = append(e.waiting, next)
			next++
		}
		if err := e.cycle(st); err != nil {
			return out, fmt.Errorf("at %d ms: %w", e.now, err)
		}
	}
	out.finish(e.now)
	return out, nil
}

// occupation is an occupancy being run.
type occupation struct {
	o       Occupancy
	now     int64
	waiting []int
	running []staying
	held    []int
	ever    map[int]bool
	out     *Occupied
	memory  *schedule.Memory
}

type staying struct {
	task, node int
	until      int64
}

// pass lets time pass.
func (e *occupation) pass(at int64) {
	seconds := float64(at-e.now) / 1000
	e.now = at
	n := 0
	var used, offer schedule.Vector
	for i, h := range e.held {
		if h > 0 {
			n++
			for d, x := range e.o.Nodes[i].Offer {
				offer[d] += x
			}
		}
	}
	for _, r := range e.running {
		for d, x := range e.o.Tasks[r.task].Need {
			used[d] += x
		}
	}
	e.out.Spans[n] += seconds
	e.out.Most = max(e.out.Most, n)
	e.out.Waited += seconds * float64(len(e.waiting))
	for d := range used {
		e.out.Carried[d] += used[d] * seconds
		if offer[d] > 0 {
			e.out.Utilisation[d] += used[d] / offer[d] * seconds * float64(n)
		}
	}
}

// cycle places what waits.
func (e *occupation) cycle(st schedule.Strategy) error {
	if len(e.waiting) == 0 {
		return nil
	}
	s := &schedule.Snapshot{Now: e.now, Seed: e.o.Seed*0x9e3779b97f4a7c15 + uint64(e.now), PerSite: math.MaxInt32, Memory: e.memory}
	for i, n := range e.o.Nodes {
		n.Running = e.held[i]
		n.Untried = !e.ever[i]
		s.Nodes = append(s.Nodes, n)
	}
	for _, r := range e.running {
		s.Running = append(s.Running, schedule.Running{Lease: uint64(r.task + 1), Task: uint32(r.task + 1), Node: e.o.Nodes[r.node].ID, Need: e.o.Tasks[r.task].Need})
	}
	for _, k := range e.waiting {
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(k + 1), Site: name("task", k+1), Since: e.o.Tasks[k].At, Need: e.o.Tasks[k].Need})
	}
	p, err := schedule.Cycle(s, st)
	if err != nil {
		return err
	}
	e.memory = p.Memory
	gone := map[int]bool{}
	for _, a := range p.Assignments {
		k := int(s.Tasks[a.Task].ID) - 1
		gone[k] = true
		if e.ever == nil {
			e.ever = map[int]bool{}
		}
		e.ever[a.Node] = true
		e.held[a.Node]++
		e.running = append(e.running, staying{k, a.Node, e.now + max(1, e.o.Tasks[k].Holds)})
	}
	for _, w := range p.Refused {
		gone[int(s.Tasks[w.Task].ID)-1] = true
		e.out.Refused++
	}
	kept := e.waiting[:0]
	for _, k := range e.waiting {
		if !gone[k] {
			kept = append(kept, k)
		}
	}
	e.waiting = kept
	return nil
}

// finish turns sums into means.
func (o *Occupied) finish(end int64) {
	total, weighed := 0.0, 0.0
	counts := make([]int, 0, len(o.Spans))
	for n := range o.Spans {
		counts = append(counts, n)
	}
	sort.Ints(counts)
	for _, n := range counts {
		total += o.Spans[n]
		weighed += float64(n) * o.Spans[n]
	}
	o.Hours = float64(end) / 3_600_000
	if total > 0 {
		o.Mean = weighed / total
	}
	for d := range o.Utilisation {
		if weighed > 0 {
			o.Utilisation[d] /= weighed
		}
	}
}
