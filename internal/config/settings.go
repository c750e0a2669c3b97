package config

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// Setting is a name in a file of defaults and what it is set to.
type Setting struct {
	Name   string
	Values []string // several of a list
	Line   int
}

type settings []Setting

// ReadSettings reads a file of names and values: scalars, or lists of them.
func ReadSettings(b []byte) ([]Setting, error) {
	var out settings
	err := decode(b, &out)
	return out, err
}

// UnmarshalYAML reads the whole file.
func (s *settings) UnmarshalYAML(n ast.Node) error {
	return pairs(n, func(name string, line int, value ast.Node) error {
		out := Setting{Name: name, Line: line}
		var err error
		out.Values, err = scalars(value)
		*s = append(*s, out)
		return err
	})
}

// lineError is a mistake in a line of a file.
type lineError struct {
	line int // from 1
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// atNode is a mistake in the line in which a node begins.
func atNode(n ast.Node, err error) error { return &lineError{n.GetToken().Position.Line, err} }

// pairs calls fn for the pairs of a map; an error gets the line and the name of its pair.
func pairs(n ast.Node, fn func(name string, line int, value ast.Node) error) error {
	var all []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		all = n.Values
	case *ast.MappingValueNode:
		all = []*ast.MappingValueNode{n}
	default:
		return atNode(n, errors.New("want names and values"))
	}
	for _, p := range all {
		key := p.Key.GetToken()
		if err := fn(key.Value, key.Position.Line, p.Value); err != nil {
			if inner := (*lineError)(nil); errors.As(err, &inner) { // of what is in it
				return err
			}
			return &lineError{key.Position.Line, fmt.Errorf("%s: %w", key.Value, err)}
		}
	}
	return nil
}

// valueAt reads a value by set; an error gets its line.
func valueAt(n ast.Node, set func(string) error) error {
	text, err := scalar(n)
	if err == nil {
		err = set(text)
	}
	if err != nil {
		err = atNode(n, err)
	}
	return err
}

// scalars returns the texts of a list, or the one of a scalar.
func scalars(n ast.Node) (out []string, err error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		list = &ast.SequenceNode{Values: []ast.Node{n}}
	}
	for _, v := range list.Values {
		text, err := scalar(v)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// scalar returns the text of a node that is neither a map nor a list.
func scalar(n ast.Node) (string, error) {
	if _, ok := n.(ast.ScalarNode); !ok {
		return "", fmt.Errorf("want one value")
	}
	return n.GetToken().Value, nil
}
