package coordinator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readers are who may read the clock. All else gets the time of the turn, so that what one turn does is done at one time.
var readers = map[string]string{
	"(*Coordinator).loop": "once a turn, and before it waits for the next",
	"(*Coordinator).run1": "before the loop begins, and when it has ended",
	"(*Coordinator).Rest": "instead of the loop",
	"(*Coordinator).read": "when an entry was read, beside the loop",
	"(*desk).ask":         "when a question was asked, beside the loop",
	"(*post).sendTerm":    "how old a term is when its message leaves",
	"(*window).Nodes":     "for who asks, beside the loop",
	"(*window).Lag":       "for who asks, beside the loop",
	"start":               "a stopwatch",
	"(stopwatch).took":    "a stopwatch",
}

// The clock is read in the places named above, and nowhere else.
func TestWhoReadsTheClock(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			where := "a declaration"
			if fn, ok := d.(*ast.FuncDecl); ok {
				where = nameOf(fn)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Now", "Since", "Until"}, s.Sel.Name) {
					return true
				}
				if x, ok := s.X.(*ast.Ident); !ok || x.Name != "time" {
					return true
				}
				if seen[where] = true; readers[where] == "" {
					t.Errorf("%s reads the clock with time.%s: the time of the turn is passed down to it", where, s.Sel.Name)
				}
				return true
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(readers)) {
		if !seen[name] {
			t.Errorf("%s does not read the clock any more: it is not to be named here", name)
		}
	}
}

// nameOf names a function, or a method with its receiver's type.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	switch r := fn.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return "(*" + r.X.(*ast.Ident).Name + ")." + fn.Name.Name
	case *ast.Ident:
		return "(" + r.Name + ")." + fn.Name.Name
	}
	return fn.Name.Name
}
