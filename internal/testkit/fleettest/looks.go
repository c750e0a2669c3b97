package fleettest

import (
	"reflect"
	"sync"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// Looks notes which fields of snapshots said something when strategies were asked.
type Looks struct {
	mu   sync.Mutex
	said map[string]bool
}

// NewLooks has seen nothing yet.
func NewLooks() *Looks { return &Looks{said: map[string]bool{}} }

// looked is a strategy whose snapshots are looked at.
type looked struct {
	schedule.Strategy
	by *Looks
}

// Strategies makes strategies as the product does, and looks at what they are given.
func (l *Looks) Strategies(spec string) (schedule.Strategy, error) {
	st, err := strategy.New(spec)
	return looked{st, l}, err
}

// Plan implements schedule.Strategy.
func (s looked) Plan(snap *schedule.Snapshot, record bool) schedule.Plan {
	s.by.mu.Lock()
	s.by.look(reflect.ValueOf(*snap), "Snapshot")
	s.by.mu.Unlock()
	return s.Strategy.Plan(snap, record)
}

// Measures implements schedule.Measurer.
func (s looked) Measures() (m schedule.Measures) {
	if of, ok := s.Strategy.(schedule.Measurer); ok {
		m = of.Measures()
	}
	return m
}

// Modifies implements schedule.Modifier.
func (s looked) Modifies() (cfg schedule.ModifyConfig, yes bool) {
	if of, ok := s.Strategy.(schedule.Modifier); ok {
		cfg, yes = of.Modifies()
	}
	return cfg, yes
}

// look notes the fields of a struct, and of those in it, that say something.
func (l *Looks) look(v reflect.Value, at string) {
	for i := range v.NumField() {
		f, name := v.Field(i), at+"."+v.Type().Field(i).Name
		if !v.Type().Field(i).IsExported() || f.IsZero() {
			continue
		}
		l.said[name] = true
		switch {
		case f.Kind() == reflect.Struct:
			l.look(f, name)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			for k := range f.Len() {
				l.look(f.Index(k), name)
			}
		}
	}
}

// Has reports whether a field, as in Snapshot.Tasks.Bound, ever said something.
func (l *Looks) Has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said[name]
}

// Missing returns the fields of a type, and of those in it, that never said anything.
func (l *Looks) Missing(t reflect.Type, at string) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, of := at+"."+f.Name, f.Type
		if !f.IsExported() {
			continue
		}
		if !l.Has(name) {
			out = append(out, name)
			continue
		}
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct {
			out = append(out, l.Missing(of, name)...)
		}
	}
	return out
}
