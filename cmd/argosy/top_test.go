package main

import (
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
)

// Keys lead from list to list, into a job's tasks, into a task and back; what a site has sent does not steer the terminal; and a
// picture is never larger than the terminal.
func TestTopKeys(t *testing.T) {
	v := &top{status: web.Status{State: "running", Nodes: 2}}
	for i := range uint32(30) {
		v.jobs = append(v.jobs, web.Job{JobView: coordinator.JobView{Job: crawl.Job{ID: i + 1, Name: "job"}, State: "running"}})
		v.tasks = append(v.tasks, ledger.Task{ID: 100 + i, Site: "site.test"})
	}
	v.one = coordinator.TaskView{Task: ledger.Task{Site: "site.test"}, Waits: "node", Queue: []coordinator.QueuedView{{URL: "http://site.test/\x1b[2J"}}}
	press := func(keys ...string) {
		for _, k := range keys {
			if v.key(k) {
				t.Fatalf("%q ends it", k)
			}
			lines := v.draw(60, 12)
			if len(lines) > 12 {
				t.Errorf("%d lines in a terminal of 12", len(lines))
			}
			for _, l := range lines {
				if cells(l) > 60 || strings.ContainsRune(l, '\x1b') {
					t.Errorf("line %q", l)
				}
			}
		}
	}
	press("\x1b[B", "\x1b[B", "\x1b[A")
	if v.list != topJobs || v.line != 1 {
		t.Errorf("list %d, line %d", v.list, v.line)
	}
	press("\r")
	if v.list != topTasks || v.job != 2 {
		t.Errorf("Enter on a job: list %d, job %d", v.list, v.job)
	}
	for range 50 {
		press("j")
	}
	if v.line != 29 {
		t.Errorf("below the last line: %d", v.line)
	}
	press("\r")
	if v.task != 129 || !strings.Contains(strings.Join(v.draw(80, 20), "\n"), "next: http://site.test/?[2J") {
		t.Errorf("Enter on a task: %d\n%s", v.task, strings.Join(v.draw(80, 20), "\n"))
	}
	press("\x1b")
	if v.task != 0 || v.list != topTasks {
		t.Errorf("back: task %d, list %d", v.task, v.list)
	}
	press("\x1b[D", "\x1b[D", "\x1b[D", "\x1b[C", "\t")
	if v.list != topNodes {
		t.Errorf("around: list %d", v.list)
	}
	if !v.key("q") || !v.key("\x03") {
		t.Error("q and Ctrl-C do not end it")
	}
}
