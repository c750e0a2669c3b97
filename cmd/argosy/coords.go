package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/plan/dataset"
	"argosy/internal/plan/netcoord"
)

func newCoords() *cobra.Command {
	var n, dim int
	var seed uint64
	var model, given string
	var asJSON, points bool
	c := &cobra.Command{
		Use: "coords FILE", Short: "Fit network coordinates to measured delays and say how well they predict", Args: cobra.ExactArgs(1),
		Long: `Coords chooses landmarks, gives them and all other hosts coordinates by the delays to the landmarks alone, and
compares the distances with the delays that it has not used. FILE is a square matrix of round-trip times in ms (-1, 0
off the diagonal and NaN are missing), or lines "i j rtt". --model paper is GNP as published; heights adds each
host's own access link; auto takes the one of four (those two, one that holds hosts back, and a blend of the three and the
triangle inequality, for networks that change) that does best on a tenth of the pairs that are not to landmarks, and is judged
by the rest.`,
		Example: "  argosy coords rtt.txt --landmarks 9 --dim 8\n  argosy coords rtt.txt.gz --model heights --json",
		RunE: func(c *cobra.Command, args []string) error {
			cfg := netcoord.Paper()
			if err := oneOf("--model", model, "paper", "heights", "auto"); err != nil {
				return err
			}
			if model == "auto" && (points || c.Flags().Changed("dim")) {
				return usage("--model auto goes without --dim and --points: a blend has several spaces")
			}
			if model == "heights" {
				cfg = netcoord.WithHeights()
			}
			if c.Flags().Changed("dim") {
				cfg.Dim = dim
			}
			cfg.Seed = seed
			if err := cfg.Validate(); err != nil {
				return usage("--dim: %v", err)
			}
			if c.Flags().Changed("given") && (given == "" || c.Flags().Changed("landmarks")) {
				return usage("--given: want the numbers of landmarks, and then no --landmarks")
			}
			marks, err := landmarkNumbers(given)
			if err != nil {
				return err
			}
			delay, err := readInput(c, args[0], dataset.Delays)
			if err != nil {
				return err
			}
			if n < 2 || n > len(delay) {
				return usage("--landmarks %d: want 2 to %d, the number of hosts", n, len(delay))
			}
			start := time.Now()
			if model == "auto" {
				return chooseCoords(c, args[0], delay, marks, n, seed, asJSON)
			}
			e, err := netcoord.Evaluate(cfg, delay, marks, n)
			if err != nil {
				return usage("%s: %v", args[0], err)
			}
			return printCoords(c, e, netcoord.Triangles(delay), cfg, time.Since(start), asJSON, points)
		},
	}
	f := c.Flags()
	f.IntVar(&n, "landmarks", 9, "hosts that all others are measured to, spread by the greedy k-centre rule")
	f.StringVar(&given, "given", "", "landmarks by number, from 0, separated by commas")
	f.IntVar(&dim, "dim", 8, "dimensions (default 8 for paper, 5 for heights)")
	f.Uint64Var(&seed, "seed", 0, "of the starts of the fits")
	f.StringVar(&model, "model", "paper", "paper, heights or auto")
	f.BoolVar(&points, "points", false, "print the coordinates too")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// chooseCoords chooses a model by a tenth of the pairs and judges it by the rest.
func chooseCoords(c *cobra.Command, file string, delay [][]float64, marks []int, n int, seed uint64, asJSON bool) error {
	start := time.Now()
	marks, err := netcoord.Landmarks(delay, marks, n)
	if err != nil {
		return usage("%s: %v", file, err)
	}
	models, left := netcoord.Models(), netcoord.Tenth(seed)
	best, scores, err := netcoord.Choose(models, delay, marks, left)
	if errors.Is(err, netcoord.ErrNoPairs) {
		return usage("%s: none of the %d measured pairs that are not to landmarks is in the tenth that --model auto chooses by: want more hosts, another --seed, or --model paper or heights", file, pairsBeside(delay, marks))
	}
	if err != nil {
		return usage("%s: %v", file, err)
	}
	v := best.Judge(delay, func(h, g int) bool { return !left(h, g) })
	took, triangles := time.Since(start).Seconds(), netcoord.Triangles(delay)
	by := map[string]*float64{}
	for k, m := range models {
		by[m.Name] = known(scores[k])
	}
	out := c.OutOrStdout()
	if asJSON {
		return printJSON(out, struct {
			Model     string              `json:"model"`
			Scores    map[string]*float64 `json:"scores"`  // of each model, on the pairs that it was chosen by
			P90       *float64            `json:"p90_off"` // of |p − t| / min(p, t)
			Median    *float64            `json:"median_off"`
			Hits      float64             `json:"hits"` // hosts whose nearest other is the one that is predicted to be
			Pairs     int                 `json:"pairs"`
			Landmarks []int               `json:"landmarks"`
			Triangles *float64            `json:"violated_triangles"`
			Seconds   float64             `json:"seconds"`
		}{best.Model.Name, by, known(v.P90), known(v.Median), v.Hits, v.Pairs, marks, known(triangles), took})
	}
	t := newColumns(out)
	fmt.Fprintf(t, "model\t%s\n", best.Model.Name)
	for k, m := range models {
		fmt.Fprintf(t, "  %s, on the tenth that it was chosen by\t%.3f\n", m.Name, scores[k])
	}
	fmt.Fprintf(t, "landmarks\t%v\npairs that neither fit nor choice has seen\t%d\n", marks, v.Pairs)
	fmt.Fprintf(t, "|p − t| / min(p, t), median\t%.3f\n|p − t| / min(p, t), 90th percentile\t%.3f\nhosts whose nearest was predicted\t%.3f\n", v.Median, v.P90, v.Hits)
	if triangles == triangles {
		fmt.Fprintf(t, "triangles that violate the triangle inequality\t%.2f %%\n", 100*triangles)
	}
	fmt.Fprintf(t, "fitted in\t%.2f s\n", took)
	return t.Flush()
}

// pairsBeside is how many pairs of hosts that are no landmarks were measured.
func pairsBeside(delay [][]float64, marks []int) (n int) {
	for h := range delay {
		for g := range h {
			if !slices.Contains(marks, h) && !slices.Contains(marks, g) && (delay[h][g] > 0 || delay[g][h] > 0) {
				n++
			}
		}
	}
	return n
}

func landmarkNumbers(s string) (out []int, err error) {
	if s == "" {
		return nil, nil
	}
	for _, p := range strings.Split(s, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil {
			return nil, usage("--given %q: %q is not a number", s, p)
		}
		out = append(out, k)
	}
	return out, nil
}

// hostCoord is a coordinate as it is printed.
type hostCoord struct {
	Host   int       `json:"host"`
	X      []float64 `json:"x"`
	Height float64   `json:"height"`
	Trust  float64   `json:"confidence"` // 0 to 1
}

// known is nothing where a figure is not a number, which JSON has no word for.
func known(x float64) *float64 {
	if x != x {
		return nil
	}
	return &x
}

func printCoords(c *cobra.Command, e netcoord.Evaluation, triangles float64, cfg netcoord.Config, took time.Duration, asJSON, points bool) error {
	accuracy := map[string]float64{}
	shares := []float64{0, 0.1, 0.2, 0.3}
	for _, s := range shares {
		if a := netcoord.Accuracy(e.Errors, s); !math.IsNaN(a) {
			accuracy[strconv.Itoa(int(100*s))] = a
		}
	}
	if len(e.Errors) == 0 {
		return usage("no delay is left that was not fitted: more hosts, or fewer landmarks")
	}
	var coords []hostCoord
	if points {
		for h, p := range e.Coords {
			if p.Known() {
				coords = append(coords, hostCoord{h, p.X, p.Height, p.Confidence()})
			}
		}
	}
	out := c.OutOrStdout()
	if asJSON {
		return printJSON(out, struct {
			Median    float64            `json:"median_error"`
			P90       float64            `json:"p90_error"`
			Accuracy  map[string]float64 `json:"accuracy"` // by the share of the worst pairs that is dropped, %
			Pairs     int                `json:"pairs"`
			Triangles *float64           `json:"violated_triangles"` // share of all; null where there are none
			Landmarks []int              `json:"landmarks"`
			Dim       int                `json:"dim"`
			Coords    []hostCoord        `json:"coords,omitempty"`
			Seconds   float64            `json:"seconds"`
		}{e.Median, e.P90, accuracy, len(e.Errors), known(triangles), e.Landmarks, cfg.Dim, coords, took.Seconds()})
	}
	t := newColumns(out)
	fmt.Fprintf(t, "landmarks\t%v\n", e.Landmarks)
	fmt.Fprintf(t, "pairs that were not fitted\t%d\n", len(e.Errors))
	fmt.Fprintf(t, "relative error, median\t%.3f\n", e.Median)
	fmt.Fprintf(t, "relative error, 90th percentile\t%.3f\n", e.P90)
	for _, s := range shares {
		fmt.Fprintf(t, "accuracy without the worst %.0f %%\t%.3f\n", 100*s, netcoord.Accuracy(e.Errors, s))
	}
	if triangles == triangles {
		fmt.Fprintf(t, "triangles that violate the triangle inequality\t%.2f %%\n", 100*triangles)
	}
	fmt.Fprintf(t, "fitted in\t%.2f s\n", took.Seconds())
	for _, p := range coords {
		fmt.Fprintf(t, "host %d\t%.2f + %.2f, confidence %.2f\n", p.Host, p.X, p.Height, p.Trust)
	}
	return t.Flush()
}
