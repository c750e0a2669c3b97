package config

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// WithoutSeeds returns a job file without its seeds, which travel apart from it. The file has been read before.
func WithoutSeeds(file []byte) ([]byte, error) {
	f, err := parser.ParseBytes(file, 0)
	if err != nil {
		return nil, oneLine(err)
	}
	for _, doc := range f.Docs {
		m, ok := doc.Body.(*ast.MappingNode)
		if !ok {
			return []byte("{}"), nil // nothing but seeds
		}
		kept := m.Values[:0]
		for _, v := range m.Values {
			if key := v.Key.GetToken().Value; key != "seeds" && key != "seeds_file" && key != "seeds_from" {
				kept = append(kept, v)
			}
		}
		if m.Values = kept; len(kept) == 0 {
			return []byte("{}"), nil
		}
	}
	return []byte(f.String()), nil
}
