package config

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// whole refuses a fraction where a whole number is wanted: the reader of YAML would cut it off and say nothing. What a type reads by
// itself is left to it, as are mistakes of other kinds.
func whole(file []byte, into reflect.Type) error {
	tree, err := parser.ParseBytes(file, 0)
	if err != nil || len(tree.Docs) == 0 {
		return nil
	}
	return wholeIn(tree.Docs[0].Body, into)
}

var readsNodes = reflect.TypeFor[yaml.NodeUnmarshaler]()

func wholeIn(node ast.Node, want reflect.Type) error {
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	if reflect.PointerTo(want).Implements(readsNodes) {
		return nil
	}
	switch n := node.(type) {
	case *ast.FloatNode:
		if isWhole(want.Kind()) && n.Value != math.Trunc(n.Value) {
			return fmt.Errorf("line %d: %s: want a whole number", n.GetToken().Position.Line, n.GetToken().Value)
		}
	case *ast.MappingNode:
		for _, v := range n.Values {
			if err := wholeIn(v, want); err != nil {
				return err
			}
		}
	case *ast.MappingValueNode:
		of := fieldType(want, n.Key.GetToken().Value)
		if of == nil {
			return nil
		}
		return wholeIn(n.Value, of)
	case *ast.SequenceNode:
		if want.Kind() != reflect.Slice {
			return nil
		}
		for _, v := range n.Values {
			if err := wholeIn(v, want.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldType is the type of what a key of a mapping stands for, nil if there is no such key.
func fieldType(in reflect.Type, key string) reflect.Type {
	if in.Kind() == reflect.Map {
		return in.Elem()
	}
	if in.Kind() != reflect.Struct {
		return nil
	}
	for i := range in.NumField() {
		f := in.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" {
			if of := fieldType(f.Type, key); of != nil {
				return of
			}
		} else if name == key {
			return f.Type
		}
	}
	return nil
}

func isWhole(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Int64 || k >= reflect.Uint && k <= reflect.Uint64
}
