package config

import (
	"errors"

	"github.com/goccy/go-yaml/ast"

	"argosy/internal/crawl"
)

// Limits are those of a job's limits that are given, by their names: durations in nanoseconds, sizes in bytes. What they are is said
// by the tags of crawl.Limits.
type Limits map[string]int64

// gone are limits that files may still have; nothing looks at them.
var gone = map[string]string{
	"max_chain": "chains are judged by what they bring",
}

// Give takes in what a person wrote for a limit.
func (l *Limits) Give(name, text string) error {
	if *l == nil {
		*l = Limits{}
	}
	if _, ok := gone[name]; ok {
		(*l)[name] = 0
		return nil
	}
	d, ok := crawl.LimitNamed(name)
	if !ok {
		return errors.New("there is no limit of this name; argosy submit --schema names all")
	}
	n, err := d.Parse(text)
	if err != nil {
		return err
	}
	(*l)[name] = n
	return nil
}

// UnmarshalYAML reads a map of limits.
func (l *Limits) UnmarshalYAML(n ast.Node) error {
	return pairs(n, func(name string, _ int, value ast.Node) error {
		text, err := scalar(value)
		if err != nil {
			return err
		}
		return l.Give(name, text)
	})
}

// Apply changes limits by those that are given.
func (l Limits) Apply(to *crawl.Limits) {
	for i := range crawl.AllLimits {
		d := &crawl.AllLimits[i]
		if n, ok := l[d.Name]; ok {
			d.Set(to, n)
		}
	}
}
