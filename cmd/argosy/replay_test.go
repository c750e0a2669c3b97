package main

import (
	"slices"
	"testing"

	"argosy/internal/crawl"
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
