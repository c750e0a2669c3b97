package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/plan/dataset"
	"argosy/internal/plan/solve"
)

// readInput opens a file, "-" for standard input, and gives it to read; what is wrong with it is the user's to mend.
func readInput[T any](c *cobra.Command, path string, read func(io.Reader) (T, error)) (T, error) {
	var r io.Reader = c.InOrStdin()
	var zero T
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return zero, usage("%v", err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return zero, usage("%s: a directory: want a file, or - for standard input", path)
		}
		r = f
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(f)
			if err != nil {
				return zero, usage("%s: %v", path, err)
			}
			r = z
		}
	}
	v, err := read(r)
	if err != nil {
		return zero, usage("%s: %v", path, err)
	}
	return v, nil
}

func newSolve() *cobra.Command {
	c := &cobra.Command{
		Use: "solve", Short: "Run one of the solvers on a file", Args: cobra.NoArgs,
		Long: `The solvers of the scheduling core on problems of your own. On a terminal each prints lines for people, elsewhere, and with
--json everywhere, one JSON object.`,
		Example: "  argosy solve assign costs.csv\n  argosy solve market valuations.csv --step 1 --trace\n  argosy solve pack pods.json --json",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().Bool("json", false, "print one JSON object on a terminal too")
	c.AddCommand(newSolveAssign(), newSolveMarket(), newSolvePack(), newSolveFlow())
	return c
}

// printSolved prints a solution as JSON, or, on a terminal where JSON was not asked for, as lines for people.
func printSolved(c *cobra.Command, solution any, lines func(w io.Writer)) error {
	asJSON, err := c.Flags().GetBool("json")
	if err != nil {
		return err
	}
	if out := c.OutOrStdout(); !asJSON && isTerminal(out) {
		lines(out)
		return nil
	}
	return printJSON(c.OutOrStdout(), solution)
}

// isTerminal reports whether what is written to w is seen at once by a person.
func isTerminal(w io.Writer) bool {
	if t, ok := w.(shown); ok {
		w = t.File
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

func newSolveAssign() *cobra.Command {
	var format, method, leftover string
	var batch int
	var trace bool
	c := &cobra.Command{
		Use: "assign FILE", Short: "Assign columns (tasks) to rows (nodes) at least cost", Args: cobra.ExactArgs(1),
		Long: `Assign solves the assignment problem: FILE is a cost matrix, one row a node, one column a task, separated by commas or
blanks; inf forbids a pair, and costs may be negative. The matrix may be rectangular. With --format orlib it is a size n and n × n costs. The
output gives the task of each node, or -1. --method patent follows the published line-covering procedure, which gets
stuck on some matrices and then falls back to the exact method; --batch solves K tasks at a time, as the patent does.`,
		Example: "  argosy solve assign costs.csv\n  argosy solve assign assign100.txt --format orlib\n  argosy solve assign costs.csv --method patent --trace",
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf("--format", format, "matrix", "orlib"); err != nil {
				return err
			}
			if err := oneOf("--method", method, "jv", "patent"); err != nil {
				return err
			}
			if err := oneOf("--leftover", leftover, "wait", "single"); err != nil {
				return err
			}
			switch given := c.Flags().Changed; {
			case batch < 0:
				return usage("--batch %d: want at least 1, or 0 for all at once", batch)
			case given("leftover") && batch == 0:
				return usage("--leftover goes with --batch: all at once leave nothing over")
			case trace && method != "patent":
				return usage("--trace goes with --method patent: the method %s covers no lines", method)
			case trace && batch > 0:
				return usage("--trace does not go with --batch: it prints one matrix")
			}
			m, err := readInput(c, args[0], func(r io.Reader) (solve.Matrix, error) {
				if format == "orlib" {
					return dataset.ORLib(r)
				}
				return dataset.Matrix(r, true)
			})
			if err != nil {
				return err
			}
			return solveAssign(c, m, method, batch, leftover, trace)
		},
	}
	f := c.Flags()
	f.StringVar(&format, "format", "matrix", "of FILE: matrix or orlib")
	f.StringVar(&method, "method", "jv", "jv (exact) or patent (line covering)")
	f.IntVar(&batch, "batch", 0, "tasks to assign at a time; 0 is all")
	f.StringVar(&leftover, "leftover", "single", "tasks that do not fill a batch, or find no node in it: wait, or single (one by one, each to its cheapest node); with --batch")
	f.BoolVar(&trace, "trace", false, "print every matrix, the lines and z to standard error (patent)")
	return c
}

func oneOf(flag, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return usage("%s %s: allowed are %s", flag, value, strings.Join(allowed, ", "))
}

// assigned is what solve assign prints.
type assigned struct {
	Total      float64  `json:"total"`
	Assignment any      `json:"assignment"` // task of each node, or lists of tasks with --batch
	Seconds    float64  `json:"seconds"`
	Method     string   `json:"method"`
	Stuck      *bool    `json:"stuck,omitempty"`
	Left       []int    `json:"left_over,omitempty"`
	Optimal    *float64 `json:"optimal_bound,omitempty"` // sum of the duals, which no assignment can go below
}

func solveAssign(c *cobra.Command, m solve.Matrix, method string, batch int, leftover string, trace bool) error {
	start := time.Now()
	if batch > 0 {
		out, err := assignBatches(m, method, batch, leftover == "single")
		if err != nil {
			return usage("%v", err)
		}
		out.Seconds = time.Since(start).Seconds()
		return printSolved(c, out, out.lines)
	}
	out := assigned{Method: method}
	var a solve.Assignment
	if method == "patent" {
		l, err := solve.AssignByLines(m)
		if err != nil {
			return usage("%v", err)
		}
		a, out.Stuck = l.Assignment, &l.Stuck
		if trace {
			traceLines(os.Stderr, l)
		}
	} else {
		var err error
		if a, err = solve.Assign(m); err != nil {
			return usage("%v", err)
		}
		bound := 0.0
		for _, x := range append(append([]float64{}, a.U...), a.V...) {
			bound += x
		}
		if a.Unmatched == 0 {
			out.Optimal = &bound
		}
	}
	out.Seconds = time.Since(start).Seconds()
	out.Total, out.Assignment = a.Total, a.Col
	return printSolved(c, out, out.lines)
}

// lines prints an assignment for people, who count from 1.
func (a assigned) lines(w io.Writer) {
	switch tasks := a.Assignment.(type) {
	case []int:
		for i, j := range tasks {
			if j >= 0 {
				fmt.Fprintf(w, "node %d: task %d\n", i+1, j+1)
			} else {
				fmt.Fprintf(w, "node %d: none\n", i+1)
			}
		}
	case [][]int:
		for i, js := range tasks {
			fmt.Fprintf(w, "node %d: tasks %s\n", i+1, list(js, 1))
		}
	}
	if len(a.Left) > 0 {
		fmt.Fprintf(w, "left over: tasks %s\n", list(a.Left, 1))
	}
	fmt.Fprintf(w, "total %g", a.Total)
	if a.Optimal != nil {
		fmt.Fprintf(w, ", and no assignment costs less than %g", *a.Optimal)
	}
	if a.Stuck != nil && *a.Stuck {
		fmt.Fprint(w, "; the line covering got stuck, so it was solved exactly")
	}
	fmt.Fprintf(w, " (%.3g s)\n", a.Seconds)
}

// assignBatches gives each node one task of every batch. What fills no batch, and what a batch has no node for, goes one by one
// to the cheapest node, or waits.
func assignBatches(m solve.Matrix, method string, k int, single bool) (assigned, error) {
	out := assigned{Method: method}
	tasks := make([][]int, m.Rows)
	for i := range tasks {
		tasks[i] = []int{}
	}
	var over []int
	first := 0
	for ; first+k <= m.Cols; first += k {
		part := solve.NewMatrix(m.Rows, k)
		for i := range m.Rows {
			copy(part.Row(i), m.Row(i)[first:first+k])
		}
		var col []int
		if method == "patent" {
			l, err := solve.AssignByLines(part)
			if err != nil {
				return out, err
			}
			stuck := l.Stuck || out.Stuck != nil && *out.Stuck
			out.Stuck, col = &stuck, l.Col
		} else {
			a, err := solve.Assign(part)
			if err != nil {
				return out, err
			}
			col = a.Col
		}
		rest := slices.Repeat([]bool{true}, k)
		for i, j := range col {
			if j >= 0 {
				tasks[i] = append(tasks[i], first+j)
				out.Total += part.At(i, j)
				rest[j] = false
			}
		}
		for j, left := range rest {
			if left {
				over = append(over, first+j)
			}
		}
	}
	for j := first; j < m.Cols; j++ {
		over = append(over, j)
	}
	for _, j := range over {
		at := -1
		for i := range m.Rows {
			if c := m.At(i, j); !math.IsInf(c, 1) && (at < 0 || c < m.At(at, j)) {
				at = i
			}
		}
		if !single || at < 0 {
			out.Left = append(out.Left, j)
			continue
		}
		tasks[at] = append(tasks[at], j)
		out.Total += m.At(at, j)
	}
	out.Assignment = tasks
	return out, nil
}

func traceLines(w io.Writer, l solve.LineCover) {
	for n, s := range l.Steps {
		fmt.Fprintf(w, "step %d: after subtracting row and column minima\n", n+1)
		printMatrix(w, s.Matrix)
		fmt.Fprintf(w, "  lines: rows %s, columns %s (covering %s zeros in the order of drawing)\n", list(s.Rows, 1), list(s.Cols, 1), list(s.Sizes, 0))
		switch {
		case s.Z > 0:
			fmt.Fprintf(w, "  z = %g: subtracted from the rows without a line, added to the columns with one\n", s.Z)
		case l.Stuck:
			fmt.Fprintln(w, "  everything is covered, but there is no full set of independent zeros: z is undefined, the procedure is stuck; solved exactly instead")
		default:
			fmt.Fprintln(w, "  a full set of independent zeros: done")
		}
	}
}

func printMatrix(w io.Writer, rows [][]float64) {
	for _, r := range rows {
		fmt.Fprint(w, "  ")
		for _, x := range r {
			fmt.Fprintf(w, " %8s", strconv.FormatFloat(x, 'g', 6, 64))
		}
		fmt.Fprintln(w)
	}
}

// list prints numbers, counted from base.
func list(xs []int, base int) string {
	if len(xs) == 0 {
		return "none"
	}
	var out []string
	for _, x := range xs {
		out = append(out, strconv.Itoa(x+base))
	}
	return strings.Join(out, " ")
}

// maxPackTime bounds how long a packing may be looked for.
const maxPackTime = 24 * time.Hour

func newSolvePack() *cobra.Command {
	var rule string
	var limit time.Duration
	c := &cobra.Command{
		Use: "pack FILE", Short: "Pack tasks into nodes by several resources", Args: cobra.ExactArgs(1),
		Long: `Pack places vectors of needs into nodes so that no resource of any is exceeded. FILE is
{"nodes":[{"capacity":[…],"working":bool},…],"tasks":[[…],…]}. The rule working-first is the published one; portfolio
tries all of them and then looks for better, until it can prove that there is none or its time is over. The output gives
the node of each task, or -1, a lower bound, and the gap: how many more nodes are used than the bound, as a share of it.`,
		Example: "  argosy solve pack pods.json\n  argosy solve pack pods.json --time 30s\n  argosy solve pack pods.json --rule working-first",
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 0 || limit > maxPackTime {
				return usage("--time %s: want 0 to %s", limit, maxPackTime)
			}
			if c.Flags().Changed("time") && rule != solve.RulePortfolio {
				return usage("--time goes with --rule %s: the rule %s looks for nothing", solve.RulePortfolio, rule)
			}
			type problem struct {
				bins  []solve.Bin
				tasks [][]float64
			}
			p, err := readInput(c, args[0], func(r io.Reader) (p problem, err error) {
				p.bins, p.tasks, err = dataset.Packing(r)
				return p, err
			})
			if err != nil {
				return err
			}
			if rules := solve.PackRules(); !slices.Contains(rules, rule) {
				return usage("--rule %q: allowed are %s", rule, strings.Join(rules, ", "))
			}
			start := time.Now()
			var got solve.Packing
			if rule == solve.RulePortfolio {
				got, err = solve.PackWithin(p.bins, p.tasks, func() bool { return time.Since(start) >= limit || c.Context().Err() != nil })
			} else {
				got, err = solve.Pack(p.bins, p.tasks, rule)
			}
			if err != nil {
				return usage("%s: %v", args[0], err)
			}
			return printPacking(c, got, time.Since(start))
		},
	}
	c.Flags().StringVar(&rule, "rule", solve.RulePortfolio, strings.Join(solve.PackRules(), ", "))
	c.Flags().DurationVar(&limit, "time", packTime, "how long the portfolio may look for a packing with fewer nodes")
	return c
}

// packTime is how long a packing is looked for where nobody says.
const packTime = 2 * time.Second

func printPacking(c *cobra.Command, got solve.Packing, took time.Duration) error {
	none := func(xs []int) []int { return append([]int{}, xs...) }
	var gap *float64 // of a packing of part of the tasks there is none
	if len(got.Waiting) == 0 {
		gap = new(float64)
		*gap = float64(got.Used-got.Bound) / float64(max(1, got.Bound))
	}
	return printSolved(c, struct {
		Placement []int    `json:"placement"`
		Used      int      `json:"nodes_used"`
		Opened    int      `json:"nodes_taken_on"`
		Bound     int      `json:"lower_bound"`
		Gap       *float64 `json:"gap,omitempty"`
		Optimal   bool     `json:"optimal"` // proved
		Unplaced  []int    `json:"unplaced"`
		TooBig    []int    `json:"too_big"`
		Rule      string   `json:"rule"`
		Seconds   float64  `json:"seconds"`
	}{got.Bin, got.Used, got.Opened, got.Bound, gap, got.Searched, append(none(got.Waiting), got.TooBig...), none(got.TooBig), got.Rule, took.Seconds()}, func(w io.Writer) {
		held := map[int][]int{}
		last := -1
		for j, i := range got.Bin {
			held[i], last = append(held[i], j), max(last, i)
		}
		for i := range last + 1 {
			if len(held[i]) > 0 {
				fmt.Fprintf(w, "node %d: tasks %s\n", i+1, list(held[i], 1))
			}
		}
		if len(got.TooBig) > 0 {
			fmt.Fprintf(w, "too big for every node: tasks %s\n", list(got.TooBig, 1))
		}
		if len(got.Waiting) > 0 {
			fmt.Fprintf(w, "found no room: tasks %s\n", list(got.Waiting, 1))
		}
		proof := fmt.Sprintf("all tasks want %d at least", got.Bound)
		switch {
		case got.Searched:
			proof = "which is the least possible"
		case gap != nil:
			proof = fmt.Sprintf("no packing uses fewer than %d: gap %.1f %%", got.Bound, 100**gap)
		}
		fmt.Fprintf(w, "%d nodes used, %d of them taken on, %s (%s, %.3g s)\n", got.Used, got.Opened, proof, got.Rule, took.Seconds())
	})
}

func newSolveFlow() *cobra.Command {
	return &cobra.Command{
		Use: "flow FILE", Short: "Ship supplies to demands at least cost", Args: cobra.ExactArgs(1),
		Long: `Flow solves a min-cost flow. FILE is {"supplies":[…],"arcs":[{"from":0,"to":1,"capacity":5,"cost":2.5},…]}: supply
of each vertex, negative is demand; vertices count from 0. As much as possible is shipped, at least cost.`,
		Example: "  argosy solve flow network.json",
		RunE: func(c *cobra.Command, args []string) error {
			n, err := readInput(c, args[0], dataset.Network)
			if err != nil {
				return err
			}
			start := time.Now()
			f, err := solve.MinCostFlow(n)
			if err != nil {
				return usage("%s: %v", args[0], err)
			}
			seconds := time.Since(start).Seconds()
			return printSolved(c, struct {
				Total      float64   `json:"total"`
				Flow       []int64   `json:"flow"` // on each arc
				Shipped    int64     `json:"shipped"`
				Unshipped  int64     `json:"unshipped"`
				Potentials []float64 `json:"potentials"`
				Seconds    float64   `json:"seconds"`
			}{f.Total, f.Arc, f.Shipped, f.Unshipped, f.Potential, seconds}, func(w io.Writer) {
				for k, a := range n.Arcs {
					if f.Arc[k] > 0 {
						fmt.Fprintf(w, "%d → %d: %d at %g\n", a.From, a.To, f.Arc[k], a.Cost)
					}
				}
				fmt.Fprintf(w, "%d shipped, %d not, total %g (%.3g s)\n", f.Shipped, f.Unshipped, f.Total, seconds)
			})
		},
	}
}
