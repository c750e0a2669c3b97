package dash

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

var writeWords = flag.Bool("words.write", false, "write src/words.json anew")

// said is what words.json holds: texts of the coordinator's that pages show in words.
type said struct {
	Reasons map[crawl.Kind]string `json:"reasons"` // why a URL was not fetched, by its code
	Waits   map[crawl.Kind]string `json:"waits"`   // why a task got no node
	Names   []string              `json:"names"`   // of filters, costs and what costs are made of
}

// spoken collects them where they are defined.
func spoken(t *testing.T) said {
	t.Helper()
	s := said{Reasons: map[crawl.Kind]string{}, Waits: schedule.Words()}
	for _, k := range crawl.Kinds() {
		s.Reasons[k] = k.Words()
	}
	names := map[string]bool{}
	for _, name := range strategy.Names() {
		_, c, _ := strategy.Describe(name)
		names[c.Cost.Name] = true
		for _, f := range append(c.Filters, schedule.Always...) {
			names[f.Name] = true
		}
	}
	files, err := filepath.Glob("../../plan/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:\.Note\(|\.Know\(|rec\.add\([^"\n]*)"([^"]+)"`).FindAllSubmatch(b, -1) {
			names[string(m[1])] = true
		}
	}
	delete(names, "") // of a composition that costs nothing
	s.Names = slices.Sorted(maps.Keys(names))
	return s
}

// Pages say what reasons, filters and costs mean in the words that the command line has.
func TestWords(t *testing.T) {
	want, err := json.MarshalIndent(spoken(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *writeWords {
		if err := os.WriteFile("src/words.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("src/words.json"); err != nil || string(got) != string(want) {
		t.Errorf("src/words.json is not what the tables say: go test ./internal/fleet/dash -run Words -words.write, then make dash (%v)", err)
	}
}

// Every reason of the code has words.
func TestReasonsHaveWords(t *testing.T) {
	words := spoken(t)
	for file, known := range map[string]map[crawl.Kind]string{"../../crawl/error.go": words.Reasons, "../../plan/schedule/schedule.go": words.Waits, "../../plan/schedule/bound.go": words.Waits} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(`\b(?:Kind|Reason)[A-Z]\w+ +(?:crawl\.)?Kind += "([^"]+)"`).FindAllSubmatch(b, -1)
		for _, m := range all {
			if known[crawl.Kind(m[1])] == "" {
				t.Errorf("%s: %s has no words", file, m[1])
			}
		}
		if len(all) == 0 {
			t.Errorf("%s names no reason", file)
		}
	}
}
