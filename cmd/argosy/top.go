package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
	"argosy/internal/plan/schedule"
)

func newTop() *cobra.Command {
	f := &fleetFlags{}
	var every time.Duration
	var once bool
	c := &cobra.Command{
		Use: "top", Short: "Watch a coordinator, or a crawl with --listen, in the terminal", Args: cobra.NoArgs,
		Long: `Top shows jobs, nodes and tasks, and brings them up to date every second. Left and right go to another list, up and down to another
line, Enter into it (a job's tasks, a task, a node with its leases), Escape or Backspace back, q ends. With --once, or where standard output is not a terminal, it prints one picture, and with --json one object with
the same.`,
		Example: "  argosy top\n  argosy top --server http://127.0.0.1:8490",
		RunE: func(c *cobra.Command, _ []string) error {
			if every < 100*time.Millisecond || every > time.Hour {
				return usage("--every %v: allowed are 100ms to 1h", every)
			}
			if f.json {
				once = true
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				_, _, isTerminal := terminalSize(os.Stdout)
				if once || !isTerminal {
					t := &top{}
					if err := t.read(ctx, cl); err != nil {
						return err
					}
					if f.json {
						return printJSON(w, t.told())
					}
					width, _, ok := terminalSize(os.Stdout)
					if !ok {
						width = 100
					}
					_, err := fmt.Fprintln(w, strings.Join(t.draw(width, 40), "\n"))
					return err
				}
				return watchTop(ctx, cl, every)
			})
		},
	}
	f.register(c)
	c.Flags().DurationVar(&every, "every", time.Second, "how often it asks")
	c.Flags().BoolVar(&once, "once", false, "print one picture and end")
	return c
}

// Lists of top.
const (
	topJobs = iota
	topNodes
	topTasks
	topLists
)

var topNames = [topLists]string{"jobs", "nodes", "tasks"}

// top is what is shown, and where the person is.
type top struct {
	list, line int
	from       []int  // lines of what was left for what is shown, to come back to
	job        uint32 // of which tasks are listed; 0: the first that runs
	task       uint32 // that is shown; 0: a list is
	node       string // that is shown; empty: a list is

	status web.Status
	jobs   []web.Job
	nodes  []coordinator.NodeView
	tasks  []ledger.Task
	one    coordinator.TaskView
	leases []coordinator.LeaseView // of the node that is shown
	was    map[uint32]int64        // fetched of each job at the last look
	at     time.Time
	rate   map[uint32]float64
	failed string // why the last look failed
}

// told is what top shows, for programs.
func (t *top) told() any {
	return struct {
		Status web.Status             `json:"status"`
		Jobs   []web.Job              `json:"jobs"`
		Nodes  []coordinator.NodeView `json:"nodes"`
		Job    uint32                 `json:"job"` // whose tasks these are
		Tasks  []ledger.Task          `json:"tasks"`
	}{t.status, t.jobs, t.nodes, t.job, t.tasks}
}

// topTasksMost bounds how many tasks are listed: those with most in their queues.
const topTasksMost = 500

// read asks for everything that is shown.
func (t *top) read(ctx context.Context, cl *web.Client) (err error) {
	if t.status, err = cl.Status(ctx); err != nil {
		return err
	}
	if t.jobs, err = cl.Jobs(ctx); err != nil {
		return err
	}
	now := time.Now()
	rate, was := map[uint32]float64{}, map[uint32]int64{}
	for i := range t.jobs {
		j := &t.jobs[i]
		was[j.ID] = j.Counts.Fetched
		if before, ok := t.was[j.ID]; ok && now.After(t.at) {
			rate[j.ID] = float64(j.Counts.Fetched-before) / now.Sub(t.at).Seconds()
		}
		if t.job == 0 && j.State == "running" {
			t.job = j.ID
		}
	}
	t.rate, t.was, t.at = rate, was, now
	if t.job == 0 && len(t.jobs) > 0 {
		t.job = t.jobs[len(t.jobs)-1].ID
	}
	if t.nodes, err = cl.Nodes(ctx); err != nil || t.job == 0 {
		return err
	}
	if t.task > 0 {
		t.one, err = cl.Task(ctx, t.task)
		return err
	}
	if t.node != "" {
		t.leases, err = cl.LeasesOf(ctx, t.node, topTasksMost)
		return err
	}
	t.tasks, err = cl.LongestTasks(ctx, t.job, topTasksMost)
	return err
}

// rows are the lines of the list that is shown, and its heading, in so many columns of the terminal.
func (t *top) rows(width int) (head string, out []string) {
	switch {
	case t.task > 0:
		head, out = t.oneTask()
		for i := range out {
			out[i] = strings.Map(printable, out[i])
		}
		return head, strings.Split(strings.TrimSuffix(folded(strings.Join(out, "\n")+"\n", width-len(columnGap)), "\n"), "\n")
	case t.node != "":
		return t.oneNode(time.Now())
	case t.list == topJobs:
		rows := [][]string{{"JOB", "NAME", "STATE", "FETCHED", "QUEUE", "FAILED", "A SECOND", "VOLUME"}}
		for i := range t.jobs {
			j := &t.jobs[i]
			rows = append(rows, []string{strconv.Itoa(int(j.ID)), jobName(j), j.State, count(j.Counts.Fetched), count(j.Counts.Pending), count(j.Counts.Failed), fmt.Sprintf("%.1f", t.rate[j.ID]), size(j.Counts.Bytes)})
		}
		return table(rows, 1, []int{7, 6, 5, 2, 4}, width)
	case t.list == topNodes:
		rows := [][]string{{"NODE", "STATE", "LEASES", "FETCHED", "VOLUME", "HEARD OF"}}
		for i := range t.nodes {
			n := &t.nodes[i]
			rows = append(rows, []string{n.Node, n.State, strconv.Itoa(n.Held), count(n.Fetched), size(n.Bytes), heardOf(n.SeenMS)})
		}
		return table(rows, 0, []int{4, 5, 2}, width)
	default:
		rows := [][]string{{"SITE", "STATE", "QUEUE", "FETCHED", "FAILED", "EXCLUDED", "VOLUME"}}
		for i := range t.tasks {
			k := &t.tasks[i]
			rows = append(rows, []string{taskName(k), k.State, count(k.Pending), count(k.Fetched), count(k.Failed), count(k.Excluded), size(k.Bytes)})
		}
		return table(rows, 0, []int{6, 5, 4, 1}, width)
	}
}

// jobName is what people know a job by.
func jobName(j *web.Job) string {
	if j.Name == "" && len(j.Identity.Seeds) > 0 {
		return j.Identity.Seeds[0]
	}
	return j.Name
}

// leastName is how short a name may become before a column is left out for it.
const leastName = 10

// table lays out rows in so many columns of the terminal, the heading first. The column of names is as wide as what is left; where that is
// too little, columns are left out, those first that spare names first.
func table(rows [][]string, name int, spare []int, width int) (head string, out []string) {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			wide[i] = max(wide[i], cells(c))
		}
	}
	room := func() int {
		left := width - len(columnGap)
		for i, w := range wide {
			if i != name && w > 0 {
				left -= w + len(columnGap)
			}
		}
		return left
	}
	for _, i := range spare {
		if room() >= min(leastName, wide[name]) {
			break
		}
		wide[i] = 0
	}
	wide[name] = max(1, min(wide[name], room()))
	for _, row := range rows {
		var line []string
		for i, c := range row {
			if wide[i] == 0 {
				continue
			}
			c = fit(c, wide[i])
			pad := strings.Repeat(" ", max(0, wide[i]-cells(c)))
			if i == name || rows[0][i] == "STATE" {
				line = append(line, c+pad)
			} else {
				line = append(line, pad+c)
			}
		}
		out = append(out, strings.Join(line, columnGap))
	}
	return out[0], out[1:]
}

// waitWords say why nobody fetches what a task has queued.
var waitWords = map[string]string{
	"person": "waits for a person; ", "job": "its job does not run; ", "limit": "its job has reached a limit; ", "room": "the disk of the coordinator is full; ",
	"other": "another task has its site; ", "site": "its site rests; ", "node": "waits for a node; ", "market": "its crawler waits for the next market; ", "held": "a node has it; ", "nothing": "nothing is queued; ",
}

// oneTask is a task with what it waits for.
func (t *top) oneTask() (head string, out []string) {
	v := &t.one
	if v.ID != t.task {
		return fmt.Sprintf("task %d", t.task), nil
	}
	head = fmt.Sprintf("%s  %s  fetched %s, queue %s, failed %s", taskName(&v.Task), v.State, count(v.Fetched), count(v.Pending), count(v.Failed))
	out = append(out, fmt.Sprintf("%sdelay %v, may be asked in %v; robots.txt: %s", waitWords[v.Waits], time.Duration(v.DelayMS)*time.Millisecond, time.Duration(v.WaitMS)*time.Millisecond, v.Robots))
	if l := v.Holder; l != nil {
		out = append(out, fmt.Sprintf("%s asks %s for job %d, task %d, since %s: no more may at once", l.Node, siteOf(l.Site, l.Crawler), l.Job, l.Task, time.UnixMilli(l.Start).Format(time.TimeOnly)))
	}
	if v.Because != "" {
		out = append(out, "no node yet: "+cmp.Or(schedule.Words()[v.Because], string(v.Because)))
	}
	if v.Trouble != "" {
		out = append(out, "trouble: "+v.Trouble)
	}
	for _, l := range v.Leases {
		out = append(out, fmt.Sprintf("lease of %s: %d URLs given, %d held, attempt %d", l.Node, l.Given, l.Held, l.Attempt))
	}
	for _, s := range v.History {
		out = append(out, "before: "+s)
	}
	for _, u := range v.Queue {
		out = append(out, fmt.Sprintf("next: %s (depth %d)", u.URL, u.Depth))
	}
	return head, out
}

// nodeFacts is how many lines stand above the leases of a node.
const nodeFacts = 3

// oneNode is a node with what it holds: nodeFacts lines, and one for each lease.
func (t *top) oneNode(now time.Time) (head string, out []string) {
	i := slices.IndexFunc(t.nodes, func(n coordinator.NodeView) bool { return n.Node == t.node })
	if i < 0 {
		return t.node + "  is not there any more", nil
	}
	n := &t.nodes[i]
	span := func(ms int64) time.Duration { return (time.Duration(ms) * time.Millisecond).Round(time.Second) }
	var labels []string
	for _, k := range slices.Sorted(maps.Keys(n.Labels)) {
		labels = append(labels, k+"="+n.Labels[k])
	}
	worked := "" // nobody counts that of the nodes of a crawl
	if n.PresentMS > 0 {
		worked = fmt.Sprintf("at work for %v of %v", span(n.WorkingMS), span(n.PresentMS))
		if n.Cost > 0 {
			worked += fmt.Sprintf(", cost %.4g", n.Cost)
		}
		worked += "; "
	}
	head = fmt.Sprintf("%s  %s  %d of %d leases, %s fetched, %s", n.Node, n.State, n.Held, n.Leases, count(n.Fetched), size(n.Bytes))
	out = []string{
		worked + fmt.Sprintf("heard of %s ago; argosy %s", heardOf(n.SeenMS), n.Version),
		"store: " + n.Store,
		"labels: " + cmp.Or(strings.Join(labels, ", "), "none"),
	}
	for j := range t.leases {
		l := &t.leases[j]
		out = append(out, fmt.Sprintf("%s  job %d, task %d, %s given, %s held, for %v, attempt %d", siteOf(l.Site, l.Crawler), l.Job, l.Task, count(l.Given), count(l.Held), now.Sub(time.UnixMilli(l.Start)).Round(time.Second), l.Attempt))
	}
	return head, out
}

// draw is the picture.
func (t *top) draw(width, height int) []string {
	head, rows := t.rows(width)
	t.line = max(0, min(t.line, len(rows)-1))
	var tabs []string
	for i, n := range topNames {
		if i == t.list {
			n = "[" + strings.ToUpper(n) + "]"
		}
		if i == topTasks && t.job > 0 {
			n += fmt.Sprintf(" of job %d", t.job)
		}
		tabs = append(tabs, n)
	}
	first := fmt.Sprintf("argosy %s  %s  nodes %d  leases %d  waiting %d  sites %d", t.status.Version, t.status.State, t.status.Nodes, t.status.Leases, t.status.Waiting, t.status.Sites)
	lists, keys := strings.Join(tabs, "  "), "← → lists, ↑ ↓ lines, Enter opens, Esc back, q ends"
	if cells(lists)+4+cells(keys) > width {
		keys = "← → ↑ ↓ Enter Esc, q ends"
	}
	out := []string{fit(first, width), fit(lists+"    "+keys, width), fit("  "+head, width)}
	room := max(1, height-len(out)-1)
	from := max(0, t.line-room+1)
	for i := from; i < len(rows) && i < from+room; i++ {
		mark := "  "
		if i == t.line {
			mark = "> "
		}
		out = append(out, fit(mark+strings.Map(printable, rows[i]), width))
	}
	if t.failed != "" {
		out = append(out, fit("! "+t.failed, width))
	}
	return out[max(0, len(out)-max(1, height)):] // of a window of some lines the last, where the chosen one is
}

// printable keeps what a site has sent from steering the terminal.
func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return '?'
	}
	return r
}

// key goes where a key leads. It reports whether that is the end.
func (t *top) key(k string) (end bool) {
	switch k {
	case "q", "\x03":
		return true
	case "\x1b[C", "\t":
		t.turn(1)
	case "\x1b[D":
		t.turn(topLists - 1)
	case "\x1b[B", "j":
		t.line++
	case "\x1b[A", "k":
		t.line--
	case "\x1b", "\x7f":
		t.back()
	case "\r", "\n":
		t.open()
	}
	return false
}

// turn shows the list so many after this one.
func (t *top) turn(by int) {
	t.list, t.line, t.from, t.task, t.node = (t.list+by)%topLists, 0, nil, 0, ""
}

// back leaves what is shown for where it was opened.
func (t *top) back() {
	switch {
	case t.task > 0:
		t.task = 0
	case t.node != "":
		t.node = ""
	default:
		t.list = topJobs
	}
	t.line = 0
	if n := len(t.from) - 1; n >= 0 {
		t.line, t.from = t.from[n], t.from[:n]
	}
}

// open shows what the line is about.
func (t *top) open() {
	switch {
	case t.task > 0:
	case t.node != "":
		if at := t.line - nodeFacts; at >= 0 && at < len(t.leases) {
			t.task = t.leases[at].Task
			t.enter()
		}
	case t.list == topJobs && t.line < len(t.jobs):
		t.job, t.list = t.jobs[t.line].ID, topTasks
		t.enter()
	case t.list == topNodes && t.line < len(t.nodes):
		t.node, t.leases = t.nodes[t.line].Node, nil
		t.enter()
	case t.list == topTasks && t.line < len(t.tasks):
		t.task = t.tasks[t.line].ID
		t.enter()
	}
}

// enter begins at the first line of what was opened.
func (t *top) enter() { t.from, t.line = append(t.from, t.line), 0 }

// keysOf parts what a terminal has sent at once into keys.
func keysOf(sent string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for sent != "" {
			n := 1
			if len(sent) > 1 && sent[0] == '\x1b' && (sent[1] == '[' || sent[1] == 'O') {
				for n = 2; n < len(sent) && (sent[n] < '@' || sent[n] > '~'); n++ { // parameters, before the byte that ends it
				}
				n = min(n+1, len(sent))
			}
			if !yield(sent[:n]) {
				return
			}
			sent = sent[n:]
		}
	}
}

// watchTop shows everything until a person has seen enough.
func watchTop(ctx context.Context, cl *web.Client, every time.Duration) error {
	restore, err := rawTerminal(os.Stdin)
	if err != nil {
		return usage("standard input is not a terminal: --once prints one picture")
	}
	defer restore()
	fmt.Print("\x1b[?1049h\x1b[?25l")
	defer fmt.Print("\x1b[?25h\x1b[?1049l")
	keys := make(chan string)
	go func() {
		var b [4096]byte // all that waits, so that no key is cut in two
		for {
			n, err := os.Stdin.Read(b[:])
			if err != nil {
				close(keys)
				return
			}
			for k := range keysOf(string(b[:n])) {
				keys <- k
			}
		}
	}()
	cl.Slow = nil // the picture says it
	t := &top{}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := t.read(ctx, cl)
		if t.failed = ""; err != nil {
			var refused *web.Error
			if t.failed = err.Error(); errors.As(err, &refused) && refused.Usage() && len(t.jobs) == 0 {
				return err
			}
		}
		for again := true; again; {
			width, height, ok := terminalSize(os.Stdout)
			if !ok {
				width, height = 80, 24
			}
			fmt.Print("\x1b[H" + strings.Join(t.draw(width, height), "\x1b[K\r\n") + "\x1b[K\x1b[J")
			select {
			case <-ctx.Done():
				return nil
			case k, ok := <-keys:
				if !ok || t.key(k) {
					return nil
				}
				again = k != "\r" && k != "\n" // what is opened has to be asked for
			case <-tick.C:
				again = false
			}
		}
	}
}

// heardOf is how long ago a node was heard of.
func heardOf(ms int64) string {
	if ms < 0 {
		return "–"
	}
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}
