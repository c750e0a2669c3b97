package sim

import (
	"argosy/internal/strategy"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestDbg(t *testing.T) {
	specs := []string{"random", "nearest,top=1", "nearest", "nearest,top=auto", "bandwidth", "roundrobin", "flow"}
	if s := os.Getenv("SPECS"); s != "" {
		specs = strings.Split(s, " ")
	}
	show := func(title string, mk func(seed uint64) World) {
		for _, sp := range specs {
			var share, bits, comp, p95, mean, moves float64
			n := 2
			s := time.Now()
			pr := 0.0
			for seed := range uint64(n) {
				st, err := strategy.New(sp)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(mk(seed), st)
				if err != nil {
					t.Fatal(err)
				}
				share += r.Share() / float64(n)
				bits += r.Bits / float64(n)
				moves += float64(r.Moves) / float64(n)
				pr += float64(r.Probes) / float64(n)
				if r.Asked > 0 {
					comp += r.Completed / r.Asked / float64(n)
					p95 += r.P95 / float64(n)
					mean += r.Mean / float64(n)
				}
			}
			w := mk(0)
			fmt.Printf("%-12s %-18s share %.3f  MB/min %.1f comp %.3f mean %.1f p95 %.1f moves %.0f probes %.0f  %v\n", title, sp, share, bits/8e6/(float64(w.Horizon)/60000), comp, mean, p95, moves, pr, time.Since(s).Round(time.Millisecond))
		}
	}
	only := os.Getenv("ONLY")
	if only == "" || only == "china" {
		show("china2x", func(s uint64) World { return Throughput(China(203, .3, s), 2, 60, s) })
	}
	if only == "" || only == "turns" {
		show("turnsbad", func(s uint64) World { return TurnsBad(Throughput(China(203, .3, s), 2, 60, s), 0, 5, 12) })
	}
	if only == "" || only == "coming" {
		show("coming", func(s uint64) World { return Coming(Throughput(China(203, .3, s), 2, 60, s)) })
	}
	if only == "" || only == "skew" {
		show("skewed", func(s uint64) World { return Skewed(Throughput(China(203, .3, s), 2, 60, s), 1) })
	}
	if only == "" || only == "change" {
		show("changing", func(s uint64) World { return Changing(30, 200, 240, .9, 2, s) })
	}
}
