// Command solve measures the solvers of the scheduling core against scipy's linear_sum_assignment in the same run, and
// prints ratios of CPU seconds, and packs items whose best packing is known by how they were made. It needs Python 3 with
// scipy (Debian: python3-scipy).
//
//	go run ./bench/solve
//	go run ./bench/solve -only packing
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"syscall"

	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/solve"
	"argosy/internal/plan/strategy"
)

// script times scipy on a family of matrices, the best of a few tries.
const script = `
import sys, time, json
import numpy as np
from scipy.optimize import linear_sum_assignment
r = np.random.default_rng(1)
def make(family, n, k):
    if family == "uniform": return r.random((n, k))
    if family == "integers": return r.integers(1, 101, (n, k)).astype(float)
    if family == "geometric":
        a, b = r.random((n, 2)), r.random((k, 2))
        return np.hypot(a[:, :1] - b[None, :, 0], a[:, 1:] - b[None, :, 1])
    return np.outer(np.arange(1.0, n + 1), np.arange(1.0, k + 1))
best = 1e9
m = make(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
for _ in range(int(sys.argv[4])):
    t = time.process_time(); linear_sum_assignment(m); best = min(best, time.process_time() - t)
print(json.dumps(best))
`

func main() {
	python := flag.String("python", "/usr/bin/python3", "a Python with scipy")
	tries := flag.Int("tries", 3, "of each measurement, the best of which counts")
	large := flag.Bool("large", true, "n = 5000 too")
	only := flag.String("only", "", "one part: assignment, core (capacitated, flow, coordinates) or packing")
	flag.Parse()
	b := &bench{python: *python, tries: *tries, only: *only}
	sizes := []int{1000, 2000}
	if *large {
		sizes = append(sizes, 5000)
	}
	if err := b.run(sizes); err != nil {
		fmt.Fprintln(os.Stderr, "bench/solve:", err)
		os.Exit(1)
	}
}

type bench struct {
	python string
	tries  int
	only   string
	base   float64 // scipy, uniform, n = 2000
}

func (b *bench) scipy(family string, n, k int) (float64, error) {
	tries := b.tries
	if family == "product" {
		tries = 1
	}
	out, err := exec.Command(b.python, "-c", script, family, fmt.Sprint(n), fmt.Sprint(k), fmt.Sprint(tries)).Output()
	if err != nil {
		return 0, fmt.Errorf("%s with scipy: %w", b.python, err)
	}
	var s float64
	return s, json.Unmarshal(out, &s)
}

// best returns the shortest of a few runs, in CPU seconds.
func (b *bench) best(f func() error) (float64, error) {
	best := math.Inf(1)
	for range b.tries {
		runtime.GC() // what the last one left
		start := cpu()
		if err := f(); err != nil {
			return 0, err
		}
		best = min(best, cpu()-start)
	}
	return best, nil
}

// cpu is what this process has used, seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it always can
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func matrix(family string, n, k int, r *rand.Rand) solve.Matrix {
	m := solve.NewMatrix(n, k)
	x := make([]float64, 2*n+2*k)
	for k := range x {
		x[k] = r.Float64()
	}
	for i := range n {
		for j := range k {
			v := 0.0
			switch family {
			case "uniform":
				v = r.Float64()
			case "integers":
				v = float64(1 + r.IntN(100))
			case "geometric":
				v = math.Hypot(x[2*i]-x[2*n+2*j], x[2*i+1]-x[2*n+2*j+1])
			default:
				v = float64((i + 1) * (j + 1))
			}
			m.Set(i, j, v)
		}
	}
	return m
}

func (b *bench) run(sizes []int) error {
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"assignment", func() error { return b.assignments(sizes) }},
		{"core", b.core},
		{"packing", b.packings},
	} {
		if b.only != "" && b.only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return err
		}
	}
	return nil
}

// assignments are square matrices, and tall ones as a fleet has them: few nodes, many tasks.
func (b *bench) assignments(sizes []int) error {
	fmt.Println("assignment                  ours s   scipy s  ratio")
	for _, family := range []string{"uniform", "integers", "geometric", "product"} {
		shapes := [][2]int{{2000, 500}, {500, 2000}, {5000, 200}, {20_000, 30}}
		for _, n := range sizes {
			shapes = append(shapes, [2]int{n, n})
		}
		for _, shape := range shapes {
			n, k := shape[0], shape[1]
			if family == "product" && min(n, k) > 2000 {
				continue // scipy takes minutes
			}
			m := matrix(family, n, k, rand.New(rand.NewPCG(1, 1)))
			ours, err := b.best(func() error { _, err := solve.Assign(m); return err })
			if err != nil {
				return err
			}
			theirs, err := b.scipy(family, n, k)
			if err != nil {
				return err
			}
			fmt.Printf("%-10s %5d × %-5d %10.4f  %8.4f  %5.2f\n", family, n, k, ours, theirs, ours/theirs)
		}
	}
	return nil
}

// core are the solvers that scipy has no equal of, against its assignment of 2000 × 2000 random floats.
func (b *bench) core() (err error) {
	if b.base, err = b.scipy("uniform", 2000, 2000); err != nil {
		return err
	}
	fmt.Printf("\nagainst scipy's uniform n = 2000 (%.3f s)\n", b.base)
	for _, f := range []func() error{b.capacitated, b.cycle, b.coords} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) line(what string, s float64, note string) {
	fmt.Printf("%-44s %8.3f s  ratio %6.3f  %s\n", what, s, s/b.base, note)
}

func (b *bench) capacitated() error {
	r := rand.New(rand.NewPCG(2, 2))
	m := solve.NewMatrix(30, 100_000)
	for k := range m.Data {
		m.Data[k] = r.Float64()
	}
	capacity := make([]int, 30)
	for i := range capacity {
		capacity[i] = 100_000/30 + 1
	}
	s, err := b.best(func() error {
		p, err := solve.DenseCapacitated(m, capacity)
		if err != nil {
			return err
		}
		_, err = solve.AssignCapacitated(p)
		return err
	})
	b.line("capacitated assignment, 30 × 100,000", s, "")
	return err
}

// fleet is a snapshot of 100 nodes and 10,000 waiting tasks of which some pairs were measured.
func fleet() *schedule.Snapshot {
	r := rand.New(rand.NewPCG(3, 3))
	book := predict.New(predict.Config{})
	s := &schedule.Snapshot{Now: 1_000_000, Seed: 7, PerSite: 1, Book: book}
	for i := range 100 {
		id := fmt.Sprintf("node%03d", i)
		s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 80, Book: book.Node(id), Offer: schedule.Vector{schedule.Bandwidth: 100e6}})
	}
	for j := range 10_000 {
		name := fmt.Sprintf("site%05d.example", j)
		site := book.Site(name)
		for _, i := range r.Perm(100)[:5] {
			book.Crawled(i, site, 1e6*math.Exp(r.NormFloat64()), 1, false, s.Now)
		}
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(j + 1), Site: name, Since: s.Now - int64(r.IntN(10_000)), Book: site})
	}
	book.Fit()
	return s
}

// worth sums the speeds that a plan expects, under the costs of a solver that cuts no candidate.
func worth(p schedule.Plan) (sum float64) {
	for _, d := range p.Decisions {
		for _, c := range d.Candidates {
			if c.Node == d.Node && c.Cost != nil {
				sum += 1 / *c.Cost
			}
		}
	}
	return sum
}

func (b *bench) cycle() error {
	s := fleet()
	st, err := strategy.New("flow")
	if err != nil {
		return err
	}
	var plan schedule.Plan
	full, err := b.best(func() (err error) { plan, err = schedule.Cycle(s, st); return err })
	if err != nil {
		return err
	}
	cut, err := schedule.Explained(s, st)
	if err != nil {
		return err
	}
	all, err := strategy.New("flow,candidates=0")
	if err != nil {
		return err
	}
	exact, err := schedule.Explained(s, all)
	if err != nil {
		return err
	}
	b.line("flow cycle, 100 nodes × 10,000 tasks", full, fmt.Sprintf("%d assigned; 16 candidates a task lose %.3f %% of the exact solution's speed", len(plan.Assignments), 100*(1-worth(cut)/worth(exact))))
	// A hundredth changes: new tasks come in the place of old ones, and something is learned of others.
	next := *s
	next.Memory = plan.Memory
	next.Now += 500
	next.Tasks = append([]schedule.Task(nil), s.Tasks...)
	r := rand.New(rand.NewPCG(4, 4))
	for k := range 100 {
		j := r.IntN(len(next.Tasks))
		if k%2 == 0 {
			next.Tasks[j].ID += 1_000_000
		} else {
			s.Book.Crawled(r.IntN(100), next.Tasks[j].Book, 1e6, 1, false, next.Now)
		}
	}
	again, err := b.best(func() error { _, err := schedule.Cycle(&next, st); return err })
	if err != nil {
		return err
	}
	b.line("the same after 1 % has changed", again, fmt.Sprintf("%.3f of a cycle", again/full))
	return nil
}

func (b *bench) coords() error {
	r := rand.New(rand.NewPCG(5, 5))
	const n = 490
	x := make([][3]float64, n)
	for i := range x {
		x[i] = [3]float64{200 * r.Float64(), 100 * r.Float64(), 5 * r.ExpFloat64()}
	}
	delay := make([][]float64, n)
	for i := range delay {
		delay[i] = make([]float64, n)
		for j := range i {
			d := (math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]) + x[i][2] + x[j][2] + 1) * math.Exp(0.1*r.NormFloat64())
			delay[i][j], delay[j][i] = d, d
		}
	}
	models := map[string]netcoord.Config{"paper": netcoord.Paper(), "heights": netcoord.WithHeights()}
	names := []string{"paper", "heights"}
	sort.Strings(names)
	for _, name := range names {
		var e netcoord.Evaluation
		s, err := b.best(func() (err error) { e, err = netcoord.Evaluate(models[name], delay, nil, 9); return err })
		if err != nil {
			return err
		}
		b.line("coords, 490 hosts, model "+name, s, fmt.Sprintf("median error %.3f", e.Median))
	}
	return nil
}
