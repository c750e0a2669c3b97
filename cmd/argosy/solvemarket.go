package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/plan/dataset"
	"argosy/internal/plan/solve"
)

func newSolveMarket() *cobra.Command {
	var step, epsilon float64
	var trace bool
	var reserve, places, rule string
	c := &cobra.Command{
		Use: "market FILE", Short: "Clear a market of buyers (rows) and items (columns)", Args: cobra.ExactArgs(1),
		Long: `Market finds prices at which every buyer gets what he wants most. FILE holds valuations, rows buyers, columns items.
By default an ascending auction, round by round: --step is honoured where it divides all valuations, otherwise prices
rise by the smallest amount that changes what somebody wants, which always ends. --rule exact raises an over-demanded set, --rule paper
every item that more than one buyer points at, as published; should that not end in 5000 rounds, the exact rule begins anew
and the output says so. With --epsilon, or with --places, an
auction with falling increments, in which a buyer may take several items; it is within n·epsilon of the best.`,
		Example: "  argosy solve market valuations.csv --step 1 --trace\n  argosy solve market valuations.csv --epsilon 0.01 --places 10,10,5",
		RunE: func(c *cobra.Command, args []string) error {
			lots := c.Flags().Changed("epsilon") || places != ""
			if lots && (c.Flags().Changed("step") || c.Flags().Changed("rule") || reserve != "" || trace) {
				return usage("--epsilon and --places do not go with --step, --rule, --reserve and --trace")
			}
			by, ok := map[string]solve.MarketRule{"exact": solve.RuleExact, "paper": solve.RulePaper}[rule]
			if !ok {
				return usage("--rule %q: allowed are exact and paper", rule)
			}
			v, err := readInput(c, args[0], func(r io.Reader) (solve.Matrix, error) { return dataset.Matrix(r, false) })
			if err != nil {
				return err
			}
			if lots {
				return solveLots(c, v, places, epsilon)
			}
			o := solve.MarketOptions{Step: step, Trace: trace, Rule: by}
			if reserve != "" {
				if o.Reserve, err = numbers("--reserve", reserve); err != nil {
					return err
				}
				o.Abstain = true
			}
			return solveMarket(c, v, o)
		},
	}
	f := c.Flags()
	f.Float64Var(&step, "step", 0, "price step; 0 is the smallest rise that changes a demand")
	f.StringVar(&rule, "rule", "exact", "which prices rise: exact, or paper")
	f.StringVar(&reserve, "reserve", "", "starting prices of the items, separated by commas; a buyer may then take nothing")
	f.Float64Var(&epsilon, "epsilon", 0, "last increment of the auction with falling increments; 0 chooses one")
	f.StringVar(&places, "places", "", "how many items each buyer takes at most, separated by commas; default 1")
	f.BoolVar(&trace, "trace", false, "print each round's prices and preferred items to standard error")
	return c
}

func numbers(flag, s string) ([]float64, error) {
	var out []float64
	for _, p := range strings.Split(s, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil {
			return nil, usage("%s %q: %q is not a number", flag, s, p)
		}
		out = append(out, x)
	}
	return out, nil
}

func solveMarket(c *cobra.Command, v solve.Matrix, o solve.MarketOptions) error {
	start := time.Now()
	m, err := solve.ClearMarket(v, o)
	if err != nil {
		return usage("%v", err)
	}
	seconds := time.Since(start).Seconds()
	for n, r := range m.Trace {
		fmt.Fprintf(os.Stderr, "round %d: prices %v\n", n+1, r.Prices)
		for b, want := range r.Preferred {
			fmt.Fprintf(os.Stderr, "  buyer %d wants %s\n", b+1, list(want, 1))
		}
		if len(r.Raised) > 0 {
			fmt.Fprintf(os.Stderr, "  over-demanded: %s\n", list(r.Raised, 1))
		} else {
			fmt.Fprintln(os.Stderr, "  a perfect matching: the market clears")
		}
	}
	out := struct {
		Prices     []float64 `json:"prices"`
		Assignment []int     `json:"assignment"`
		Rounds     int       `json:"rounds"`
		Total      float64   `json:"total_valuation"`
		Step       any       `json:"step"`
		Seconds    float64   `json:"seconds"`
		TookOver   int       `json:"exact_rule_from_round,omitempty"`
	}{m.Prices, m.Item, m.Rounds, m.Valuation, "smallest rise", seconds, m.TookOver}
	if m.Step > 0 {
		out.Step = m.Step
	}
	return printSolved(c, out, func(w io.Writer) {
		for b, i := range m.Item {
			if i >= 0 {
				fmt.Fprintf(w, "buyer %d: item %d at %g\n", b+1, i+1, m.Prices[i])
			} else {
				fmt.Fprintf(w, "buyer %d: nothing\n", b+1)
			}
		}
		if m.TookOver > 0 {
			fmt.Fprintf(w, "the published rule did not end in %d rounds: these prices are the exact rule's\n", m.TookOver)
		}
		fmt.Fprintf(w, "%d rounds, total valuation %g (%.3g s)\n", m.Rounds, m.Valuation, seconds)
	})
}

// maxBids bounds an auction, in which each item and each place look at all buyers many times over: minutes.
const maxBids = 2_000_000_000

func solveLots(c *cobra.Command, v solve.Matrix, places string, epsilon float64) error {
	room := make([]int, v.Rows)
	for b := range room {
		room[b] = 1
	}
	if places != "" {
		ns, err := numbers("--places", places)
		if err != nil {
			return err
		}
		if len(ns) != v.Rows {
			return usage("--places: %d numbers for %d buyers", len(ns), v.Rows)
		}
		for b, x := range ns {
			if x < 0 || x != math.Trunc(x) || x > 1e6 {
				return usage("--places: %g is not a number of places", x)
			}
			room[b] = int(x)
		}
	}
	bidders := v.Cols
	for _, n := range room {
		bidders += min(n, v.Cols)
	}
	if bidders*v.Rows > maxBids {
		return usage("%d buyers, and %d items and places: want at most %d of the one times the other", v.Rows, bidders, maxBids)
	}
	start := time.Now()
	l, err := solve.ClearLots(v, room, epsilon)
	if err != nil {
		return usage("%v", err)
	}
	seconds := time.Since(start).Seconds()
	return printSolved(c, struct {
		Prices  []float64 `json:"prices"`
		Buyer   []int     `json:"buyers"` // of each item, -1 nobody
		Worth   []float64 `json:"place_prices"`
		Bids    int       `json:"bids"`
		Total   float64   `json:"total_valuation"`
		Bound   float64   `json:"within"`
		Seconds float64   `json:"seconds"`
	}{l.Prices, l.Buyer, l.Worth, l.Bids, l.Valuation, l.Bound, seconds}, func(w io.Writer) {
		for i, b := range l.Buyer {
			if b >= 0 {
				fmt.Fprintf(w, "item %d: buyer %d at %g\n", i+1, b+1, l.Prices[i])
			} else {
				fmt.Fprintf(w, "item %d: nobody\n", i+1)
			}
		}
		fmt.Fprintf(w, "total valuation %g, within %g of the best (%d bids, %.3g s)\n", l.Valuation, l.Bound, l.Bids, seconds)
	})
}
