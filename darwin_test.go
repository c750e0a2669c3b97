package argosy_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Agents run on macOS, and so do the tests of who works on one: what only Linux's syscall has stands in files for Linux.
func TestFilesOfAllSystemsUseWhatMacOSHas(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	mac := build.Default
	mac.GOOS, mac.GOARCH, mac.CgoEnabled = "darwin", "arm64", false
	has := map[string]bool{} // exported names of the package, and fields
	sources(t, &mac, filepath.Join(strings.TrimSpace(string(root)), "src", "syscall"), func(_ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				has[n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				has[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					has[name.Name] = true
				}
			case *ast.Field:
				for _, name := range n.Names {
					has[name.Name] = true
				}
			}
			return true
		})
	})
	if !has["SysProcAttr"] || !has["Setpgid"] || has["Pdeathsig"] {
		t.Fatal("this does not read what macOS has")
	}
	for _, dir := range []string{"bench", "cmd", "internal"} {
		sources(t, &mac, dir, func(path string, f *ast.File) {
			if !slices.ContainsFunc(f.Imports, func(im *ast.ImportSpec) bool { return im.Path.Value == `"syscall"` }) {
				return
			}
			check := func(name *ast.Ident) {
				if name != nil && !has[name.Name] {
					t.Errorf("%s uses %s of package syscall, which macOS does not have: it belongs into a file for Linux", path, name.Name)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					check(ofSyscall(n))
				case *ast.CompositeLit:
					if of, ok := n.Type.(*ast.SelectorExpr); ok && ofSyscall(of) != nil {
						for _, e := range n.Elts {
							if kv, ok := e.(*ast.KeyValueExpr); ok {
								key, _ := kv.Key.(*ast.Ident)
								check(key)
							}
						}
					}
				}
				return true
			})
		})
	}
}

// ofSyscall returns the name that is selected from package syscall, nil for that of something else.
func ofSyscall(s *ast.SelectorExpr) *ast.Ident {
	if of, ok := s.X.(*ast.Ident); ok && of.Name == "syscall" {
		return s.Sel
	}
	return nil
}

// sources calls fn for each Go file below a directory that a system builds, tests too.
func sources(t *testing.T, system *build.Context, dir string, fn func(path string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		if ok, err := system.MatchFile(filepath.Dir(path), filepath.Base(path)); err != nil || !ok {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		fn(path, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
