package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/plan/strategy"
)

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// filled returns the job of a command line.
func filled(t *testing.T, args ...string) crawl.Job {
	t.Helper()
	f := &crawlFlags{job: defaultJob()}
	c := &cobra.Command{Use: "crawl"}
	f.register(c)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if err := f.fill(c); err != nil {
		t.Fatal(err)
	}
	cfg, err := f.config(c, c.Flags().Args())
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Job
}

// What stands in a job file is what flags say, whatever is said of it: for every limit.
func TestFlagsAndJobFilesSayTheSame(t *testing.T) {
	lines, args := "seeds: [http://a.test/]\nscope: domain\ninclude: [a]\nfetch: {text: true}\nplacing: {probe: few}\nlimits:\n", []string{"http://a.test/", "--scope", "domain", "--include", "a", "--text", "--probe", "few"}
	for _, l := range crawl.AllLimits {
		text := l.Format(max(l.Min, 1) + 1000)
		if l.Unit == crawl.UnitCount {
			text = l.Format(min(l.Max, max(l.Min, 1)+1000))
		}
		lines += "  " + l.Name + ": " + text + "\n"
		args = append(args, "--"+flagOf(l.Name), text)
	}
	file, flags := filled(t, "--job", written(t, "job.yaml", lines)), filled(t, args...)
	if d := cmp.Diff(flags, file); d != "" {
		t.Error(d)
	}
	job, err := config.ReadJob(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := job.Submitted(defaultAgent)
	sent.ID, sent.Placing.Strategy = 1, strategy.Default // a coordinator has its own
	if d := cmp.Diff(flags, sent); d != "" || err != nil {
		t.Error(err, d)
	}
	if flags.Limits == crawl.DefaultLimits() {
		t.Error("nothing was set")
	}
}

// Defaults count least, then the job file, then the command line.
func TestWhatCountsMore(t *testing.T) {
	defaults := written(t, "argosy.yaml", "delay: 5s\nretries: 7\nexclude: [d]\nuser-agent: us/1\ntext: true\nmax-depth: 9\n")
	file := written(t, "job.yaml", "seeds: [http://a.test/]\nlimits: {retries: 2, max_depth: 4}\nexclude: [j, k]\nfetch: {sitemaps: true}\n")
	j := filled(t, "--config", defaults, "--job", file, "--max-depth", "3")
	if l := j.Limits; l.Delay != 5*time.Second || l.Retries != 2 || l.MaxDepth != 3 {
		t.Errorf("%+v", l)
	}
	if id := j.Identity; strings.Join(id.Exclude, " ") != "j k" || id.UserAgent != "us/1" || !id.Text || !id.Sitemaps || len(id.Seeds) != 1 {
		t.Errorf("%+v", id)
	}
	if j = filled(t, "--job", file, "--exclude", "c", "http://b.test/"); strings.Join(j.Identity.Exclude, " ") != "c" || j.Identity.Seeds[0] != "http://b.test/" {
		t.Errorf("%+v", j.Identity)
	}
	for text, want := range map[string]string{
		"delay: 5\n":           `line 1: delay: "5" is not a span`,
		"a: 1\n":               `line 1: "a": allowed are names of flags`,
		"delay: 1s\nout: x\n":  `line 2: "out": allowed are names of flags`,
		"retries: [1, 2]\n":    "line 1: retries: 2 values: want one",
		"retries: {a: b}\n":    "line 1: retries: want one value",
		"- delay\n":            "line 1: want names and values",
		"resources: perhaps\n": "line 1: resources:",
	} {
		path := written(t, "bad.yaml", text)
		code, _, errs := apart(t, "crawl", "http://a.test/", "--config", path)
		if code != exitUsage || !strings.Contains(errs, path+": ") || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit %d, %s", text, code, errs)
		}
	}
}

// The directory remembers job file and defaults as they were, with what counted more.
func TestFilesAreRemembered(t *testing.T) {
	t.Parallel()
	site, dir := chain(t, nil), filepath.Join(t.TempDir(), "c")
	job := written(t, "job.yaml", "seeds: ["+site+"]\nlimits: {max_pages: 3}\nexclude: [outside]\n")
	defaults := written(t, "argosy.yaml", "delay: 0\nallow-private: all\nmax-pages: 7\nheader: [\"X-Token: hush-hush\"]\n")
	if s := crawled(t, 0, "--config", defaults, "--job", job, "-o", dir); s.Fetched != 3 {
		t.Errorf("%+v", s)
	}
	b, err := os.ReadFile(filepath.Join(dir, "state", "given.json"))
	if err != nil || strings.Contains(string(b), "hush") || !json.Valid(b) {
		t.Errorf("%v: %s", err, b)
	}
	if err := os.Remove(job); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := apart(t, "crawl", "-o", dir); code != exitUsage || !strings.Contains(errs, "--header") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if s := crawled(t, 0, "-o", dir, "--header", "X-Token: hush-hush"); s.Fetched != 3 {
		t.Errorf("the job file is forgotten, or counts less than defaults: %+v", s)
	}
	if s := crawled(t, 0, "-o", dir, "--header", "X-Token: hush-hush", "--max-pages", "5"); s.Fetched != 5 {
		t.Errorf("%+v", s)
	}
}

// Editors of Windows put a byte order mark before UTF-8.
func TestFilesWithAByteOrderMark(t *testing.T) {
	job := written(t, "job.yaml", "\ufeffseeds: [a.example]\n")
	engines := written(t, "engines.yaml", "\ufeffengines:\n- name: mine\n  like: mediawiki\n  base: http://a.example/\n")
	sites := written(t, "sites.yaml", "\ufeff- hosts: a.example\n  delay: 3s\n")
	defaults := written(t, "argosy.yaml", "\ufeffdelay: 0\n")
	for _, args := range [][]string{
		{"submit", "--check", job}, {"engine", "show", "mine", "--engines", engines},
		{"crawl", "http://127.0.0.1:1/", "-o", filepath.Join(t.TempDir(), "c"), "--site-config", sites, "--config", defaults, "--max-time", "0s"},
	} {
		if code, _, errs := argosy(t, args...); code == exitUsage || strings.Contains(errs, ".yaml") {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}

// What is wrong is told of the flag that gave it, and never of a file that nobody has written.
func TestMistakesNameWhatWasGiven(t *testing.T) {
	site, dir := chain(t, nil), filepath.Join(t.TempDir(), "c")
	job := written(t, "job.yaml", "limits: {max_pages: 1}\n")
	crawled(t, 0, site, "--job", job, "--delay", "0", "--allow-private", "-o", dir)
	for _, args := range [][]string{{"-o", dir}, {site, "-o", dir + "2"}, {site, "-o", dir + "2", "--job", job}} {
		code, _, errs := apart(t, append([]string{"crawl", "--user-agent", "a\nb"}, args...)...)
		if code != exitUsage || !strings.Contains(errs, "--user-agent: ") || strings.Contains(errs, "given.json") {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}
