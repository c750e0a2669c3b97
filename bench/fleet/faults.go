package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"argosy/bench/process"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
)

var scenarios = []scenario{
	{"undisturbed", "nothing", setting{agents: 4}, nil},
	{"kill-agents", "six times an agent is killed (SIGKILL) and started again", setting{agents: 4}, killAgents},
	{"lose-agents", "two of four agents are killed and do not come back", setting{agents: 4}, loseAgents},
	{"freeze-agents", "three times an agent is stopped (SIGSTOP) for three terms of its leases, and goes on", setting{agents: 4}, freezeAgents},
	{"partition", "twice an agent is cut off from the bus, but not from the sites, for three terms", setting{agents: 3, apart: true}, partition},
	{"slow-site", "a site is slower than leases may be silent: it is recalled and moved five times, waits for a person, and is released with a longer term", setting{agents: 4, slow: true}, slowAnswers},
	{"full-disk", "an agent's disk is full; room is made, and it is started again", setting{agents: 3, small: "700k"}, fullDisk},
	{"kill-coordinator", "four times the coordinator is killed and started again", setting{agents: 4}, killCoordinator},
	{"coordinator-away", "the coordinator is killed, and away for long", setting{agents: 4}, coordinatorAway},
	{"standby", "twice the coordinator that leads is killed, and the other one takes over", setting{agents: 3, cluster: true}, standby},
	{"freeze-leaders", "ten times the coordinator that leads is stopped (SIGSTOP) for 15 or 25 s, and goes on; none may end; the delay is 1 s", setting{agents: 3, cluster: true, times: 4}, freezeLeaders},
	{"database-away", "the database is away for 45 s, then together with the leader's death, then while both coordinators start", setting{agents: 3, cluster: true}, databaseAway},
	{"kill-nats", "each of three NATS servers in turn is killed and started again", setting{agents: 3, cluster: true}, killNATS},
	{"no-quorum", "two of three NATS servers are killed; the bus has no leader for three terms", setting{agents: 3, cluster: true}, noQuorum},
	{"cut-power", "four times the power of the coordinator's machine is cut, and of an agent's: their disks forget what was not synced", setting{agents: 3, disks: true, times: 2}, cutPower},
	{"damage-log", "four times the coordinator is killed: its log loses 4 KB, then 64 KB, then has a byte changed, then is gone", setting{agents: 3}, damageLog},
	{"damage-views", "the coordinator is killed and its frontier deleted, then its ledger; the command that it names is run", setting{agents: 3}, damageViews},
	{"older-backup", "a copy is made; 10 s later the coordinator is killed, and the copy restored", setting{agents: 3}, olderBackup},
	{"damage-both", "the coordinator is killed, its ledger deleted and 64 KB cut off its log, then its frontier and the log likewise; the command that it names is run", setting{agents: 3, again: true}, damageBoth},
	{"damage-archives", "a byte of an archive is changed and another deleted; retry --lost", setting{agents: 3}, damageArchives},
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// term is how long a lease may be silent before it is somebody else's.
func (f *fleet) term() time.Duration { return f.o.recycle + f.o.recycle/2 }

func killAgents(ctx context.Context, f *fleet) error {
	for i := range 6 {
		a := f.agents[i%len(f.agents)]
		a.End(syscall.SIGKILL)
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
		if err := a.Start(); err != nil {
			return err
		}
		if err := pause(ctx, 1200*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func loseAgents(ctx context.Context, f *fleet) error {
	for _, a := range f.agents[:2] {
		a.End(syscall.SIGKILL)
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

func freezeAgents(ctx context.Context, f *fleet) error {
	for _, a := range f.agents[:3] {
		a.Signal(syscall.SIGSTOP)
		err := pause(ctx, 3*f.term())
		a.Signal(syscall.SIGCONT)
		if err != nil {
			return err
		}
	}
	return nil
}

func partition(ctx context.Context, f *fleet) error {
	for _, n := range f.nets[:2] {
		if err := n.cut(true); err != nil {
			return err
		}
		err := pause(ctx, 3*f.term())
		if cerr := n.cut(false); cerr != nil {
			return cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func fullDisk(ctx context.Context, f *fleet) error {
	a := f.agents[0]
	select {
	case err := <-a.Done:
		if err == nil {
			return fmt.Errorf("the agent with a full disk left as if all was well")
		}
		a.Cmd = nil
	case <-time.After(time.Minute):
		return fmt.Errorf("the disk never filled up")
	case <-ctx.Done():
		return ctx.Err()
	}
	if out, err := exec.Command("mount", "-o", "remount,size=200m", f.dir+"/store0").CombinedOutput(); err != nil {
		return fmt.Errorf("remount: %w: %s", err, out)
	}
	return a.Start()
}

// slowAnswers waits until the slow site has been tried often enough, and gives it more time.
func slowAnswers(ctx context.Context, f *fleet) error {
	task := func(state string) (t ledger.Task) {
		ts, err := f.client.Tasks(ctx, f.job, state)
		if err == nil {
			for _, t := range ts {
				if strings.HasPrefix(t.Site, slowSite) {
					return t
				}
			}
		}
		return t
	}
	if err := f.eventually(ctx, "the slow site waits for a person", func() bool { return task("manual").ID > 0 }); err != nil {
		return fmt.Errorf("%w; it is %+v", err, task(""))
	}
	t := task("manual")
	if t.Recalls != 5 || len(t.History) != 6 {
		return fmt.Errorf("the slow site waits for a person after %d recalls: %q", t.Recalls, t.History)
	}
	if _, err := f.client.SetLimits(ctx, f.job, []byte(fmt.Sprintf("limits: {recycle_after: %s}", 10*f.term()))); err != nil {
		return err
	}
	if _, err := f.client.Release(ctx, f.job, "retry", web.Release{NamedTasks: web.NamedTasks{Sites: []string{t.Site}}}); err != nil {
		return err
	}
	return f.eventually(ctx, "the slow site is completed", func() bool { return task("done").Fetched == 1 })
}

func killCoordinator(ctx context.Context, f *fleet) error {
	for range 4 {
		f.coordinators[0].End(syscall.SIGKILL)
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
		if err := f.coordinators[0].Start(); err != nil {
			return err
		}
		if err := pause(ctx, 1700*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func coordinatorAway(ctx context.Context, f *fleet) error {
	f.coordinators[0].End(syscall.SIGKILL)
	if err := pause(ctx, f.o.away); err != nil {
		return err
	}
	return f.coordinators[0].Start()
}

func standby(ctx context.Context, f *fleet) error {
	for i := range 2 {
		f.coordinators[i].End(syscall.SIGKILL)
		err := f.eventually(ctx, "the other coordinator leads", func() bool {
			_, err := f.client.Jobs(ctx)
			return err == nil
		})
		if err == nil {
			err = f.coordinators[i].Start()
		}
		if err == nil {
			err = pause(ctx, 2*time.Second)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// api is where a coordinator listens.
func apiOf(p *process.Process) string { return "http://" + p.Args[slices.Index(p.Args, "--listen")+1] }

// freezeLeaders stops whoever leads, longer than its lease, and lets it go on while the other one leads.
func freezeLeaders(ctx context.Context, f *fleet) error {
	for i := range 10 {
		leads, err := f.leads(ctx)
		if err != nil {
			return fmt.Errorf("before pause %d: %w", i+1, err)
		}
		f.coordinators[leads].Signal(syscall.SIGSTOP)
		err = pause(ctx, time.Duration(15+10*(i%2))*time.Second)
		f.coordinators[leads].Signal(syscall.SIGCONT)
		if err == nil {
			err = f.eventually(ctx, "somebody leads", func() bool {
				_, err := f.client.Jobs(ctx)
				return err == nil
			})
		}
		if err == nil {
			err = pause(ctx, 3*time.Second)
		}
		if err != nil {
			return err
		}
		if err := f.lives(); err != nil {
			return fmt.Errorf("after pause %d: %w", i+1, err)
		}
	}
	return nil
}

// leads returns which coordinator does.
func (f *fleet) leads(ctx context.Context) (int, error) {
	for n, c := range f.coordinators {
		cl, err := web.NewClient(apiOf(c), tokenOfBench, nil)
		if err != nil {
			return 0, err
		}
		if _, err := cl.Jobs(ctx); err == nil {
			return n, nil
		}
	}
	return 0, errors.New("nobody leads")
}

// lives fails if a coordinator has ended by itself.
func (f *fleet) lives() error {
	for n, c := range f.coordinators {
		select {
		case err := <-c.Done:
			return fmt.Errorf("coordinator %d has ended: %w", n, err)
		default:
		}
	}
	return nil
}

func killNATS(ctx context.Context, f *fleet) error {
	for i := range 3 {
		f.nats.Kill(i)
		if err := pause(ctx, 2*time.Second); err != nil {
			return err
		}
		if err := f.nats.Start(i); err != nil {
			return err
		}
		if err := pause(ctx, 3*time.Second); err != nil {
			return err
		}
	}
	return nil
}

func noQuorum(ctx context.Context, f *fleet) error {
	f.nats.Kill(0)
	f.nats.Kill(1)
	if err := pause(ctx, 3*f.term()); err != nil {
		return err
	}
	for i := range 2 {
		if err := f.nats.Start(i); err != nil {
			return err
		}
	}
	return nil
}

// mount makes a small disk of memory.
func (f *fleet) mount(dir, size string) error {
	if os.Getuid() != 0 {
		return fmt.Errorf("%w: a full disk takes a tmpfs, and that root", errSkipped)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: mount: %s", errSkipped, out)
	}
	f.cleanup = append(f.cleanup, func() { _ = exec.Command("umount", "-l", dir).Run() })
	return nil
}

// namespace is a network namespace with two lines to the host: one to the sites, one to the bus.
type namespace struct{ name, bus string }

// Addresses of the host's ends, made for this benchmark.
const (
	hostWeb = "10.231.1.1"
	hostBus = "10.231.2.1"
)

// enter is what a process in the namespace runs under.
func (n *namespace) enter() []string { return []string{"ip", "netns", "exec", n.name} }

// cut cuts the line to the bus, or mends it.
func (n *namespace) cut(off bool) error {
	state := "up"
	if off {
		state = "down"
	}
	return ip("link", "set", n.bus, state)
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}

// openNets makes a namespace for each agent, on two bridges.
func (f *fleet) openNets() error {
	if os.Getuid() != 0 {
		return fmt.Errorf("%w: network namespaces take root", errSkipped)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: iproute2 is not installed", errSkipped)
	}
	f.webAddr = hostWeb
	for i, addr := range []string{hostWeb, hostBus} {
		br := fmt.Sprintf("arfbr%d", i+1)
		f.cleanup = append(f.cleanup, func() { _ = ip("link", "del", br) })
		for _, args := range [][]string{{"link", "add", br, "type", "bridge"}, {"addr", "add", addr + "/24", "dev", br}, {"link", "set", br, "up"}} {
			if err := ip(args...); err != nil {
				return fmt.Errorf("%w: %w", errSkipped, err)
			}
		}
	}
	for i := range f.s.agents {
		n := &namespace{name: fmt.Sprintf("arf%d", i), bus: fmt.Sprintf("arfb%d", i)}
		f.cleanup = append(f.cleanup, func() { _ = ip("netns", "del", n.name) })
		if err := ip("netns", "add", n.name); err != nil {
			return err
		}
		for k, host := range []string{fmt.Sprintf("arfw%d", i), n.bus} {
			inside := fmt.Sprintf("arfi%d", k)
			for _, args := range [][]string{
				{"link", "add", host, "type", "veth", "peer", "name", inside, "netns", n.name}, {"link", "set", host, "master", fmt.Sprintf("arfbr%d", k+1), "up"},
				{"-n", n.name, "addr", "add", fmt.Sprintf("10.231.%d.%d/24", k+1, 10+i), "dev", inside}, {"-n", n.name, "link", "set", inside, "up"},
			} {
				if err := ip(args...); err != nil {
					return err
				}
			}
		}
		if err := ip("-n", n.name, "link", "set", "lo", "up"); err != nil {
			return err
		}
		f.nets = append(f.nets, n)
	}
	return nil
}
