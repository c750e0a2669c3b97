package engine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// A JSONPath is evaluated here, segment by segment with its steps counted, and what an object holds is taken in the order of its keys; of
// the library are its reader and its filters. A filter is asked for every value, and may not itself go down without bounds.

// strayed is what a filter may not have, for it takes time in a power of the answer's size; strings is what is not looked at.
var (
	strayed = regexp.MustCompile(`\.\.|\?|\[[^\]]*,|\b(?:match|search)\(`)
	quoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
)

func readJSONPath(text string) (*jsonpath.Path, error) {
	p, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, seg := range p.Query().Segments() {
		for _, sel := range seg.Selectors() {
			if f, ok := sel.(*spec.FilterSelector); ok {
				if bad := strayed.FindString(bare(f)[1:]); bad != "" {
					return nil, fmt.Errorf("a filter with %q: allowed are comparisons, length(), count() and value(), without .. and filters within", bad)
				}
			}
		}
	}
	return p, nil
}

// bare is a filter without the strings in it.
func bare(f *spec.FilterSelector) string { return quoted.ReplaceAllString(f.String(), "''") }

// walk returns what a JSONPath finds in a value.
func (d *document) walk(p *jsonpath.Path, root any) []any {
	at := []any{root}
	for _, seg := range p.Query().Segments() {
		var next []any
		for _, v := range at {
			next = d.segment(seg, v, root, next)
		}
		at = next
	}
	return at
}

func (d *document) segment(seg *spec.Segment, v, root any, out []any) []any {
	d.spend(1)
	for _, sel := range seg.Selectors() {
		before := len(out)
		switch sel := sel.(type) {
		case spec.WildcardSelector:
			out = append(out, d.children(v)...)
		case *spec.FilterSelector:
			text := bare(sel)
			asks, all := strings.Count(text, "@")+strings.Count(text, "$"), 0
			if strings.Contains(text, "$") {
				all = d.size(root)
			}
			for _, c := range d.children(v) {
				d.spend((d.size(c) + all) * asks)
				if sel.Eval(c, root) {
					out = append(out, c)
				}
			}
		default:
			out = append(out, sel.Select(v, root)...)
		}
		d.spend(16 * (len(out) - before)) // they take memory
	}
	if seg.IsDescendant() {
		for _, c := range d.children(v) {
			out = d.segment(seg, c, root, out)
		}
	}
	return out
}

// children are the values in a value.
func (d *document) children(v any) (out []any) {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		d.spend(len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, v[key])
		}
	}
	return out
}

// size is how much there is to look at in a value.
func (d *document) size(v any) int {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v) / 64
	case []any:
		for _, c := range v {
			n += d.size(c)
		}
	case map[string]any:
		for _, c := range v {
			n += d.size(c)
		}
	}
	d.spend(1)
	return n
}
