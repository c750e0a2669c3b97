// Package strategy holds the presets: each is a composition of filters, a cost model and a solver, in a file of its
// own, and nothing else. The registry is a map literal. A bare name runs the rule as it was published, with the
// published defaults; improvements are options.
package strategy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/plan/schedule"
)

// Default is the preset of a crawl that names none.
const Default = "flow"

// Preset is an entry of the registry.
type Preset struct {
	Summary string
	Source  string
	Options []Option
	build   func(o *options) schedule.Composition
}

// Option of a preset: its values, the first of which is the default, and what it does. A value in angle brackets stands
// for any of its kind.
type Option struct {
	Name   string
	Values []string
	Means  string
	With   string // another option's value without which it says nothing; empty: it always does
}

var registry = map[string]Preset{
	"bandwidth":  bandwidth,
	"feedback":   feedback,
	"flow":       flow,
	"geo":        geo,
	"greedy":     greedy,
	"makespan":   makespan,
	"hash":       hash,
	"nearest":    nearest,
	"netblock":   netblock,
	"packing":    packing,
	"random":     random,
	"roundrobin": roundrobin,
	"suffix":     suffix,
}

// lacking are strategies and options of published systems that need what no job gives, and what that is.
var lacking = map[string]string{
	"market":         "nodes that have topics of their own, to hold tasks against; crawlers that trade what is about a job's topic are its market (--crawlers, market in a job file)",
	"independent":    "the node that each site's seed is from, and jobs do not say it",
	"hash,by=url":    "leases of single URLs; a lease is for a whole site, which goes by its host",
	"suffix,by=type": "leases of single URLs; a lease is for a whole site, whose files are of many types",
}

// Names returns the presets in order.
func Names() []string {
	return slices.Sorted(maps.Keys(registry))
}

// Describe returns the entry of a preset and what it is made of with its defaults.
func Describe(name string) (Preset, schedule.Composition, bool) {
	p, ok := registry[name]
	if !ok {
		return Preset{}, schedule.Composition{}, false
	}
	c, _ := compose(name, p, nil, true)
	return p, c, true
}

// New builds the strategy that spec names: a preset, then its options ("nearest,top=1"). What means nothing is refused.
func New(spec string) (schedule.Strategy, error) { return build(spec, true) }

// Recorded builds the strategy of a job or of a recording. Earlier versions took what means nothing in silence: it still does not count.
func Recorded(spec string) (schedule.Strategy, error) { return build(spec, false) }

func build(spec string, strict bool) (schedule.Strategy, error) {
	name, rest, more := strings.Cut(spec, ",")
	if needs, ok := lacking[name]; ok {
		return nil, fmt.Errorf("strategy %s: it needs %s", name, needs)
	}
	p, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("strategy %q: allowed are %s%s", name, strings.Join(Names(), ", "), plussed(spec))
	}
	given := map[string]string{}
	for kv := range strings.SplitSeq(rest, ",") {
		if kv == "" {
			if strict && more {
				return nil, noOption(name, spec)
			}
			continue
		}
		if needs, ok := lacking[name+","+kv]; ok {
			return nil, fmt.Errorf("strategy %s: option %s: it needs %s", name, kv, needs)
		}
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, fmt.Errorf("strategy %s: option %q: want key=value", name, kv)
		}
		if _, twice := given[k]; twice {
			return nil, fmt.Errorf("strategy %s: option %q is given twice", name, k)
		}
		given[k] = v
	}
	c, err := compose(name, p, given, strict)
	if err != nil {
		return nil, err
	}
	c.Options = rest
	return c, nil
}

// plussed says what a specification means that has plus signs where its options begin, as lists of strategies have them.
func plussed(spec string) string {
	name, rest, _ := strings.Cut(spec, "+")
	if _, ok := registry[name]; !ok {
		return ""
	}
	meant := name
	for at, part := range strings.Split(rest, "+") {
		sign := ","
		if at > 0 && !strings.Contains(part, "=") { // more of a list
			sign = "+"
		}
		meant += sign + part
	}
	if _, err := build(meant, true); err != nil {
		return fmt.Sprintf("; options follow a comma: %v", err)
	}
	return "; did you mean " + meant + "?"
}

// noOption says where a specification has a comma and no option.
func noOption(name, spec string) error {
	where := "between two commas"
	if strings.HasSuffix(spec, ",") {
		where = "after the last comma"
	}
	return fmt.Errorf("strategy %s: %q names no option %s: want key=value there, or no comma", name, spec, where)
}

func compose(name string, p Preset, given map[string]string, strict bool) (schedule.Composition, error) {
	o := &options{preset: name, known: p.Options, given: given, strict: strict}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		if o.find(k) == nil {
			o.fail("strategy %s: no option %q: allowed are %s", name, k, o.names())
		}
	}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		o.says(k)
	}
	c := p.build(o)
	c.Preset, c.Source = name, p.Source
	c.Filters = append(append([]schedule.Filter{}, schedule.Always...), c.Filters...)
	return c, o.err
}

// options reads the options of a preset; the first error stays.
type options struct {
	preset string
	known  []Option
	given  map[string]string
	strict bool // what means nothing fails
	err    error
}

func (o *options) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf(format, args...)
	}
}

// says refuses an option that is given and says nothing: without a value, or without the other option that it goes with.
func (o *options) says(name string) {
	opt := o.find(name)
	if opt == nil || !o.strict {
		return
	}
	if o.given[name] == "" {
		o.fail("strategy %s: option %s has no value: allowed are %s", o.preset, name, strings.Join(worded(opt.Values), ", "))
	}
	if other, value, needs := strings.Cut(opt.With, "="); needs && o.text(other) != value {
		o.fail("strategy %s: option %s says nothing with %s=%s: it goes with %s", o.preset, name, other, o.text(other), opt.With)
	}
}

// worded are the values that are a word.
func worded(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
}

func (o *options) find(name string) *Option {
	for i := range o.known {
		if o.known[i].Name == name {
			return &o.known[i]
		}
	}
	return nil
}

func (o *options) names() string {
	var out []string
	for _, k := range o.known {
		out = append(out, k.Name)
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

// text returns an option's value, the default if it is not given. What is not among its values fails, unless one of
// them stands for anything.
func (o *options) text(name string) string {
	opt := o.find(name)
	v, ok := o.given[name]
	if !ok {
		return opt.Values[0]
	}
	for _, allowed := range opt.Values {
		if v == allowed || strings.HasPrefix(allowed, "<") {
			return v
		}
	}
	o.fail("strategy %s: option %s=%s: allowed are %s", o.preset, name, v, strings.Join(opt.Values, ", "))
	return opt.Values[0]
}

// number returns an option's value as a number between lo and hi.
func (o *options) number(name string, lo, hi float64) float64 {
	v := o.text(name)
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || !(x >= lo && x <= hi) {
		o.fail("strategy %s: option %s=%s: want a number from %g to %g", o.preset, name, v, lo, hi)
		return lo
	}
	return x
}

// whole returns an option's value as a whole number between lo and hi.
func (o *options) whole(name string, lo, hi int) int {
	v := o.text(name)
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		o.fail("strategy %s: option %s=%s: want a whole number from %d to %d", o.preset, name, v, lo, hi)
		return lo
	}
	return n
}

func (o *options) on(name string) bool { return o.text(name) == "on" }

// distinct refuses names that are none, or are named twice.
func (o *options) distinct(name string, names []string) []string {
	for i, x := range names {
		switch {
		case !o.strict:
		case x == "":
			o.fail("strategy %s: option %s=%s: a name is empty", o.preset, name, o.given[name])
		case slices.Contains(names[:i], x):
			o.fail("strategy %s: option %s=%s: %s is named twice", o.preset, name, o.given[name], x)
		}
	}
	return names
}

// list returns an option's value split at plus signs.
func (o *options) list(name string) []string {
	v := o.text(name)
	if v == "" {
		return nil
	}
	return strings.Split(v, "+")
}
