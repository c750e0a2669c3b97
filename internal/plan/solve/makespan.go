package solve

import (
	"fmt"
	"math"
	"sort"
)

// Schedule gives each job to a machine.
type Schedule struct {
	Machine  []int // of each job
	Makespan float64
	Work     float64 // sum over all jobs
	Bound    float64 // no schedule ends sooner
}

// Makespan schedules jobs on unrelated machines: times has a row for each machine and a column for each job, +Inf
// forbids a pair, load is what each machine has to do before (nil for nothing). It starts from the best of three
// (the job that would suffer most from missing its best machine first; the longest first, where it ends earliest; each
// where it costs least at the prices of the bound) and moves and exchanges jobs while the longest machine gets shorter.
// The bound is that of the linear relaxation, approached from below by prices of the machines' time.
func Makespan(times Matrix, load []float64) (Schedule, error) {
	return MakespanWithin(times, load, 3000)
}

// MakespanWithin is Makespan with so many rounds of work at most on the bound.
func MakespanWithin(times Matrix, load []float64, rounds int) (Schedule, error) {
	r, err := times.check()
	if err != nil {
		return Schedule{}, err
	}
	if r.lo < 0 {
		return Schedule{}, fmt.Errorf("times: %g is negative", r.lo)
	}
	if load == nil {
		load = make([]float64, times.Rows)
	}
	if len(load) != times.Rows {
		return Schedule{}, fmt.Errorf("loads: %d for %d machines", len(load), times.Rows)
	}
	t := times.Transpose() // a row for each job
	for j := range t.Rows {
		ok := false
		for _, x := range t.Row(j) {
			ok = ok || x <= math.MaxFloat64
		}
		if !ok {
			return Schedule{}, fmt.Errorf("job %d: no machine can do it", j+1)
		}
	}
	bound, price := workBound(t, load, rounds)
	var best *shop
	for _, start := range []func(*shop){(*shop).sufferage, (*shop).longestFirst, func(s *shop) { s.priced(price) }} {
		s := newShop(t, load)
		start(s)
		s.improve()
		if best == nil || s.makespan() < best.makespan() {
			best = s
		}
	}
	out := Schedule{Machine: best.at, Makespan: best.makespan(), Bound: bound}
	for j, i := range best.at {
		out.Work += t.At(j, i)
	}
	return out, nil
}

// workBound returns a lower bound on the makespan and prices of the machines' time, of sum 1, that prove it: every job
// costs at least its cheapest priced time, and all the time there is until T costs T. Multiplicative weights raise the
// price of the machines that are asked for too much.
func workBound(t Matrix, load []float64, rounds int) (bound float64, best []float64) {
	n := t.Cols
	if n == 0 {
		return 0, nil
	}
	price := make([]float64, n)
	for i := range price {
		price[i] = 1 / float64(n)
	}
	for j := range t.Rows { // a job alone
		least := math.Inf(1)
		for i, x := range t.Row(j) {
			least = min(least, x+load[i])
		}
		bound = max(bound, least)
	}
	for _, l := range load {
		bound = max(bound, l)
	}
	rounds = min(rounds, 20_000_000/(len(t.Data)+1)+50)
	best = append([]float64(nil), price...)
	top := 0.0
	use := make([]float64, n)
	for k := range rounds {
		copy(use, load)
		value := 0.0
		for i, l := range load {
			value += price[i] * l
		}
		for j := range t.Rows {
			least, at := math.Inf(1), 0
			for i, x := range t.Row(j) {
				if c := x * price[i]; c < least {
					least, at = c, i
				}
			}
			value += least
			use[at] += t.At(j, at)
		}
		if value > top {
			top = value
			copy(best, price)
		}
		most := largest(use)
		if most == 0 {
			break
		}
		total := 0.0
		rate := 2 / math.Sqrt(float64(k+4))
		for i := range price {
			price[i] *= math.Exp(rate * (use[i]/most - value/most))
			price[i] = max(price[i], 1e-12)
			total += price[i]
		}
		for i := range price {
			price[i] /= total
		}
	}
	return max(bound, top), best
}

// shop is a schedule in the making.
type shop struct {
	t    Matrix // a row for each job
	load []float64
	at   []int
	jobs [][]int // of each machine
}

func newShop(t Matrix, load []float64) *shop {
	s := &shop{t: t, load: append([]float64(nil), load...), at: make([]int, t.Rows), jobs: make([][]int, t.Cols)}
	for j := range s.at {
		s.at[j] = -1
	}
	return s
}

func (s *shop) put(j, i int) {
	s.at[j] = i
	s.load[i] += s.t.At(j, i)
	s.jobs[i] = append(s.jobs[i], j)
}

func (s *shop) drop(j int) {
	i := s.at[j]
	s.load[i] -= s.t.At(j, i)
	for k, o := range s.jobs[i] {
		if o == j {
			s.jobs[i] = append(s.jobs[i][:k], s.jobs[i][k+1:]...)
			return
		}
	}
}

func (s *shop) makespan() float64 { return largest(s.load) }

// earliest returns where a job would end first, when, and how much later it would end at the next best place.
func (s *shop) earliest(j int) (at int, end, regret float64) {
	end, second := math.Inf(1), math.Inf(1)
	for i, x := range s.t.Row(j) {
		if e := s.load[i] + x; e < end {
			at, end, second = i, e, end
		} else {
			second = min(second, e)
		}
	}
	return at, end, second - end
}

// sufferage places next the job that would lose most by missing its best machine (Maheswaran et al., 1999). A job's
// regret only has to be looked at again when its best machine got another job.
func (s *shop) sufferage() {
	if s.t.Rows*s.t.Rows*s.t.Cols > 400_000_000 { // many jobs: the difference is small and the search long
		s.longestFirst()
		return
	}
	left := make([]int, s.t.Rows)
	for j := range left {
		left[j] = j
	}
	for len(left) > 0 {
		pick, at, worst := -1, 0, math.Inf(-1)
		for k, j := range left {
			if i, _, regret := s.earliest(j); regret > worst || pick < 0 {
				pick, at, worst = k, i, regret
			}
		}
		s.put(left[pick], at)
		left = append(left[:pick], left[pick+1:]...)
	}
}

func (s *shop) longestFirst() {
	order := make([]int, s.t.Rows)
	least := make([]float64, s.t.Rows)
	for j := range order {
		order[j] = j
		least[j] = math.Inf(1)
		for _, x := range s.t.Row(j) {
			least[j] = min(least[j], x)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return least[order[a]] > least[order[b]] })
	for _, j := range order {
		i, _, _ := s.earliest(j)
		s.put(j, i)
	}
}

func (s *shop) priced(price []float64) {
	for j := range s.t.Rows {
		least, at := math.Inf(1), 0
		for i, x := range s.t.Row(j) {
			if c := x * price[i]; c < least {
				least, at = c, i
			}
		}
		s.put(j, at)
	}
}

// improve takes jobs from the longest machine as long as the longest of the machines concerned gets shorter than it
// was; in between it moves jobs to where they take less time, which makes room for that.
func (s *shop) improve() {
	for range 20 * (s.t.Rows + 10) {
		s.tidy()
		long := 0
		for i, l := range s.load {
			if l > s.load[long] {
				long = i
			}
		}
		if !s.relieve(long) {
			return
		}
	}
}

// tidy moves and exchanges jobs wherever that saves time and leaves the machines concerned below the makespan.
func (s *shop) tidy() {
	limit := s.makespan() * (1 - 1e-12)
	for j := range s.at {
		a := s.at[j]
		own := s.t.At(j, a)
		most := own * 1e-12
		var take, then step
		for i, x := range s.t.Row(j) {
			if i == a || math.IsInf(x, 1) {
				continue
			}
			if save := own - x; save > most && s.load[i]+x < limit {
				most, take, then = save, step{j, i, true}, step{}
			}
			for _, k := range s.jobs[i] {
				y, z := s.t.At(k, i), s.t.At(k, a)
				if save := own - x + y - z; save > most && s.load[i]+x-y < limit && s.load[a]-own+z < limit {
					most, take, then = save, step{j, i, true}, step{k, a, true}
				}
			}
		}
		s.apply(take, then)
	}
}

func (s *shop) apply(steps ...step) {
	for _, m := range steps {
		if m.ok {
			s.drop(m.job)
			s.put(m.job, m.to)
		}
	}
}

// relieve takes a job from the longest machine by the best move or exchange, or, if none helps, by the best chain of
// two moves.
func (s *shop) relieve(long int) bool {
	best := s.load[long] * (1 - 1e-12)
	var take, then step
	for _, j := range s.jobs[long] {
		own := s.t.At(j, long)
		for i, x := range s.t.Row(j) {
			if i == long || math.IsInf(x, 1) {
				continue
			}
			if m := max(s.load[long]-own, s.load[i]+x); m < best {
				best, take, then = m, step{j, i, true}, step{}
			}
			for _, k := range s.jobs[i] {
				m := max(s.load[long]-own+s.t.At(k, long), s.load[i]+x-s.t.At(k, i))
				if m < best {
					best, take, then = m, step{j, i, true}, step{k, long, true}
				}
			}
		}
	}
	if !take.ok {
		take, then = s.chain(long, best)
	}
	s.apply(take, then)
	return take.ok
}

// step moves a job to a machine.
type step struct {
	job, to int
	ok      bool
}

// chain finds two moves, from the longest machine to a second and from there to a third, after which all three end
// before best.
func (s *shop) chain(long int, best float64) (take, then step) {
	for _, j := range s.jobs[long] {
		rest := s.load[long] - s.t.At(j, long)
		for i, x := range s.t.Row(j) {
			if i == long || x >= best || rest >= best {
				continue
			}
			for _, k := range s.jobs[i] {
				m := max(rest, s.load[i]+x-s.t.At(k, i))
				if m >= best {
					continue
				}
				for h, y := range s.t.Row(k) {
					if e := max(m, s.load[h]+y); h != i && h != long && e < best {
						best, take, then = e, step{j, i, true}, step{k, h, true}
					}
				}
			}
		}
	}
	return take, then
}
