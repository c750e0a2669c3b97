// Package strategy holds the presets: each is a composition of filters, a cost model and a solver, in a file of its
// own, and nothing else. The registry is a map literal.
package strategy

import (
	"fmt"
	"sort"
	"strings"

	"argosy/internal/schedule"
)

// Default is the preset of a crawl that names none.
const Default = "roundrobin"

// Config are the options behind a preset's name ("name,key=value,…").
type Config map[string]string

var registry = map[string]func(Config) (schedule.Strategy, error){
	"roundrobin": newRoundRobin,
}

// New builds the strategy that spec names: a preset, then its options.
func New(spec string) (schedule.Strategy, error) {
	name, rest, _ := strings.Cut(spec, ",")
	build, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("strategy %q: allowed are %s", name, strings.Join(Names(), ", "))
	}
	c := Config{}
	for kv := range strings.SplitSeq(rest, ",") {
		if kv == "" {
			continue
		}
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, fmt.Errorf("strategy %q: option %q: want key=value", name, kv)
		}
		c[k] = v
	}
	return build(c)
}

// Names returns the presets in order.
func Names() []string {
	out := make([]string, 0, len(registry))
	for n := range registry {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// unknown refuses options that a preset does not have.
func unknown(name string, c Config) error {
	for k := range c {
		return fmt.Errorf("strategy %q: unknown option %q", name, k)
	}
	return nil
}
