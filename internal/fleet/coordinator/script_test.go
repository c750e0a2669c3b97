package coordinator

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

var update = flag.Bool("update", false, "write the golden files anew")

// memory is a log, a registry and a line to nodes in memory. What passes is noted in words.
type memory struct {
	mu      sync.Mutex
	stream  string
	first   uint64
	entries []entry // from first on
	wake    chan struct{}
	nodes   chan nodeEvent
	said    []string
	leases  map[uint64]crawl.Lease // that were ever granted
	sent    map[string]int
	does    func(node string, l *crawl.Lease) // what a node does that gets a lease; nil: nothing
	stalls  chan struct{}                     // while it is open nothing is stored; nil: at once
	takes   time.Duration                     // until something is stored
	ahead   time.Duration                     // its clock is, of everybody's
}

func newMemory() *memory {
	return &memory{stream: "log", first: 1, wake: make(chan struct{}), nodes: make(chan nodeEvent), leases: map[uint64]crawl.Lease{}, sent: map[string]int{}}
}

func (m *memory) add(node string, b []byte) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	seq := m.first + uint64(len(m.entries))
	m.entries = append(m.entries, entry{seq: seq, at: time.Now().Add(m.ahead).UnixMilli(), node: node, data: b})
	close(m.wake)
	m.wake = make(chan struct{})
	return seq
}

func (m *memory) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said = append(m.said, fmt.Sprintf(format, args...))
}

func (m *memory) Append(_ context.Context, b []byte) (uint64, error) {
	e, err := crawl.DecodeEntry(b)
	if err != nil {
		return 0, err
	}
	if e.Kind != crawl.EntryMark {
		m.note("log: %s", inWords(&e))
	}
	m.mu.Lock()
	for _, l := range e.Leases {
		m.leases[l.ID] = l
	}
	stalls := m.stalls
	m.mu.Unlock()
	if stalls != nil {
		<-stalls
	}
	time.Sleep(m.takes)
	return m.add("", b), nil
}

func (m *memory) Read(ctx context.Context, from uint64, fn func(uint64, int64, string, []byte) error) error {
	for {
		m.mu.Lock()
		wake := m.wake
		var e entry
		i := int(from) - int(m.first)
		for ; i >= 0 && i < len(m.entries) && m.entries[i].data == nil; i++ { // it is spoiled
			if i+1 < len(m.entries) && m.entries[i+1].data != nil {
				from = m.entries[i+1].seq
			}
		}
		have := i >= 0 && i < len(m.entries)
		if have {
			e = m.entries[i]
		}
		m.mu.Unlock()
		switch {
		case i < 0:
			return errors.New("trimmed")
		case have:
			if err := fn(e.seq, e.at, e.node, e.data); err != nil {
				return err
			}
			from++
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
	}
}

func (m *memory) Trim(_ context.Context, seq uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.first < seq && len(m.entries) > 1 {
		m.first, m.entries = m.first+1, m.entries[1:]
	}
	return nil
}

func (m *memory) Refresh(context.Context) (string, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stream, m.first + uint64(len(m.entries)) - 1, nil
}

func (m *memory) At(_ context.Context, seq uint64) (uint64, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := int(seq) - int(m.first); i >= 0 && i < len(m.entries) && m.entries[i].data != nil {
		return m.first, m.entries[i].at, nil
	}
	return m.first, 0, nil
}

// spoil makes entries at the end of the log such that cannot be read, and are counted.
func (m *memory) spoil(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := max(0, len(m.entries)-n); i < len(m.entries); i++ {
		m.entries[i].data = nil
	}
}

// cut takes entries from the end of the log.
func (m *memory) cut(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = m.entries[:max(0, len(m.entries)-n)]
}

func (m *memory) Dispatch(_ context.Context, node string, _ uint64, b []byte) error {
	var d crawl.Dispatch
	if err := crawl.Unmarshal(b, &d); err != nil {
		return err
	}
	words := map[crawl.DispatchKind]string{crawl.DispatchRecall: "recall", crawl.DispatchDrain: "drain", crawl.DispatchLeave: "leave", crawl.DispatchReturn: "return"}
	switch d.Kind {
	case crawl.DispatchLease:
		what := fmt.Sprintf("%s: lease %s of %s, %d URLs", node, short(d.Lease.ID), d.Lease.Site, len(d.Lease.Targets))
		if m.sent[what] = m.sent[what] + 1; m.sent[what] <= 2 { // it is sent again until something is heard of it
			m.note("%s", what)
		}
		if m.does != nil {
			m.does(node, d.Lease)
		}
	case crawl.DispatchRefill:
		for _, r := range d.Refills {
			m.note("%s: refill of %s, %d URLs, again %v", node, short(r.Lease), len(r.Targets), r.Again)
		}
	default:
		m.note("%s: %s %s", node, words[d.Kind], short(d.LeaseID))
	}
	return nil
}

func (m *memory) Forget(context.Context, string, uint64) error { return nil }

func (m *memory) Nodes(ctx context.Context, fn func(crawl.NodeInfo, crawl.Sign)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev := <-m.nodes:
			fn(ev.info, ev.sign)
		}
	}
}

func (m *memory) Deaf() bool { return false }

// short is a lease's number as people write it: epoch and number.
func short(id uint64) string { return fmt.Sprintf("%d.%d", id>>32, id&(1<<32-1)) }

// inWords is what an entry says, in a line.
func inWords(e *crawl.Entry) string {
	switch e.Kind {
	case crawl.EntryTerm:
		if e.Doubt {
			return fmt.Sprintf("term %d, in doubt", e.Epoch)
		}
		return fmt.Sprintf("term %d", e.Epoch)
	case crawl.EntrySubmit:
		return fmt.Sprintf("submit job %d, %d seeds", e.Job.ID, len(e.Job.Identity.Seeds))
	case crawl.EntryState:
		return fmt.Sprintf("job %d is %s", e.State.Job, e.State.State)
	case crawl.EntryRetry:
		return fmt.Sprintf("retry of job %d, %d lost, mend %v", e.Release.Job, len(e.Release.Lost), e.Release.Mend)
	case crawl.EntryDrop:
		return fmt.Sprintf("drop of job %d, %d tasks", e.Release.Job, len(e.Release.Tasks))
	}
	var out []string
	for _, l := range e.Leases {
		out = append(out, fmt.Sprintf("grant %s of %s to %s, attempt %d, %d URLs", short(l.ID), l.Site, l.Node, l.Attempt, len(l.Targets)))
	}
	for _, r := range e.Refills {
		out = append(out, fmt.Sprintf("refill %s, %d URLs", short(r.Lease), len(r.Targets)))
	}
	for _, r := range e.Recalls {
		out = append(out, fmt.Sprintf("recall %s: %s, counts %v", short(r.Lease), r.Reason, r.Counts))
	}
	return strings.Join(out, "; ")
}

// stage of a script: a coordinator over logs in memory, and nodes that do as the script says.
type scene struct {
	t     *testing.T
	dir   string
	log   *memory
	f     *frontier.Frontier
	l     *ledger.Ledger
	co    *Coordinator
	stop  context.CancelFunc
	done  chan error
	parts map[uint64]uint32
	out   strings.Builder

	strategies func(spec string) (schedule.Strategy, error) // nil: those that there are
}

// newScene is a coordinator with an empty log; its frontier and ledger lie in a directory.
func newScene(t *testing.T, dir string) *scene {
	return &scene{t: t, dir: dir, log: newMemory(), parts: map[uint64]uint32{}}
}

func (s *scene) fail(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// start opens the view and the ledger and has the coordinator run.
func (s *scene) start() {
	var err error
	s.f, err = frontier.Open(frontier.DefaultConfig(filepath.Join(s.dir, "frontier")))
	s.fail(err)
	s.l, err = ledger.Open(s.t.Context(), filepath.Join(s.dir, "ledger.db"))
	s.fail(err)
	if s.strategies == nil {
		s.strategies = strategy.New
	}
	s.co = New(Config{Strategy: "roundrobin", Strategies: s.strategies, Probe: "none", Serve: true, Remember: true}, s.log, s.log, s.log, s.f, s.l)
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.done = stop, make(chan error, 1)
	go func(co *Coordinator, done chan error) { done <- co.Run(ctx) }(s.co, s.done)
	time.Sleep(time.Second)
}

func (s *scene) halt() {
	s.stop()
	if err := <-s.done; !errors.Is(err, context.Canceled) { // the stop may come while an entry does
		s.fail(err)
	}
	s.fail(errors.Join(s.f.Close(), s.l.Close()))
}

// play gives one command of a script.
func (s *scene) play(line string) {
	w := strings.Fields(line)
	ctx := s.t.Context()
	switch w[0] {
	case "node", "leaves": // NAME
		sign := crawl.SignRenewed
		if w[0] == "leaves" {
			sign = crawl.SignLeft
		}
		s.log.nodes <- nodeEvent{crawl.NodeInfo{Node: w[1], Incarnation: w[1] + "-1", Leases: 4, Concurrency: 4, Store: "file:///s"}, sign}
	case "submit": // SITE PATH...
		j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t"}}
		j.Limits.PerIP, j.Limits.Delay = 0, 0
		for _, p := range w[2:] {
			j.Identity.Seeds = append(j.Identity.Seeds, "http://"+w[1]+p)
		}
		_, err := s.co.Submit(ctx, j)
		s.fail(err)
	case "wait": // DURATION; nodes that are named stay alive
		d, err := time.ParseDuration(w[1])
		s.fail(err)
		for end := time.Now().Add(d); time.Now().Before(end); {
			time.Sleep(min(5*time.Second, time.Until(end)))
			for _, n := range w[2:] {
				s.play("node " + n)
			}
		}
	case "part": // NODE LEASE [fetched PATH]... [link PATH]... [want N] [waiting] [final]
		s.part(w[1:])
	case "waits": // NODE LEASE DURATION: it says all the time that it waits for the site's turn; nodes that are named stay alive
		d, err := time.ParseDuration(w[3])
		s.fail(err)
		for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Second) {
			s.part([]string{w[1], w[2], "waiting"})
			for _, n := range append(w[4:], w[1]) {
				s.play("node " + n)
			}
		}
	case "clock": // DURATION that the log's clock is set on by; back where it is negative
		d, err := time.ParseDuration(w[1])
		s.fail(err)
		s.log.mu.Lock()
		s.log.ahead += d
		s.log.mu.Unlock()
	case "cut": // N entries
		n, err := strconv.Atoi(w[1])
		s.fail(err)
		s.log.cut(n)
	case "spoil": // N entries
		n, err := strconv.Atoi(w[1])
		s.fail(err)
		s.log.spoil(n)
	case "keep": // a copy of both sinks, while nobody runs
		for _, sink := range []string{"frontier", "ledger.db"} {
			s.fail(os.RemoveAll(filepath.Join(s.dir, "kept", sink)))
			s.fail(copyTo(filepath.Join(s.dir, "kept", sink), filepath.Join(s.dir, sink)))
		}
	case "back": // SINK: the copy is in its place again
		s.fail(os.RemoveAll(filepath.Join(s.dir, w[1])))
		s.fail(copyTo(filepath.Join(s.dir, w[1]), filepath.Join(s.dir, "kept", w[1])))
	case "start":
		s.start()
	case "halt":
		s.halt()
	case "state": // JOB STATE
		id, err := strconv.Atoi(w[1])
		s.fail(err)
		s.fail(s.co.SetState(ctx, uint32(id), w[2]))
	case "drop": // SITE, of job 1
		_, err := s.co.Release(ctx, crawl.EntryDrop, []string{w[1]}, crawl.Release{Job: 1, Why: "test"})
		s.fail(err)
	case "open": // leases
		ids, err := s.l.OpenLeases(ctx)
		s.fail(err)
		var known []string
		s.fail(s.co.View(ctx, func(f *frontier.Frontier) error {
			f.Leases(func(l *frontier.Lease) { known = append(known, short(l.ID)) })
			return nil
		}))
		slices.Sort(known)
		had := make([]string, len(ids))
		for i, id := range ids {
			had[i] = short(id)
		}
		s.log.note("leases that are open: %v; in the ledger %v", known, had)
	case "counts":
		jobs, err := s.co.Jobs(ctx)
		s.fail(err)
		for _, j := range jobs {
			s.fail(s.co.View(ctx, func(f *frontier.Frontier) error {
				if want := f.Counts(j.ID); !reflect.DeepEqual(j.Counts, want) {
					return fmt.Errorf("job %d is shown as %+v, and is %+v", j.ID, j.Counts, want)
				}
				return nil
			}))
			e, err := s.l.Ended(ctx, j.ID)
			s.fail(err)
			s.log.note("job %d is %s: discovered %d, fetched %d, pending %d; the ledger has %d", j.ID, j.State, j.Counts.Discovered, j.Counts.Fetched, j.Counts.Pending, e.URLs)
		}
	default:
		s.t.Fatalf("unknown command %q", line)
	}
}

// copyTo copies a file or a directory.
func copyTo(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, b, 0o600))
}

// part has a node report about a lease.
func (s *scene) part(w []string) {
	epoch, no, _ := strings.Cut(w[1], ".")
	e, err := strconv.ParseUint(epoch, 10, 32)
	s.fail(err)
	n, err := strconv.ParseUint(no, 10, 32)
	s.fail(err)
	id := e<<32 | n
	s.log.mu.Lock()
	l := s.log.leases[id]
	s.log.mu.Unlock()
	if l.ID == 0 {
		l = crawl.Lease{ID: id, Epoch: e, Attempt: 1, Secret: "lost", Site: "s.test"}
	}
	s.parts[id]++
	p := crawl.Part{Lease: id, Attempt: l.Attempt, Epoch: l.Epoch, Secret: l.Secret, No: s.parts[id]}
	page := func(path string) crawl.URL {
		if !strings.Contains(path, "://") {
			path = "http://" + l.Site + path
		}
		u, err := crawl.Parse(path)
		s.fail(err)
		return u
	}
	for i := 2; i < len(w); i++ {
		switch w[i] {
		case "fetched":
			i++
			u := page(w[i])
			p.Bytes += 100
			p.Outcomes = append(p.Outcomes, crawl.Outcome{
				Key: u.Key(), URL: u.String(), State: crawl.Fetched, Status: 200, Bytes: 100, Record: crawl.Location{File: "f.warc.gz", Offset: int64(i), Length: 9},
			})
		case "link":
			i++
			p.Found = append(p.Found, crawl.Found{Parent: page("/").Key(), Links: []crawl.Link{{URL: page(w[i]).String()}}})
		case "want":
			i++
			p.Want, err = strconv.Atoi(w[i])
			s.fail(err)
		case "waiting":
			p.Waiting = true
		case "final":
			p.Final, p.Reason = true, crawl.EndDone
		default:
			s.t.Fatalf("unknown word %q", w[i])
		}
	}
	b, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: w[0], Incarnation: w[0] + "-1", Parts: []crawl.Part{p}})
	s.fail(err)
	s.log.add(w[0], b)
}

// Scripts in testdata say what happens to a coordinator; beside each line stands what it appends to the log and sends to nodes.
// go test -run Scripts -update writes them anew.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".script"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, dir)
				s.start()
				sc := bufio.NewScanner(strings.NewReader(string(b)))
				for sc.Scan() {
					line := sc.Text()
					if strings.HasPrefix(line, "    ") {
						continue
					}
					fmt.Fprintln(&s.out, line)
					if line != "" && !strings.HasPrefix(line, "#") {
						s.play(line)
						time.Sleep(2 * time.Second)
					}
					s.log.mu.Lock()
					said := s.log.said
					s.log.said = nil
					s.log.mu.Unlock()
					if len(said) > 20 {
						said = append(said[:20], fmt.Sprintf("… %d more", len(said)-20))
					}
					for _, what := range said {
						fmt.Fprintln(&s.out, "    "+what)
					}
				}
				s.halt()
				got = s.out.String()
			})
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(b) {
				have, want := strings.Split(got, "\n"), strings.Split(string(b), "\n")
				for i := range have {
					if i >= len(want) || have[i] != want[i] {
						t.Fatalf("line %d is %q, want %q; all of it:\n%s", i+1, have[i], slices.Concat(want, make([]string, len(have)))[i], got)
					}
				}
				t.Fatalf("want more than\n%s", got)
			}
		})
	}
}
