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
	v.one = coordinator.TaskView{Task: ledger.Task{ID: 129, Site: "site.test"}, Waits: "node", Queue: []coordinator.QueuedView{{URL: "http://site.test/\x1b[2J"}}}
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
	v.one.Trouble = "a long story of what went wrong, told from its very beginning, which nobody would want to see cut off before its end"
	if got := strings.Join(v.draw(60, 20), "\n"); !strings.Contains(got, "before its end") || !strings.Contains(got, "of job 2") {
		t.Errorf("a task in 60 columns:\n%s", got)
	}
	press("\x1b")
	if v.task != 0 || v.list != topTasks || v.line != 29 {
		t.Errorf("back: task %d, list %d, line %d", v.task, v.list, v.line)
	}
	v.tasks[29].Crawler = 2
	if text := strings.Join(v.draw(60, 12), "\n"); !strings.Contains(text, "site.test #2") {
		t.Errorf("a crawler's task is not told apart:\n%s", text)
	}
	press("\x1b[D", "\x1b[D", "\x1b[D", "\x1b[C", "\t")
	if v.list != topNodes {
		t.Errorf("around: list %d", v.list)
	}
	v.nodes = []coordinator.NodeView{{NodeInfo: crawl.NodeInfo{Node: "a"}}, {NodeInfo: crawl.NodeInfo{Node: "paris", Leases: 8, Store: "s3://x", Labels: map[string]string{"city": "Paris"}}}}
	press("j", "\r")
	v.leases = []coordinator.LeaseView{{Site: "site.test", Node: "paris", Task: 77}, {Site: "other.test", Crawler: 2, Node: "paris", Task: 78}}
	if text := strings.Join(v.draw(100, 20), "\n"); v.node != "paris" || !strings.Contains(text, "other.test #2  job 0, task 78,") || !strings.Contains(text, "city=Paris") || !strings.Contains(text, "0 of 8 leases") {
		t.Errorf("Enter on a node: %q\n%s", v.node, text)
	}
	if text := strings.Join(v.draw(100, 20), "\n"); strings.Contains(text, "at work") || strings.Contains(text, "cost") || !strings.Contains(text, "heard of") {
		t.Errorf("a node of which no time and no price is known:\n%s", text)
	}
	v.nodes[1].PresentMS, v.nodes[1].WorkingMS, v.nodes[1].Cost = 90_000, 60_000, 0.5
	if text := strings.Join(v.draw(100, 20), "\n"); !strings.Contains(text, "at work for 1m0s of 1m30s, cost 0.5; heard of") {
		t.Errorf("a node that worked and has a price:\n%s", text)
	}
	press("\r")
	if v.task != 0 {
		t.Errorf("Enter on what is said of a node: task %d", v.task)
	}
	press("j", "j", "j", "j", "\r")
	if v.task != 78 {
		t.Errorf("Enter on a lease: task %d", v.task)
	}
	if text := strings.Join(v.draw(80, 20), "\n"); strings.Contains(text, "site.test") || !strings.Contains(text, "task 78") {
		t.Errorf("a task of which nothing was heard yet is shown as another:\n%s", text)
	}
	press("\x1b")
	if v.task != 0 || v.node != "paris" || v.line != 4 {
		t.Errorf("back from a lease: task %d, node %q, line %d", v.task, v.node, v.line)
	}
	press("\x1b")
	if v.node != "" || v.list != topNodes || v.line != 1 {
		t.Errorf("back: node %q, list %d, line %d", v.node, v.list, v.line)
	}
	if !v.key("q") || !v.key("\x03") {
		t.Error("q and Ctrl-C do not end it")
	}
}

// In a narrow terminal columns that matter least are left out, and names are shortened; in a wide one names are whole. A job without a name
// is known by its first seed.
func TestTopColumns(t *testing.T) {
	long := "http://a-site-with-a-long-name.example/where/it/begins"
	v := &top{jobs: []web.Job{{JobView: coordinator.JobView{Job: crawl.Job{ID: 1, Identity: crawl.Identity{Seeds: []string{long}}}, State: "running"}}}}
	v.jobs[0].Counts.Fetched, v.jobs[0].Counts.Pending, v.jobs[0].Counts.Failed = 1234567, 7654321, 99
	for width, want := range map[int]string{40: "QUEUE FETCHED", 60: "QUEUE FAILED FETCHED STATE Esc, q ends", 200: "QUEUE FAILED FETCHED VOLUME STATE A SECOND " + long} {
		text := strings.Join(v.draw(width, 20), "\n")
		for _, word := range strings.Fields(want) {
			if !strings.Contains(text, word) {
				t.Errorf("%d columns lack %s:\n%s", width, word, text)
			}
		}
		if !strings.Contains(text, "7,654,321") || !strings.Contains(text, "http://a") {
			t.Errorf("%d columns:\n%s", width, text)
		}
		for _, l := range strings.Split(text, "\n") {
			if cells(l) > width {
				t.Errorf("%d columns: %q", width, l)
			}
		}
	}
}

// A window of few lines shows the chosen one.
func TestTopLow(t *testing.T) {
	v := &top{jobs: []web.Job{{JobView: coordinator.JobView{Job: crawl.Job{ID: 1, Name: "chosen"}, State: "running"}}}}
	for height := 1; height < 8; height++ {
		if lines := v.draw(80, height); len(lines) > height || !strings.Contains(strings.Join(lines, ""), "chosen") {
			t.Errorf("%d lines: %q", height, lines)
		}
	}
}

// Keys that come at once, as from a slow line, are as many keys.
func TestKeysAtOnce(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[B\x1b[B\r": "\x1b[B|\x1b[B|\r", "jjq": "j|j|q", "\x1b": "\x1b", "\x1b\x1b[A": "\x1b|\x1b[A", "\x1b[": "\x1b[", "\x1b[1;5Cq": "\x1b[1;5C|q", "\x1bOA": "\x1bOA", "": "",
	} {
		var got []string
		for k := range keysOf(in) {
			got = append(got, k)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
