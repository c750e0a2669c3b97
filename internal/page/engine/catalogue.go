package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// Catalogue is engines by name, ready to be asked.
type Catalogue struct {
	lists [][]Engine
	names []string
	ready map[string]*Ready
}

// maxLike bounds how many engines one stands on.
const maxLike = 8

// With makes a catalogue of this one and a further list.
func (c *Catalogue) With(list []Engine) (*Catalogue, error) {
	return Open(append(slices.Clone(c.lists), list)...)
}

// Open makes a catalogue of lists of engines. Of two with a name the one in the later list holds; if it has neither a URL nor an
// engine that it is like, it is like the earlier one.
func Open(lists ...[]Engine) (*Catalogue, error) {
	c := &Catalogue{lists: lists, ready: map[string]*Ready{}}
	given := map[string][]Engine{} // by name, the earlier first
	for _, list := range lists {
		seen := map[string]bool{}
		for i, e := range list {
			if e.Name == "" || strings.ContainsAny(e.Name, " \t\r\n,") {
				return nil, &Error{"number " + fmt.Sprint(i+1), "name", fmt.Errorf("%q: want one word", e.Name)}
			}
			if seen[e.Name] {
				return nil, &Error{e.Name, "name", fmt.Errorf("another engine of the list has it")}
			}
			seen[e.Name] = true
			if len(given[e.Name]) == 0 {
				c.names = append(c.names, e.Name)
			} else if e.URL == "" && e.Like == "" {
				e.Like = e.Name
			}
			given[e.Name] = append(given[e.Name], e)
		}
	}
	sort.Strings(c.names)
	for _, name := range c.names {
		e, err := resolve(given, name, len(given[name])-1, 0)
		if err != nil {
			return nil, err
		}
		if c.ready[name], err = compile(e); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// resolve fills the k-th engine of a name with the keys of those that it is like.
func resolve(given map[string][]Engine, name string, k, deep int) (Engine, error) {
	e := given[name][k]
	if e.Like == "" {
		return e, nil
	}
	of := len(given[e.Like]) - 1
	if e.Like == name {
		of = k - 1 // the one that it replaces
	}
	if of < 0 {
		return e, &Error{name, "like", fmt.Errorf("there is no engine %q", e.Like)}
	}
	if deep == maxLike {
		return e, &Error{name, "like", fmt.Errorf("%q: more than %d engines stand on each other, or in a circle", e.Like, maxLike)}
	}
	under, err := resolve(given, e.Like, of, deep+1)
	if err != nil {
		return e, err
	}
	to, from := reflect.ValueOf(&e).Elem(), reflect.ValueOf(under)
	for i := range to.NumField() {
		if name := to.Type().Field(i).Name; to.Field(i).IsZero() && name != "Like" && name != "IgnoreRobots" {
			to.Field(i).Set(from.Field(i))
		}
	}
	return e, nil
}

// Names lists the engines in alphabetical order.
func (c *Catalogue) Names() []string { return c.names }

// Get returns an engine.
func (c *Catalogue) Get(name string) (*Ready, error) {
	if r := c.ready[name]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("there is no engine %q; allowed are %s", name, strings.Join(c.names, ", "))
}

// Encode writes an engine down, whole, for those who have no catalogue.
func (r *Ready) Encode() ([]byte, error) { return json.Marshal(r.Engine) }

// Decode reads what Encode wrote.
func Decode(b []byte) (*Ready, error) {
	var e Engine
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	return compile(e)
}
