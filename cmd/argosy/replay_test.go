package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/outdir"
	"argosy/internal/plan/lab"
	"argosy/internal/plan/sim"
)

// A recording is replayed as it was recorded, under its own strategy and under those that are asked for, each once; not under one that goes by
// what it does not tell.
func TestReplayable(t *testing.T) {
	placed := map[string]sim.RecordedSite{"a.test": {Place: crawl.Place{Lat: 47, Lon: 8}}}
	for name, c := range map[string]struct {
		own         string
		sites       map[string]sim.RecordedSite
		asked, want []string // nil: refused
	}{
		"own":                 {"flow", nil, nil, []string{sim.AsRecorded, "flow"}},
		"others":              {"flow", nil, []string{"random", "flow", "random"}, []string{sim.AsRecorded, "flow", "random"}},
		"no places":           {"flow", nil, []string{"geo"}, nil},
		"places":              {"flow", placed, []string{"geo"}, []string{sim.AsRecorded, "flow", "geo"}},
		"own without places":  {"geo", nil, nil, nil},
		"others of such":      {"geo", nil, []string{"random"}, []string{"random"}},
		"own of an older one": {"", nil, []string{"random"}, []string{"random"}},
	} {
		got, err := replayable(&sim.Recording{Strategy: c.own, Sites: c.sites}, c.asked)
		if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The job of a recording is the only one, or one that is there: what there is, is said.
func TestRecordedJob(t *testing.T) {
	for _, c := range []struct {
		jobs        []uint32
		asked, want uint32
		says        string
	}{
		{[]uint32{3}, 0, 3, ""}, {[]uint32{3, 4}, 4, 4, ""}, {nil, 0, 0, "d holds no job"}, {nil, 2, 0, "d holds no job"}, {[]uint32{3}, 9, 0, "--job 9: d has job 3"},
		{[]uint32{3, 4}, 0, 0, "--job: d has jobs 3, 4: name one"}, {[]uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 20, 0, "--job 20: d has jobs 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"},
	} {
		id, err := recordedJob(c.jobs, c.asked, "d")
		if id != c.want || (err == nil) != (c.says == "") || err != nil && err.Error() != c.says {
			t.Errorf("%v, %d: %d, %v", c.jobs, c.asked, id, err)
		}
	}
}

// A ledger without a byte holds nothing that was recorded, and is left as it is.
func TestEmptyLedger(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{outdir.FormatFile: `{"format":1}`, outdir.LedgerFile: ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, _, says := argosy(t, "lab", "replay", dir)
	if st, err := os.Stat(filepath.Join(dir, outdir.LedgerFile)); code != exitUsage || !strings.Contains(says, "its argosy.db is empty") || err != nil || st.Size() != 0 {
		t.Errorf("%d, %q, %v", code, says, err)
	}
}

// A list of strategies has their options after plus signs, and may name several nodes by plus signs, too.
func TestOptionsInLists(t *testing.T) {
	for list, alone := range map[string]string{
		"flow": "flow", "nearest+top=auto+count=4": "nearest,top=auto,count=4", "nearest+landmarks=n1+n2+n3+top=1": "nearest,landmarks=n1+n2+n3,top=1",
		"nearest,landmarks=n1": "nearest,landmarks=n1", "flow+": "flow,", "flow+probes": "flow,probes", "flow+probes=0+": "flow,probes=0,", "flow+x+probes=0": "flow,x,probes=0",
	} {
		if got := optioned(list); got != alone {
			t.Errorf("%s: %s, want %s", list, got, alone)
		}
	}
}

// What nodes are worth under a strategy that a recording did not run with is told as what it is.
func TestAdviceSaysWhatItDoesNotKnow(t *testing.T) {
	a := &lab.Advice{
		Strategies: []lab.Replays{{Strategy: "greedy", Rates: []float64{2}, Seconds: []float64{1}}, {Strategy: "flow", Rates: []float64{1}, Seconds: []float64{2}}},
		Drops:      []lab.Drop{{Node: "n1", Loss: 0.1}, {Node: "n2", Loss: 0.2}},
	}
	for own, warned := range map[string]bool{"greedy": false, "flow": true} {
		var out strings.Builder
		r := &sim.Recording{Strategy: own, Uncounted: warned, Nodes: make([]sim.RecordedNode, 2)}
		if err := printAdvice(&out, r, a, 1); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"losses are under greedy", "what sites have left is not known"} {
			if strings.Contains(out.String(), line) != warned {
				t.Errorf("a recording under %s: %q is told: %v, want %v", own, line, !warned, warned)
			}
		}
	}
}
