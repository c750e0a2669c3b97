package web_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"argosy/internal/config"
)

// What the pages' forms for a site send, and what they give as an example, is a change that the coordinator takes.
func TestFormsOfSites(t *testing.T) {
	tasks, err := os.ReadFile("../dash/src/tasks.jsx")
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(tasks), "const siteFields = [")
	fields, _, _ = strings.Cut(fields, "];")
	names, changes := []string{}, []string{}
	for _, m := range regexp.MustCompile(`\['(\w+)', '([^']+)'`).FindAllStringSubmatch(fields, -1) {
		names, changes = append(names, m[1]), append(changes, `{"sites": [{"hosts": ["a.example:81"], "`+m[1]+`": "`+m[2]+`"}]}`)
	}
	for _, want := range []string{"header_timeout", "delay", "retries"} {
		if !slices.Contains(names, want) {
			t.Errorf("the form lacks %s: it has %q", want, names)
		}
	}
	// The rules that a job has already are sent back as job files say them.
	changes = append(changes, `{"sites": [{"hosts": ["a.example"], "include": ["x"], "headers": {"A": "b"}, "delay": "500000ns", "backoff": "1ns", "site_pages": 7}, {"hosts": ["b.example"], "min_rate": 0}]}`)
	jobs, err := os.ReadFile("../dash/src/jobs.jsx")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile(`=\{'(limits: [^']+)'\}`).FindSubmatch(jobs)
	if example == nil {
		t.Fatal("the form of limits has no example")
	}
	changes = append(changes, strings.ReplaceAll(string(example[1]), `\n`, "\n"))
	for _, text := range changes {
		if _, err := config.ReadJob(strings.NewReader(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
