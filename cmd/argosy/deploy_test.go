package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"argosy/internal/config"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// commands finds every list of arguments in a tree of YAML that begins with one of our subcommands.
func commands(v any, found *[][]string) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			commands(x, found)
		}
	case []any:
		var args []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				args = append(args, s)
			} else {
				commands(x, found)
			}
		}
		if len(args) > 0 && (args[0] == "serve" || args[0] == "agent") {
			*found = append(*found, args)
		}
	}
}

// understood fails the test if the program does not know a command, or one of its flags.
func understood(t *testing.T, where string, args []string) {
	t.Helper()
	c, rest, err := newRoot().Find(args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: argosy %s: %v", where, strings.Join(args, " "), err)
	}
}

// Every example is taken by the command that it is for, and names only commands and flags that exist.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	commands := regexp.MustCompile(`(?:^|[\s(])argosy ((?:crawl|submit|serve|agent|split|jobs|nodes)\b[^#;&|)>]*)`)
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			for _, m := range commands.FindAllStringSubmatch(strings.ReplaceAll(line, "&region", "%26region"), -1) {
				args, _, _ := strings.Cut(m[1], "   ")
				understood(t, path, strings.Fields(strings.NewReplacer(`"$@"`, "", `"$job"`, "job.yaml").Replace(args)))
			}
		}
		name := filepath.Base(path)
		if filepath.Ext(name) == ".sh" {
			if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%s: %s", path, out)
			}
			continue
		}
		switch name {
		case "dairy.yaml":
			if _, err := config.ReadJob(bytes.NewReader(b)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		case "seeds.txt":
			if j := filled(t, "--seeds", path); len(j.Identity.Seeds) != 3 {
				t.Errorf("%s: %q", path, j.Identity.Seeds)
			}
		case "site-config.yaml":
			if j := filled(t, "a.test", "--site-config", path); len(j.Sites) != 2 {
				t.Errorf("%s: %+v", path, j.Sites)
			}
		case "defaults.yaml":
			if j := filled(t, "a.test", "--config", path); j.Limits.Delay != 2*time.Second {
				t.Errorf("%s: %+v", path, j.Limits)
			}
		default:
			filled(t, "--job", path)
			if code, out, errs := argosy(t, "submit", "--check", path); code != exitDone || !strings.Contains(out, "ok") || errs != "" {
				t.Errorf("%s: %d %s %s", path, code, out, errs)
			}
		}
	}
}

// What the files under deploy start is what this program understands: every flag is one that it has.
func TestDeploymentsNameFlagsThatExist(t *testing.T) {
	check := func(where string, args []string) {
		t.Helper()
		understood(t, where, args)
	}
	n := 0
	err := filepath.WalkDir("../../deploy", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml":
			dec := yaml.NewDecoder(bytes.NewReader(b))
			for {
				var doc any
				if err := dec.Decode(&doc); err != nil {
					if err.Error() != "EOF" {
						t.Errorf("%s: %v", path, err)
					}
					break
				}
				var found [][]string
				commands(doc, &found)
				for _, args := range found {
					n++
					check(path, args)
				}
			}
		case ".service":
			for line := range strings.Lines(string(b)) {
				if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "ExecStart=/usr/local/bin/argosy "); ok {
					n++
					rest, _, _ = strings.Cut(rest, "$")
					check(path, strings.Fields(rest))
				}
				if _, rest, ok := strings.Cut(line, "ARGOSY_AGENT="); ok {
					n++
					check(path, append([]string{"agent"}, strings.Fields(rest)...))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 9 {
		t.Errorf("only %d commands were found", n)
	}
}

// The published schema of job files is that of the types they are read into.
func TestSchema(t *testing.T) {
	got, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/job.schema.json")
	if err != nil || string(want) != string(got)+"\n" {
		t.Errorf("docs/job.schema.json is not what argosy submit --schema prints: %v", err)
	}
	var s struct {
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(got, &s); err != nil || len(s.Properties) < 9 {
		t.Errorf("%d properties, %v", len(s.Properties), err)
	}
}

// The published schema of scenarios is that of the type they are read into; every scenario that comes with the program is
// one, prints itself, and runs from a file.
func TestScenarios(t *testing.T) {
	code, out, errs := argosy(t, "lab", "schema")
	want, err := os.ReadFile("../../docs/scenario.schema.json")
	if err != nil || code != exitDone || string(want) != out {
		t.Errorf("docs/scenario.schema.json is not what argosy lab schema prints: %v %s", err, errs)
	}
	code, out, errs = argosy(t, "lab", "list")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitDone || len(lines) < 9 {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	for _, line := range lines[2:] {
		name, _, _ := strings.Cut(line, " ")
		if code, text, errs := argosy(t, "lab", "show", name); code != exitDone || !strings.Contains(text, "name: "+name+"\n") {
			t.Errorf("%s: %d %s %s", name, code, text, errs)
		}
	}
	dir := t.TempDir()
	file, page := filepath.Join(dir, "mine.yaml"), filepath.Join(dir, "mine.html")
	text := "name: mine\ntitle: Two nodes\nexperiment: worlds\nseeds: 2\nstrategies: [greedy, random]\nworld: {nodes: 2, sites: 10, minutes: 2}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs = argosy(t, "lab", "run", file, "--html", page)
	b, err := os.ReadFile(page)
	if code != exitDone || !strings.Contains(out, "greedy") || err != nil || !strings.Contains(string(b), "<h1>Two nodes</h1>") || strings.Count(string(b), "<svg") != 4 {
		t.Errorf("%d %s %s, page of %d bytes, %v", code, out, errs, len(b), err)
	}
	for text, want := range map[string]string{
		"name: x\nexperiment: worlds\nworlds: 3\n": "line 3", "name: x\nexperiment: guess\n": "allowed are worlds", "name: x\nexperiment: worlds\nseeds: 2000\n": "the maximum is 1000",
		"": "nothing in it", "name: x\nexperiment: worlds\nworld: {kind: guess}\n": "allowed are equal",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := argosy(t, "lab", "run", file); code != exitUsage || !strings.Contains(errs, want) || !strings.Contains(errs, file) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: %d %s, want %s", text, code, errs, want)
		}
	}
}

// A job file that names a limit that is gone is good, and its owner is told that nothing looks at it.
func TestLimitThatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.yaml")
	if err := os.WriteFile(path, []byte("seeds: [a.example]\nlimits: {max_chain: 5}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := argosy(t, "submit", "--check", path)
	if code != exitDone || !strings.Contains(out, "ok") || !strings.Contains(errs, path+": limits.max_chain is gone") || strings.Count(errs, "\n") != 1 {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

// What the nodes of the example with S3 store into, its coordinator allows.
func TestExampleStores(t *testing.T) {
	b, err := os.ReadFile("../../examples/s3.sh")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+)="?([^"\n]*)"?$`).FindAllStringSubmatch(string(b), -1) {
		vars[m[1]] = os.Expand(m[2], func(name string) string { return vars[name] })
	}
	allowed := regexp.MustCompile(`--allow-store "([^"]*)"`).FindStringSubmatch(string(b))
	if allowed == nil || vars["store"] == "" {
		t.Fatalf("no store in the example: %v", vars)
	}
	stores, err := access.NewStores([]string{os.Expand(allowed[1], func(name string) string { return vars[name] })})
	if err != nil || !stores.Allow(vars["store"]) {
		t.Errorf("%s is not allowed: %s, %v", vars["store"], stores, err)
	}
}

// Commands that read a coordinator's directory whose ledger is a database say where it is.
func TestLedgerIsElsewhere(t *testing.T) {
	dir := t.TempDir()
	if err := outdir.OpenFormat(dir, "test"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(outdir.Frontier(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "jobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := outdir.Claim(dir, "postgres://argosy:secret@db.example/argosy"); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"verify", "report", "export", "stats"} {
		code, _, stderr := argosy(t, command, dir)
		if code != 2 || !strings.Contains(stderr, "postgres://argosy@db.example/argosy") || !strings.Contains(stderr, "--ledger") {
			t.Errorf("%s: %d %s", command, code, stderr)
		}
	}
	for _, command := range []string{"replay", "advise"} {
		code, _, stderr := argosy(t, "lab", command, dir)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "is not here but postgres://argosy@db.example/argosy: argosy lab "+command+" postgres://…") {
			t.Errorf("lab %s: %d %s", command, code, stderr)
		}
	}
	for command, want := range map[string]string{
		"retry " + dir + " --cut --ledger postgres://db.example/argosy": "argosy retry JOB", "drop " + dir + " s.test": "number of a job",
		"stop " + dir: "number of a job", "rates " + dir: "number of a job", "crawl -o " + dir: "argosy serve", "crawl http://s.test/ -o " + dir: "argosy serve",
		"crawl http://s.test/ -o /dev/null/x": "/dev/null", "crawl -o /dev/null/x": "/dev/null",
		"explain " + dir + " --server http://127.0.0.1:1": "a directory",
	} {
		if code, _, stderr := argosy(t, strings.Fields(command)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s", command, code, stderr)
		}
	}
	t.Setenv(ledgerVariable, "mysql://db.example/argosy") // which is refused before it is asked
	for _, command := range []string{"verify", "report", "export", "stats", "rebuild index", "rebuild frontier", "lab replay", "lab advise"} {
		if code, _, stderr := argosy(t, append(strings.Fields(command), dir)...); code != exitUsage || strings.Contains(stderr, "with its password") || !strings.Contains(stderr, "postgres://…") {
			t.Errorf("%s, by the environment: %d %s", command, code, stderr)
		}
	}
	if _, err := ledgerOf(t.TempDir(), ""); err == nil || strings.Contains(err.Error(), "database") {
		t.Errorf("a directory whose ledger is its own: %v", err)
	}
	f, err := frontier.Open(frontier.DefaultConfig(outdir.Frontier(dir)))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Rebase("log", 0), f.Close()); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := argosy(t, "tasks", dir); code != 0 || !strings.Contains(out, "no task") {
		t.Errorf("tasks, which need no ledger: %d %s", code, stderr)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if note := runningNote(dir); !strings.Contains(note, "a coordinator runs in "+dir) || !strings.Contains(note, "number of a job") {
		t.Errorf("beside the coordinator: %s", note)
	}
	if note := jobNote(dir, 3); !strings.Contains(note, "a coordinator runs in "+dir+": this is of its job 3") {
		t.Errorf("one job beside the coordinator: %s", note)
	}
	if note := runningNote(t.TempDir()); strings.Contains(note, "coordinator") {
		t.Errorf("beside a crawl: %s", note)
	}
	if code, _, stderr := argosy(t, "tree", dir); !strings.Contains(stderr, "no job 1") {
		t.Errorf("a tree, which needs no ledger: %d %s", code, stderr)
	}
}
