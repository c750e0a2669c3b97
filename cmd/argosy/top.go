package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
)

func newTop() *cobra.Command {
	f := &fleetFlags{}
	var every time.Duration
	var once bool
	c := &cobra.Command{
		Use: "top", Short: "Watch a coordinator, or a crawl with --listen, in the terminal", Args: cobra.NoArgs,
		Long: `Top shows jobs, nodes and tasks, and brings them up to date every second. Left and right go to another list, up and down to another
line, Enter into it, Escape or Backspace back, q ends. With --once, or where standard output is not a terminal, it prints one picture.`,
		Example: "  argosy top\n  argosy top --server http://127.0.0.1:8490",
		RunE: func(c *cobra.Command, _ []string) error {
			if every < 100*time.Millisecond || every > time.Hour {
				return usage("--every %v: allowed are 100ms to 1h", every)
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				_, _, isTerminal := terminalSize(os.Stdout)
				if once || !isTerminal {
					t := &top{}
					if err := t.read(ctx, cl); err != nil {
						return err
					}
					_, err := fmt.Fprintln(w, strings.Join(t.draw(100, 40), "\n"))
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
	job        uint32 // of which tasks are listed; 0: the first that runs
	task       uint32 // that is shown; 0: a list is

	status web.Status
	jobs   []web.Job
	nodes  []coordinator.NodeView
	tasks  []ledger.Task
	one    coordinator.TaskView
	was    map[uint32]int64 // fetched of each job at the last look
	at     time.Time
	rate   map[uint32]float64
	failed string // why the last look failed
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
	t.tasks, err = cl.LongestTasks(ctx, t.job, topTasksMost)
	return err
}

// rows are the lines of the list that is shown, and its heading.
func (t *top) rows() (head string, out []string) {
	switch {
	case t.task > 0:
		return t.oneTask()
	case t.list == topJobs:
		head = fmt.Sprintf("%4s  %-24s %-11s %9s %9s %9s %8s %9s", "JOB", "NAME", "STATE", "FETCHED", "QUEUE", "FAILED", "A SECOND", "VOLUME")
		for i := range t.jobs {
			j := &t.jobs[i]
			out = append(out, fmt.Sprintf("%4d  %-24s %-11s %9s %9s %9s %8.1f %9s", j.ID, fit(j.Name, 24), j.State, count(j.Counts.Fetched), count(j.Counts.Pending), count(j.Counts.Failed), t.rate[j.ID], size(j.Counts.Bytes)))
		}
	case t.list == topNodes:
		head = fmt.Sprintf("%-28s %-10s %7s %10s %10s %8s", "NODE", "STATE", "LEASES", "PAGES", "VOLUME", "HEARD OF")
		for i := range t.nodes {
			n := &t.nodes[i]
			out = append(out, fmt.Sprintf("%-28s %-10s %7d %10s %10s %8s", fit(n.Node, 28), n.State, n.Held, count(n.Pages), size(n.Bytes), (time.Duration(n.SeenMS)*time.Millisecond).Round(100*time.Millisecond)))
		}
	default:
		head = fmt.Sprintf("%-36s %-9s %9s %9s %8s %8s %10s", "SITE", "STATE", "QUEUE", "FETCHED", "FAILED", "EXCLUDED", "VOLUME")
		for i := range t.tasks {
			k := &t.tasks[i]
			out = append(out, fmt.Sprintf("%-36s %-9s %9s %9s %8s %8s %10s", fit(k.Site, 36), k.State, count(k.Pending), count(k.Fetched), count(k.Failed), count(k.Excluded), size(k.Bytes)))
		}
	}
	return head, out
}

// oneTask is a task with what it waits for.
func (t *top) oneTask() (head string, out []string) {
	v := &t.one
	head = fmt.Sprintf("%s  %s  fetched %s, queue %s, failed %s", v.Site, v.State, count(v.Fetched), count(v.Pending), count(v.Failed))
	out = append(out, fmt.Sprintf("waits for: %s; delay %v, may be asked in %v; robots.txt: %s", v.Waits, time.Duration(v.DelayMS)*time.Millisecond, time.Duration(v.WaitMS)*time.Millisecond, v.Robots))
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

// draw is the picture.
func (t *top) draw(width, height int) []string {
	head, rows := t.rows()
	t.line = max(0, min(t.line, len(rows)-1))
	var tabs []string
	for i, n := range topNames {
		if i == t.list {
			n = "[" + strings.ToUpper(n) + "]"
		}
		tabs = append(tabs, n)
	}
	first := fmt.Sprintf("argosy %s  %s  nodes %d  leases %d  waiting %d  sites %d", t.status.Version, t.status.State, t.status.Nodes, t.status.Leases, t.status.Waiting, t.status.Sites)
	out := []string{fit(first, width), fit(strings.Join(tabs, "  ")+"    ← → lists, ↑ ↓ lines, Enter opens, Esc back, q ends", width), fit(head, width)}
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
	return out
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
		t.list, t.line, t.task = (t.list+1)%topLists, 0, 0
	case "\x1b[D":
		t.list, t.line, t.task = (t.list+topLists-1)%topLists, 0, 0
	case "\x1b[B", "j":
		t.line++
	case "\x1b[A", "k":
		t.line--
	case "\x1b", "\x7f":
		if t.task > 0 {
			t.task, t.line = 0, 0
		} else {
			t.list, t.line = topJobs, 0
		}
	case "\r", "\n":
		switch {
		case t.task > 0:
		case t.list == topJobs && t.line < len(t.jobs):
			t.job, t.list, t.line = t.jobs[t.line].ID, topTasks, 0
		case t.list == topTasks && t.line < len(t.tasks):
			t.task, t.line = t.tasks[t.line].ID, 0
		}
	}
	return false
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
		var b [16]byte
		for {
			n, err := os.Stdin.Read(b[:])
			if err != nil {
				close(keys)
				return
			}
			keys <- string(b[:n])
		}
	}()
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
