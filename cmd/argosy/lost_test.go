package main

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Pages that could not be had, and are asked for again once their searches are released or changed, count as they are answered then: for the
// export, too.
func TestVirtualHadAfterPerson(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]func(dir, task string) []string{
		"release": func(dir, task string) []string { return []string{"tasks", "release", task, "-o", dir} },
		"edit": func(dir, task string) []string {
			return []string{"tasks", "edit", task, "-o", dir, "--set", "words=milk tea"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSearchable(t, 1, 9)
			l.broken.Store(true)
			dir := filepath.Join(t.TempDir(), "out")
			if code, _, errs := apart(t, "crawl", "--job", l.job(t, "", "", ""), "-o", dir, "--allow-private", "--quiet"); code != exitManual {
				t.Fatalf("exit %d\n%s", code, errs)
			}
			l.broken.Store(false)
			for _, task := range searches(t, dir) {
				if code, out, errs := apart(t, does(dir, strconv.Itoa(int(task.ID)))...); code != 0 {
					t.Fatalf("exit %d\n%s%s", code, out, errs)
				}
			}
			if code, _, errs := apart(t, "crawl", "-o", dir, "--allow-private", "--quiet"); code != 0 {
				t.Fatalf("exit %d\n%s%s", code, errs, tasksOut(t, dir))
			}
			_, export, errs := apart(t, "export", dir)
			for _, task := range searches(t, dir) {
				s := task.Of
				if s.Found == 0 || s.Collected != s.Found {
					t.Errorf("%s: %d of %d", s.Product, s.Collected, s.Found)
				}
				for _, url := range l.found(strings.Join(s.Words, " ")) {
					if had := regexp.MustCompile(`(?m)^.*"` + regexp.QuoteMeta(url) + `".*"status":200`); !had.MatchString(export) {
						t.Errorf("%s is not in the export as it was answered at last\n%s%s", url, export, errs)
					}
				}
			}
			if _, out, errs := apart(t, "verify", dir); !strings.Contains(out, "clean") || !strings.Contains(out, " 0 orphans") {
				t.Error(out, errs)
			}
		})
	}
}
