package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"argosy/internal/page/engine"
)

// Source is a file that was read: what to call it, and what it holds.
type Source struct {
	Name string
	Data []byte
}

// Catalogue reads the search engines that Argosy knows and those of further files; of two with a name the one of the later file
// holds. A mistake is said in one line, with its file and line.
func Catalogue(files ...Source) (*engine.Catalogue, error) {
	files = append([]Source{{"the shipped catalogue", engine.Shipped}}, files...)
	var lists [][]engine.Engine
	for _, f := range files {
		v, err := Read[engine.File](f.Name, f.Data)
		if err != nil {
			return nil, err
		}
		lists = append(lists, v.Engines)
	}
	c, err := engine.Open(lists...)
	var bad *engine.Error
	if !errors.As(err, &bad) {
		return c, err
	}
	for k := len(files) - 1; k >= 0; k-- { // a mistake is in the last file that has the engine
		if i := slices.IndexFunc(lists[k], func(e engine.Engine) bool { return e.Name == bad.Engine }); i >= 0 {
			return nil, fmt.Errorf("%s: line %d: %w", files[k].Name, LineOf(files[k].Data, fmt.Sprintf("$.engines[%d]", i), bad.Key), err)
		}
	}
	return nil, fmt.Errorf("%s: %w", files[len(files)-1].Name, err)
}

// LineOf finds the line of a key below a path of a YAML file, or of what is nearest above it.
func LineOf(file []byte, path, key string) int {
	for {
		at := path
		if key != "" {
			at += "." + key
		}
		if n := nodeAt(file, at); n != nil && n.GetToken() != nil {
			return n.GetToken().Position.Line
		}
		if key == "" {
			return 1
		}
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
}

// nodeAt is what stands in a file at a path; nil: nothing.
func nodeAt(file []byte, path string) ast.Node {
	p, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	n, err := p.ReadNode(bytes.NewReader(file))
	if err != nil {
		return nil
	}
	return n
}

// WriteEngines writes engines as a file of engines has them.
func WriteEngines(list ...engine.Engine) ([]byte, error) {
	return yaml.MarshalWithOptions(engine.File{Engines: list}, yaml.IndentSequence(true))
}

// AddEngine adds an engine to a file of engines, which stays as it is otherwise; the new one must be one that can be asked.
func AddEngine(to Source, e engine.Engine) ([]byte, error) {
	if len(bytes.TrimSpace(to.Data)) > 0 {
		old, err := Read[engine.File](to.Name, to.Data)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(old.Engines, func(o engine.Engine) bool { return o.Name == e.Name }) {
			return nil, fmt.Errorf("%s: it has an engine %q already: give the new one another name", to.Name, e.Name)
		}
	}
	text, err := WriteEngines(e)
	if err != nil {
		return nil, err
	}
	out := text
	if len(bytes.TrimSpace(to.Data)) > 0 {
		m := firstItem.FindSubmatch(to.Data)
		if m == nil {
			return nil, fmt.Errorf("%s: its engines do not stand one below the other: add this one by hand (argosy engine add --engines NEWFILE writes it)", to.Name)
		}
		out = append(bytes.TrimRight(slices.Clone(to.Data), "\n \t"), '\n')
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			out = append(append(append(out, m[1]...), strings.TrimPrefix(line, "  ")...), '\n')
		}
	}
	if _, err := Catalogue(Source{to.Name, out}); err != nil {
		return nil, err
	}
	back, err := Read[engine.File](to.Name, out)
	if err != nil || len(back.Engines) == 0 || !reflect.DeepEqual(back.Engines[len(back.Engines)-1], e) {
		return nil, errors.Join(err, fmt.Errorf("engine %s: it has texts that cannot be written into a file as they are", e.Name))
	}
	return out, nil
}

// firstItem is where the list of a file of engines begins; its group is how far to the right.
var firstItem = regexp.MustCompile(`(?m)^engines:[ \t]*(?:#.*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*( *)- `)
