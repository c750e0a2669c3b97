package lab

import (
	"embed"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/plan/sim"
)

// Scenario is an experiment as a file states it. What is not given is as in NewScenario, or, where that says nothing, what its experiment
// usually has.
type Scenario struct {
	Name       string   `yaml:"name" doc:"what it is called"`
	Title      string   `yaml:"title" doc:"headline of its report"`
	About      string   `yaml:"about" doc:"what it shows"`
	Experiment string   `yaml:"experiment" doc:"what is run" enum:"worlds bandwidth packing feedback policies market coordinates throughput volatile"`
	Seeds      int      `yaml:"seeds" doc:"worlds or draws; each gives one figure of the sample that intervals are of" min:"0" max:"1000"`
	Strategies []string `yaml:"strategies" doc:"worlds, throughput: what is compared, names with options as argosy strategies lists them, or oracle"`

	World       World       `yaml:"world" doc:"worlds: what the world is like"`
	Vary        Vary        `yaml:"vary" doc:"worlds: one term that takes several values"`
	Packing     Packing     `yaml:"packing" doc:"packing: what comes, and what nodes cost"`
	Feedback    Feedback    `yaml:"feedback" doc:"feedback, policies: the fleet and how sites change"`
	Coordinates Coordinates `yaml:"coordinates" doc:"coordinates: which models, on what"`
	Throughput  Throughput  `yaml:"throughput" doc:"throughput: the fleet of the coordinates paper"`
}

// World says what a made world is like: a kind, and what is different from it.
type World struct {
	Kind     string   `yaml:"kind" doc:"one of argosy lab list --kinds; the terms below change it (default equal)"`
	Nodes    *int     `yaml:"nodes" doc:"nodes" min:"1" max:"1000"`
	Sites    *int     `yaml:"sites" doc:"sites" min:"1" max:"100000"`
	Minutes  *int     `yaml:"minutes" doc:"how long it lasts" min:"1" max:"1440"`
	Capacity *float64 `yaml:"capacity" doc:"bandwidth of all nodes, of what random placement would ask for; 0: no limit" min:"0" max:"1000000"`
	Strong   *int     `yaml:"strong" doc:"nodes that are stronger than the others" min:"0" max:"1000"`
	Factor   *float64 `yaml:"factor" doc:"how much stronger" min:"0" max:"1000000"`
	Spread   *float64 `yaml:"spread" doc:"standard deviation of the logarithm of nodes' bandwidths" min:"0" max:"5"`
	Stores   *float64 `yaml:"stores" doc:"the same of bandwidths to storage; 0: storing limits nothing" min:"0" max:"5"`
	Places   *int     `yaml:"places" doc:"leases at once of a node; 0: enough for all sites" min:"0" max:"1000000"`
	Limits   *bool    `yaml:"limits" doc:"sites have limits of their own"`
	Tells    *float64 `yaml:"tells" doc:"spread of a path's speed around what its delay says, as a logarithm" min:"0" max:"5"`
	Blind    *bool    `yaml:"blind" doc:"delay says nothing of speed"`
	Noise    *float64 `yaml:"noise" doc:"spread of a lease's speed around its path's, as a logarithm" min:"0" max:"5"`
	Drift    *float64 `yaml:"drift" doc:"how far paths wander in an hour, as a logarithm" min:"0" max:"5"`
	Blocked  *float64 `yaml:"blocked" doc:"share of pairs that are shut out for good" min:"0" max:"1"`
	Bans     *float64 `yaml:"bans" doc:"pairs that are shut out each minute, for five minutes" min:"0" max:"1000"`
	Gap      *float64 `yaml:"gap" doc:"mean seconds between two requests to a site" min:"0" max:"3600"`
	Sizes    *float64 `yaml:"sizes" doc:"spread of what sites hold, as a logarithm; 0: without end" min:"0" max:"5"`
}

// Vary is one term that takes several values.
type Vary struct {
	Term   string    `yaml:"term" doc:"one of the terms of world"`
	Values []float64 `yaml:"values" doc:"what it is, one after the other; each once, and at most fifty"`
}

// Packing is what comes to a fleet that is paid by the node.
type Packing struct {
	Nodes     int     `yaml:"nodes" doc:"nodes there are (default 40)" min:"1" max:"1000"`
	Tasks     int     `yaml:"tasks" doc:"tasks that come (default 400)" min:"1" max:"100000"`
	Load      float64 `yaml:"load" doc:"of all nodes' scarcest resource that tasks take on average (default 0.4)" min:"0.01" max:"0.9"`
	Unequal   float64 `yaml:"unequal" doc:"spread of nodes' sizes, as a logarithm (default 0.4)" min:"0" max:"2"`
	Reserve   float64 `yaml:"reserve" doc:"price of a reserved node (default 1)" min:"0" max:"1000000"`
	Use       float64 `yaml:"use" doc:"price of a node while it works (default 2)" min:"0" max:"1000000"`
	Surcharge float64 `yaml:"surcharge" doc:"price of a node taken on (default 5)" min:"0" max:"1000000"`
}

// Feedback is the fleet of the feedback paper.
type Feedback struct {
	Nodes   int     `yaml:"nodes" doc:"nodes (default 4)" min:"1" max:"100"`
	Sites   int     `yaml:"sites" doc:"sites (default 5)" min:"1" max:"1000"`
	Changes int     `yaml:"changes" doc:"times that a site changes how it treats the nodes (default 6)" min:"0" max:"10000"`
	Load    float64 `yaml:"load" doc:"work that comes, of what the nodes can do (default 0.6)" min:"0.01" max:"2"`
	Hours   int     `yaml:"hours" doc:"how long it lasts (default 5)" min:"1" max:"48"`
	Stuck   float64 `yaml:"stuck" doc:"share of pairs on which leases get stuck now and then (default 0.2)" min:"0" max:"1"`
	Slots   int     `yaml:"slots" doc:"leases at once of a node, which share what one of them could have alone (default 1)" min:"1" max:"1000"`
	Spread  float64 `yaml:"spread" doc:"standard deviation of the logarithm of a task's pages (default 0: all have 20)" min:"0" max:"3"`
	Gap     float64 `yaml:"gap" doc:"seconds between two requests that a third of the sites ask for; then a site is asked by one lease at a time (default 0)" min:"0" max:"60"`
}

// Coordinates says which models are fitted.
type Coordinates struct {
	Hosts     int   `yaml:"hosts" doc:"hosts of a draw, from the recorded network or made (default 150)" min:"40" max:"1000"`
	Dims      []int `yaml:"dims" doc:"dimensions (default 2 to 8)"`
	Landmarks []int `yaml:"landmarks" doc:"landmarks (default 9, 7, 5)"`
}

// Throughput is the experiment of the coordinates paper.
type Throughput struct {
	Sites    int     `yaml:"sites" doc:"sites (default 203)" min:"1" max:"10000"`
	Minutes  int     `yaml:"minutes" doc:"how long it lasts (default 12)" min:"1" max:"600"`
	Capacity float64 `yaml:"capacity" doc:"bandwidth of a node, of what random placement asks for; 0: no limit (default 1.5)" min:"0" max:"1000000"`
	Spread   float64 `yaml:"spread" doc:"spread of a path's speed around what its delay says (default 0.3)" min:"0" max:"3"`
}

//go:embed scenarios/*.yaml
var files embed.FS

// Builtin returns the text of the scenarios that come with the program, by the names of their files, in their order.
func Builtin() (names []string, text map[string][]byte, err error) {
	text = map[string][]byte{}
	err = fs.WalkDir(files, "scenarios", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		name := strings.TrimSuffix(strings.TrimPrefix(path, "scenarios/"), ".yaml")
		names, text[name] = append(names, name), b
		return err
	})
	return names, text, err
}

// NewScenario is what a scenario is where its file says nothing.
func NewScenario() Scenario {
	return Scenario{
		Packing:     Packing{Nodes: 40, Tasks: 400, Load: 0.4, Unequal: 0.4, Reserve: 1, Use: 2, Surcharge: 5},
		Feedback:    Feedback{Nodes: 4, Sites: 5, Changes: 6, Load: 0.6, Hours: 5, Stuck: 0.2, Slots: 1},
		Coordinates: Coordinates{Hosts: 150},
		Throughput:  Throughput{Sites: fleetSites, Minutes: 12, Capacity: 1.5, Spread: 0.3},
	}
}

// ReadsData reports whether recorded measurements take the place of what a scenario makes (Config.Data).
func (s *Scenario) ReadsData() bool {
	return s.Experiment == "coordinates" || s.Experiment == "volatile"
}

// readBy are the experiments that read a part of a scenario; the others would not notice it.
var readBy = map[string][]string{
	"strategies": {"worlds", "throughput"}, "world": {"worlds"}, "vary": {"worlds"}, "packing": {"packing"}, "feedback": {"feedback", "policies"},
	"coordinates": {"coordinates"}, "throughput": {"throughput"},
}

// unread refuses what a scenario says that its experiment does not look at.
func (s *Scenario) unread() error {
	given, usual := reflect.ValueOf(*s), reflect.ValueOf(NewScenario())
	for i := range given.NumField() {
		name := given.Type().Field(i).Tag.Get("yaml")
		of, some := readBy[name]
		if some && !slices.Contains(of, s.Experiment) && !reflect.DeepEqual(given.Field(i).Interface(), usual.Field(i).Interface()) {
			return fmt.Errorf("%s: the experiment %s does not look at it: it goes with %s", name, s.Experiment, strings.Join(of, " and "))
		}
	}
	return nil
}

// Check refuses what cannot be run.
func (s *Scenario) Check() error {
	if s.Name == "" {
		return fmt.Errorf("name: it needs one")
	}
	if experiments[s.Experiment].plan == nil {
		return fmt.Errorf("experiment: %q: allowed are %s", s.Experiment, strings.Join(experimentNames(), ", "))
	}
	if err := s.unread(); err != nil {
		return err
	}
	for k, spec := range s.Strategies {
		if err := Compares(spec); err != nil {
			return fmt.Errorf("strategies: %w", err)
		}
		if slices.Contains(s.Strategies[:k], spec) {
			return fmt.Errorf("strategies: %s is named twice", spec)
		}
	}
	if err := s.Coordinates.check(); err != nil {
		return err
	}
	if err := s.checkWorlds(); err != nil {
		return err
	}
	return s.checkNames()
}

// check refuses models that cannot be fitted to so many hosts.
func (c Coordinates) check() error {
	for _, d := range c.Dims {
		if d < 1 || d > 16 {
			return fmt.Errorf("coordinates.dims: %d: allowed are 1 to 16", d)
		}
	}
	for _, n := range c.Landmarks {
		if most := min(64, c.Hosts/2); n < 3 || n > most {
			return fmt.Errorf("coordinates.landmarks: %d: allowed are 3 to %d, with %d hosts", n, most, c.Hosts)
		}
	}
	return nil
}

// checkWorlds refuses worlds that there are not.
func (s *Scenario) checkWorlds() error {
	terms, err := s.World.terms()
	if err == nil {
		err = s.World.alone(terms, s.Vary.Term)
	}
	if err == nil && s.Vary.Term == "" {
		err = stronger(terms)
	}
	if err != nil {
		return err
	}
	if (s.Vary.Term == "") != (len(s.Vary.Values) == 0) {
		return fmt.Errorf("vary: it needs a term and its values")
	}
	if len(s.Vary.Values) > 50 {
		return fmt.Errorf("vary.values: %d: at most 50", len(s.Vary.Values))
	}
	for k, v := range s.Vary.Values {
		if slices.Contains(s.Vary.Values[:k], v) {
			return fmt.Errorf("vary.values: %g is given twice", v)
		}
		terms, err := s.varied(v)
		if err == nil {
			err = stronger(terms)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// goWith are the terms of a world that say nothing without another.
var goWith = map[string]string{"factor": "strong", "spread": "capacity", "stores": "capacity"}

// alone refuses terms that are given, or vary, without the one that they go with.
func (w World) alone(t sim.Terms, varies string) error {
	given, all := reflect.ValueOf(w), reflect.ValueOf(t)
	for i := range given.NumField() {
		name, p := given.Type().Field(i).Tag.Get("yaml"), given.Field(i)
		with, some := goWith[name]
		if said := name == varies || p.Kind() == reflect.Pointer && !p.IsNil() && !p.Elem().IsZero(); !some || !said || with == varies {
			continue
		}
		field, _ := given.Type().FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, with) })
		if all.FieldByName(field.Name).IsZero() {
			return fmt.Errorf("world.%s: it says nothing where %s is 0", name, with)
		}
	}
	return nil
}

// stronger refuses strong nodes of which nothing says how strong they are, for a bandwidth of nothing is no limit, and more of them than there are.
func stronger(t sim.Terms) error {
	switch {
	case t.Strong > 0 && t.Factor <= 0:
		return fmt.Errorf("world.factor: it needs how much stronger the strong nodes are, above 0")
	case t.Strong > t.Nodes:
		return fmt.Errorf("world.strong: %d strong nodes of %d", t.Strong, t.Nodes)
	}
	return nil
}

// terms are the terms of a world.
func (w World) terms() (sim.Terms, error) {
	kind := orDefault(w.Kind, "equal")
	t, ok := sim.KindTerms(kind)
	if !ok {
		return t, fmt.Errorf("world.kind: %q: allowed are %s", kind, strings.Join(sim.KindNames(), ", "))
	}
	given, into := reflect.ValueOf(w), reflect.ValueOf(&t).Elem()
	for i := range given.NumField() {
		p := given.Field(i)
		if p.Kind() != reflect.Pointer || p.IsNil() {
			continue
		}
		into.FieldByName(given.Type().Field(i).Name).Set(p.Elem())
	}
	if t.Nodes < 1 || t.Sites < 1 || t.Minutes < 1 {
		return t, fmt.Errorf("world: it needs nodes, sites and minutes")
	}
	return t, nil
}

// told names the terms that a world has, as a scenario names them, with their values; of the one that varies, that it does.
func (s *Scenario) told() (string, error) {
	t, err := s.World.terms()
	if err != nil {
		return "", err
	}
	var out []string
	shape := reflect.TypeFor[World]()
	for i := range shape.NumField() {
		name, f := shape.Field(i).Tag.Get("yaml"), reflect.ValueOf(t).FieldByName(shape.Field(i).Name)
		switch {
		case !f.IsValid():
		case name == s.Vary.Term:
			out = append(out, name+" varies")
		case f.Kind() == reflect.Bool && f.Bool():
			out = append(out, name)
		case f.Kind() != reflect.Bool && !f.IsZero():
			out = append(out, fmt.Sprintf("%s %.6g", name, f.Convert(reflect.TypeFor[float64]()).Float()))
		}
	}
	return strings.Join(out, ", "), nil
}

// varied is the world with the term that varies at a value.
func (s *Scenario) varied(x float64) (sim.Terms, error) {
	t, err := s.World.terms()
	if err != nil {
		return t, err
	}
	var names []string
	shape := reflect.TypeFor[World]()
	for i := range shape.NumField() {
		name := shape.Field(i).Tag.Get("yaml")
		f := reflect.ValueOf(&t).Elem().FieldByName(shape.Field(i).Name)
		if !f.IsValid() || f.Kind() == reflect.Bool {
			continue
		}
		if names = append(names, name); name != s.Vary.Term {
			continue
		}
		least, most := within(shape.Field(i).Tag)
		if !(x >= least && x <= most) || f.Kind() == reflect.Int && x != math.Trunc(x) {
			return t, fmt.Errorf("vary.values: %g is not a value of %s: allowed are %g to %g", x, name, least, most)
		}
		if f.Kind() == reflect.Int {
			f.SetInt(int64(x))
		} else {
			f.SetFloat(x)
		}
		return t, nil
	}
	return t, fmt.Errorf("vary.term: %q: allowed are %s", s.Vary.Term, strings.Join(names, ", "))
}

// within are the bounds that a field's tags say, or what no term needs more than.
func within(tag reflect.StructTag) (least, most float64) {
	least, most = 0, 1e6
	for name, to := range map[string]*float64{"min": &least, "max": &most} {
		if x, err := strconv.ParseFloat(tag.Get(name), 64); err == nil {
			*to = x
		}
	}
	return least, most
}

// orDefault is x, or the other where x is the zero value.
func orDefault[T comparable](x, other T) T {
	var zero T
	if x == zero {
		return other
	}
	return x
}

func orSlice[T any](x, other []T) []T {
	if len(x) == 0 {
		return other
	}
	return slices.Clone(x)
}
