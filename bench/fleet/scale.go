package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"argosy/bench/process"
)

// Sites take a tenth of a second an answer, and an agent sends eight requests at once: eighty URLs a second are what it can
// do, whatever the machine.
const (
	scaleLatency     = 100 * time.Millisecond
	scaleConcurrency = 8
	scaleText        = 10 << 10 // bytes of a page that all of its site have, such as navigation, and
	scaleOwn         = 20 << 10 // that it has for itself; together about what documentation has
)

// measured is what a fleet did in a window.
type measured struct {
	urls                int64
	rate                float64 // URLs a second
	found               float64 // new URLs a URL fetched
	coordinator, agents float64 // seconds of CPU a 1,000 URLs
	cores               float64 // that all agents used
	memory              int     // of the coordinator at most, MB
}

// scale compares one agent with several. A profile of the coordinator is of the several.
func scale(ctx context.Context, o options, tmp string, agents int, window time.Duration, profile string) error {
	o.wide()
	one, err := rate(ctx, o, filepath.Join(tmp, "one"), 1, window, "")
	if err != nil {
		return err
	}
	many, err := rate(ctx, o, filepath.Join(tmp, "many"), agents, window, profile)
	if err != nil {
		return err
	}
	fmt.Printf("agents  URLs/s  of what they could  new/URL  CPU-s/1000 coordinator  CPU-s/1000 agents  cores of all agents  MB coordinator\n")
	for _, m := range []struct {
		n int
		*measured
	}{{1, one}, {agents, many}} {
		could := float64(m.n) * scaleConcurrency / scaleLatency.Seconds()
		fmt.Printf("%6d  %6.1f  %17.3f  %7.2f  %22.3f  %17.3f  %19.2f  %14d\n", m.n, m.rate, m.rate/could, m.found, m.coordinator, m.agents, m.cores, m.memory)
	}
	fmt.Printf("%d agents fetch %.2f times what one fetches\n", agents, many.rate/one.rate)
	return nil
}

// wide has sites enough for nodes to be the limit.
func (o *options) wide() {
	o.sites, o.latency, o.text, o.own, o.concurrency = 128, scaleLatency, scaleText, scaleOwn, scaleConcurrency
	o.limits = "{delay: 0, per_ip: 0, site_connections: 2}"
}

// deciding compares what a coordinator takes under several strategies, which measure what each wants. They take turns, and every other
// round has them the other way round.
func deciding(ctx context.Context, o options, tmp string, agents int, window time.Duration, strategies []string, rounds int) error {
	o.wide()
	all := make(map[string][]*measured)
	for round := range rounds {
		for _, name := range strategies {
			o.placing = fmt.Sprintf("{strategy: %q}", name)
			m, err := rate(ctx, o, filepath.Join(tmp, fmt.Sprintf("%s-%d", name, round)), agents, window, "")
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all[name] = append(all[name], m)
		}
		slices.Reverse(strategies)
	}
	fmt.Println("medians, and all rounds")
	fmt.Println("strategy  URLs/s  CPU-s/1000 agents  coordinator")
	for _, name := range slices.Sorted(slices.Values(strategies)) {
		var speeds, work, costs []float64
		for _, m := range all[name] {
			speeds, work, costs = append(speeds, m.rate), append(work, m.agents), append(costs, m.coordinator)
		}
		fmt.Printf("%-8s  %6.1f  %17.3f  %.3f  %.3f\n", name, middle(speeds), middle(work), middle(costs), costs)
	}
	return nil
}

// versus compares what a coordinator takes with what that of another build takes. They take turns, and every other round has them the
// other way round; each window is compared with the other one of its round.
func versus(ctx context.Context, o options, tmp string, agents int, window time.Duration, against string, rounds int) error {
	o.wide()
	this := o.argosy
	builds := []string{against, this}
	var ratios []float64
	memory := make(map[string][]float64)
	for round := range rounds {
		took := make(map[string]*measured)
		for _, b := range builds {
			o.argosy = b
			m, err := rate(ctx, o, filepath.Join(tmp, fmt.Sprintf("%d-%d", round, len(took))), agents, window, "")
			if err != nil {
				return fmt.Errorf("%s: %w", b, err)
			}
			took[b] = m
			memory[b] = append(memory[b], float64(m.memory))
			fmt.Printf("round %d, %s: %.1f URLs/s, %.2f new/URL, CPU-s/1000: coordinator %.3f, agents %.3f; %d MB coordinator\n", round+1, b, m.rate, m.found, m.coordinator, m.agents, m.memory)
		}
		ratios = append(ratios, took[this].coordinator/took[against].coordinator)
		slices.Reverse(builds)
	}
	fmt.Printf("coordinator's CPU a page, this build to %s: median %.3f (%.3f to %.3f) of %d rounds; memory %.0f to %.0f MB, medians\n",
		against, middle(ratios), slices.Min(ratios), slices.Max(ratios), rounds, middle(memory[this]), middle(memory[against]))
	return nil
}

func rate(ctx context.Context, o options, dir string, agents int, window time.Duration, profile string) (m *measured, err error) {
	f := &fleet{o: o, s: setting{agents: agents}, dir: dir}
	defer f.close()
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	if err := f.submit(ctx); err != nil {
		return nil, err
	}
	if err := f.until(ctx, int64(agents)*400); err != nil { // under way
		return nil, err
	}
	cpu := func() (co, ag float64) {
		for _, p := range f.coordinators {
			co += used(p)
		}
		for _, p := range f.agents {
			ag += used(p)
		}
		return co, ag
	}
	count := func() (fetched, found int64, err error) {
		j, err := f.client.Job(ctx, f.job)
		return j.Counts.Fetched, j.Counts.Discovered, err
	}
	n0, found0, err := count()
	if err != nil {
		return nil, err
	}
	co0, ag0 := cpu()
	begin := time.Now()
	if profile == "" {
		err = pause(ctx, window)
	} else {
		err = f.profile(ctx, window, profile)
	}
	if err != nil {
		return nil, err
	}
	n1, found1, err := count()
	if err != nil {
		return nil, err
	}
	took := time.Since(begin).Seconds()
	co1, ag1 := cpu()
	k := float64(n1-n0) / 1000
	m = &measured{n1 - n0, float64(n1-n0) / took, float64(found1-found0) / float64(n1-n0), (co1 - co0) / k, (ag1 - ag0) / k, (ag1 - ag0) / took, memoryOf(f.coordinators[0], "VmHWM")}
	_, err = f.client.Order(ctx, f.job, "cancel")
	for _, a := range f.agents {
		a.End(syscall.SIGTERM)
	}
	return m, err
}

// profile writes what the coordinator spends its processor time on into a file, while so much time passes.
func (f *fleet) profile(ctx context.Context, lasts time.Duration, file string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", f.api[0], int(lasts.Seconds())), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+tokenOfBench)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("profile: %s: %s", resp.Status, b)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

// used is the CPU time of a process so far, in seconds (Linux: fields 14 and 15 of its stat, in hundredths).
func used(p *process.Process) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}
