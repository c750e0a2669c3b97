package argosy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house: who is pure and who may import whom. A package that is missing here fails the test; so does an import
// that is not listed. When the code asks for another wall, change this table and ARCHITECTURE.md together.
var house = map[string]struct {
	pure    bool
	imports string // of this module, by the last element of their paths
}{
	// The words, and what stands beside the wings.
	"crawl":   {true, ""},
	"config":  {false, "crawl split segment topic engine"},
	"webs":    {false, ""},
	"durable": {false, ""},
	"testkit": {false, "crawl child"},

	"testkit/child":     {false, ""},
	"testkit/scratch":   {false, "seeds"},
	"testkit/seeds":     {false, ""},
	"testkit/fleettest": {false, "crawl schedule strategy assemble bus coordinator ledger outdir serve verify testkit webs"},

	// From a URL to a record.
	"page/robots":  {true, ""},
	"page/parse":   {true, ""},
	"page/scope":   {true, "crawl"},
	"page/polite":  {true, "crawl"},
	"page/yield":   {true, "crawl parse"},
	"page/topic":   {true, "crawl"},
	"page/inflate": {true, ""},
	"page/engine":  {true, "crawl parse"},
	"page/fetch":   {false, "crawl inflate"},
	"page/archive": {false, "crawl durable"},
	"page/replay":  {true, "crawl parse"},

	// Who gets what.
	"plan/solve":    {true, ""},
	"plan/netcoord": {true, ""},
	"plan/dataset":  {true, "solve"},
	"plan/predict":  {true, "crawl netcoord"},
	"plan/price":    {true, ""},
	"plan/learn":    {true, "crawl netcoord predict price schedule"},
	"plan/schedule": {true, "crawl solve predict price"},
	"plan/strategy": {true, "crawl netcoord predict schedule"},
	"plan/split":    {true, "engine"},
	"plan/segment":  {false, ""},
	"plan/geo":      {false, "schedule"},
	"plan/sim":      {true, "crawl polite learn netcoord predict price schedule solve topic"},
	"plan/report":   {true, ""},
	"plan/lab":      {false, "dataset netcoord predict price report schedule sim solve split strategy"},

	// Who holds what.
	"fleet/usage":       {false, ""},
	"fleet/frontier":    {false, "crawl scope polite yield topic learn"},
	"fleet/ledger":      {false, "crawl learn"},
	"fleet/recorded":    {false, "scope price learn sim ledger"},
	"fleet/access":      {true, ""},
	"fleet/bus":         {false, "crawl durable term"},
	"fleet/gate":        {false, "crawl durable access bus"},
	"fleet/term":        {true, "crawl schedule"},
	"fleet/coordinator": {false, "crawl access term polite scope engine predict learn price schedule frontier ledger"},
	"fleet/agent":       {false, "crawl term polite robots parse engine topic fetch archive"},
	"fleet/outdir":      {false, "crawl durable archive schedule frontier ledger"},
	"fleet/serve":       {false, "crawl access scope schedule strategy geo frontier ledger bus gate coordinator outdir usage"},
	"fleet/assemble":    {false, "crawl scope schedule strategy frontier ledger bus fetch archive geo coordinator agent outdir usage verdict"},
	"fleet/verdict":     {false, "crawl scope frontier ledger"},
	"fleet/simulated":   {false, ""}, // tests
	"fleet/verify":      {false, "crawl archive frontier ledger outdir"},
	"fleet/mend":        {false, "crawl archive fetch frontier ledger bus outdir"},
	"fleet/survey":      {false, "crawl verify archive fetch parse robots frontier ledger assemble outdir"},
	"fleet/shelf":       {false, "crawl archive fetch parse ledger verify"},
	"fleet/dash":        {false, ""},
	"fleet/answer":      {false, "ledger"},
	"fleet/web":         {false, "answer crawl config durable access schedule strategy sim ledger coordinator bus gate serve usage shelf dash recorded replay frontier survey"},
}

// The wings: what a wing may know of the others, besides crawl, durable and itself. What is not in a wing stands beside them; only
// the fleet, which is the whole, may know all of it.
var wings = map[string]struct {
	knows string // wings
	pure  bool   // only their pure packages
}{
	"page":  {"", false},
	"plan":  {"page", true},
	"fleet": {"page plan beside", false},
}

// Third-party modules and the packages that may import them.
var thirdParty = map[string]string{
	"github.com/fxamacker/cbor/v2":                     "crawl",
	"github.com/nlnwa/whatwg-url/url":                  "crawl testkit fleettest",
	"github.com/zeebo/xxh3":                            "crawl parse yield agent",
	"github.com/saintfish/chardet":                     "parse",
	"github.com/abadojack/whatlanggo":                  "parse",
	"github.com/go-shiori/go-readability":              "agent",
	"golang.org/x/sys/unix":                            "fetch", // Madvise, which syscall does not have on macOS
	"golang.org/x/net/html":                            "engine parse replay survey testkit",
	"golang.org/x/net/html/atom":                       "survey",
	"golang.org/x/net/html/charset":                    "parse testkit",
	"golang.org/x/text/encoding":                       "engine parse testkit",
	"golang.org/x/text/encoding/htmlindex":             "engine parse",
	"golang.org/x/text/runes":                          "parse",
	"golang.org/x/text/transform":                      "parse",
	"github.com/go-ego/gse/hmm":                        "segment", // gse itself embeds 38 MB of dictionaries
	"github.com/kljensen/snowball/english":             "topic",
	"github.com/kljensen/snowball/french":              "topic",
	"github.com/kljensen/snowball/hungarian":           "topic",
	"github.com/kljensen/snowball/norwegian":           "topic",
	"github.com/kljensen/snowball/russian":             "topic",
	"github.com/kljensen/snowball/spanish":             "topic",
	"github.com/kljensen/snowball/swedish":             "topic",
	"github.com/oschwald/maxminddb-golang/v2":          "geo",
	"github.com/goccy/go-yaml":                         "config",
	"github.com/goccy/go-yaml/lexer":                   "config",
	"github.com/goccy/go-yaml/parser":                  "config",
	"github.com/goccy/go-yaml/ast":                     "config",
	"github.com/goccy/go-yaml/token":                   "config",
	"github.com/andybalholm/cascadia":                  "engine",
	"github.com/antchfx/xpath":                         "engine",
	"github.com/theory/jsonpath":                       "engine",
	"github.com/theory/jsonpath/spec":                  "engine",
	"golang.org/x/net/publicsuffix":                    "scope",
	"golang.org/x/net/http2":                           "fetch",
	"golang.org/x/net/proxy":                           "fetch",
	"github.com/andybalholm/brotli":                    "fetch",
	"github.com/klauspost/compress/flate":              "fetch archive",
	"github.com/klauspost/compress/gzip":               "fetch archive",
	"github.com/klauspost/compress/zstd":               "fetch segment",
	"github.com/cockroachdb/pebble/v2":                 "frontier",
	"github.com/cockroachdb/pebble/v2/bloom":           "frontier",
	"github.com/cockroachdb/pebble/v2/sstable":         "frontier",
	"github.com/cockroachdb/pebble/v2/vfs":             "frontier",
	"github.com/pressly/goose/v3":                      "ledger",
	"github.com/pressly/goose/v3/database":             "ledger",
	"modernc.org/sqlite":                               "ledger",
	"modernc.org/sqlite/lib":                           "ledger",
	"github.com/nats-io/nats-server/v2/server":         "bus",
	"github.com/nats-io/nats.go":                       "bus",
	"github.com/nats-io/nats.go/jetstream":             "bus",
	"github.com/nats-io/jwt/v2":                        "bus testkit",
	"github.com/nats-io/nkeys":                         "bus testkit",
	"github.com/jackc/pgx/v5/stdlib":                   "ledger",
	"github.com/jackc/pgx/v5/pgconn":                   "ledger",
	"github.com/minio/minio-go/v7":                     "archive",
	"github.com/minio/minio-go/v7/pkg/credentials":     "archive",
	"github.com/danielgtaylor/huma/v2":                 "web",
	"github.com/danielgtaylor/huma/v2/adapters/humago": "web",
	"golang.org/x/sync/errgroup":                       "agent coordinator assemble serve lab",
}

// What a pure package must not import: the outside world, and the clock's and the dice's back doors are below.
var impure = []string{"net", "net/http", "os", "os/exec", "log", "log/slog", "syscall", "io/ioutil", "testing"}

// Selectors that a pure package must not use.
var impureCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"rand": {"Int", "IntN", "Intn", "Float64", "Perm", "Shuffle", "Uint64", "Uint32"},
}

func TestHouse(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		pkg := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "internal"+string(filepath.Separator)))
		rule, ok := house[pkg]
		if !ok {
			t.Errorf("%s: package %s is missing from the table of the house", path, pkg)
			return nil
		}
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, im := range f.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			checkImport(t, path, pkg, p, rule.pure, strings.Fields(rule.imports))
		}
		if rule.pure {
			checkPure(t, path, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range house {
		if !seen[pkg] {
			t.Errorf("the table of the house lists %s, which is not there", pkg)
		}
	}
}

// wing returns the wing that a package stands in.
func wing(pkg string) string {
	if w, _, ok := strings.Cut(pkg, "/"); ok {
		return w
	}
	return "beside"
}

// room returns a package's own name, which no other package has.
func room(pkg string) string { return pkg[strings.LastIndexByte(pkg, '/')+1:] }

// The table itself keeps to the wings.
func TestWings(t *testing.T) {
	at := map[string]string{}
	for pkg := range house {
		if was, ok := at[room(pkg)]; ok {
			t.Errorf("%s and %s have the same name", was, pkg)
		}
		at[room(pkg)] = pkg
	}
	for pkg, rule := range house {
		from, ok := wings[wing(pkg)]
		if !ok {
			continue // beside the wings
		}
		for _, name := range strings.Fields(rule.imports) {
			to := at[name]
			switch {
			case to == "":
				t.Errorf("%s may import %s, which is not there", pkg, name)
			case name == "crawl" || name == "durable" || wing(to) == wing(pkg):
			case !slices.Contains(strings.Fields(from.knows), wing(to)):
				t.Errorf("%s must not know %s: %s does not know %s", pkg, to, wing(pkg), wing(to))
			case from.pure && !house[to].pure:
				t.Errorf("%s may know the pure packages of %s only, and %s is not pure", pkg, wing(to), to)
			}
		}
	}
}

func checkImport(t *testing.T, path, pkg, im string, pure bool, allowed []string) {
	t.Helper()
	if own, ok := strings.CutPrefix(im, "argosy/internal/"); ok {
		if !slices.Contains(allowed, room(own)) {
			t.Errorf("%s: %s must not import %s: imports run downward, by the table of the house", path, pkg, own)
		}
		return
	}
	if im == "text/template" || im == "html/template" {
		t.Errorf("%s: %s links every exported method of every type into the binary, because it calls methods by name", path, im)
	}
	first, _, _ := strings.Cut(im, "/")
	if strings.Contains(first, ".") && !slices.Contains(strings.Fields(thirdParty[im]), room(pkg)) {
		t.Errorf("%s: %s must not import %s: please use the package that has it, or list it with its reason", path, pkg, im)
	}
	if pure && slices.Contains(impure, im) {
		t.Errorf("%s: %s is pure and must not import %s", path, pkg, im)
	}
}

func checkPure(t *testing.T, path string, f *ast.File) {
	t.Helper()
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a go statement in a pure package", path)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && slices.Contains(impureCalls[x.Name], n.Sel.Name) {
				t.Errorf("%s: %s.%s in a pure package: time and chance are arguments", path, x.Name, n.Sel.Name)
			}
		}
		return true
	})
}

// Numbers of fields on the wire and on disk are given once in a struct: of two fields with one number the decoder fills
// neither, and says nothing.
func TestFieldNumbers(t *testing.T) {
	err := filepath.WalkDir("internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				checkNumbers(t, path, s)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkNumbers(t *testing.T, path string, s *ast.StructType) {
	t.Helper()
	seen := map[string]string{}
	for _, field := range s.Fields.List {
		if field.Tag == nil || len(field.Names) == 0 {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		number, rest, _ := strings.Cut(reflect.StructTag(tag).Get("cbor"), ",")
		if !strings.HasPrefix(rest, "keyasint") {
			continue
		}
		if was, ok := seen[number]; ok {
			t.Errorf("%s: %s and %s have the same number, %s", path, was, field.Names[0].Name, number)
		}
		seen[number] = field.Names[0].Name
	}
}

// A test named TestLong is left out of go test ./... by its package's TestMain, which must be there for it.
func TestLongTestsAreLeftOut(t *testing.T) {
	long, left := map[string]bool{}, map[string]bool{}
	for _, root := range []string{"bench", "cmd", "internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			dir := filepath.Dir(path)
			long[dir] = long[dir] || strings.Contains(string(text), "\nfunc TestLong")
			left[dir] = left[dir] || strings.Contains(string(text), "scratch.Run(m")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, has := range long {
		if has && !left[dir] {
			t.Errorf("%s has tests named TestLong, and no TestMain with scratch.Run: go test ./... runs them", dir)
		}
	}
}

// Files stay small enough to be read: at most 600 lines, functions at most 80, tests apart.
func TestSizes(t *testing.T) {
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if n := strings.Count(string(b), "\n"); n > 600 {
				t.Errorf("%s has %d lines", path, n)
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, b, 0)
			if err != nil {
				return err
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line; n > 80 {
						t.Errorf("%s: %s has %d lines", path, fn.Name.Name, n)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
