package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
)

// liar is a node that says what is wrong: every field of every message that a node can send is changed, in turn, into everything odd that
// testkit.Mutate knows of its kind, and bytes of messages are scrambled.
type liar struct {
	api, dir string
	share    float64
	forge    bool
	began    time.Time
	rand     *rand.Rand
	node     string      // its name, and
	key      bus.NodeKey // its key: it takes others when it is not let in
	life     string
	leases   chan *crawl.Lease

	petitions, infos turns
	parts, measures  turns
	joined, refused  int
	sent, scrambled  int
	unsent           int
	honest           bool // in its last registration
}

// The rarer messages are sent this often.
const liesEvery = 250 * time.Millisecond

// turns goes through the changes of a kind of message.
type turns struct{ n, rounds int }

// change changes the next field; every round begins at the first.
func (t *turns) change(v any) {
	t.n++
	if _, ok := testkit.Mutate(v, t.n-1); !ok {
		t.n, t.rounds = 0, t.rounds+1
	}
}

func (t *turns) String() string { return fmt.Sprintf("%d rounds and %d changes", t.rounds, t.n) }

// run lies until ctx ends, then says how often.
func (l *liar) run(ctx context.Context) (err error) {
	log.SetOutput(io.Discard) // net/http says there what it thinks of answers to odd requests
	l.began, l.rand, l.leases = time.Now(), rand.New(rand.NewPCG(14, 1)), make(chan *crawl.Lease, 1000)
	if err := os.MkdirAll(filepath.Join(l.dir, "liar"), 0o700); err != nil {
		return err
	}
	if err := l.rename(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := l.live(ctx); err != nil && ctx.Err() == nil {
			l.refused++
			if err := l.rename(); err != nil {
				return err
			}
			_ = pause(ctx, 200*time.Millisecond)
		}
		l.keep(ctx)
	}
	fmt.Printf("liar: %d times joined, %d times not let in, and came with another name and key; %d messages, %d of them with scrambled bytes, %d not stored\n", l.joined, l.refused, l.sent, l.scrambled, l.unsent)
	fmt.Printf("liar: all fields of petitions: %s; of registrations: %s; of parts: %s; of measurements: %s\n", &l.petitions, &l.infos, &l.parts, &l.measures)
	return nil
}

// rename makes another node of it, that nothing is known of.
func (l *liar) rename() (err error) {
	l.node = fmt.Sprint(liarName, l.refused)
	l.key, err = bus.NewNodeKey()
	return err
}

// lies reports whether a node is, or was, the one that lies.
func lies(node string) bool { return strings.HasPrefix(node, liarName) }

// live joins, and says what is wrong until it is shut out, or for a while.
func (l *liar) live(ctx context.Context) error {
	cl, err := web.NewClient(l.api, tokenOfBench, nil)
	if err != nil {
		return err
	}
	l.life = fmt.Sprint("liar-", l.joined+l.refused)
	pet := bus.Petition{Node: l.node, Wire: bus.Wire, Version: "liar", Store: "file://" + filepath.Join(l.dir, "liar")}
	pass, err := cl.Join(ctx, l.key, pet)
	if err != nil {
		return err
	}
	l.joined++
	ctx, out := context.WithTimeout(ctx, 20*time.Second)
	defer out()
	login := l.key.Login(pass.Login)
	c, err := bus.Join(bus.Dial{
		URL: strings.Replace(pass.Bus, "*", "127.0.0.1", 1), Login: func() bus.Login { return login }, Node: l.node, Pub: l.key.Public(), Denied: func(error) { out() },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer c.Close()
	self := l.info()
	done, often := make(chan error, 3), make(chan struct{})
	go func() { done <- c.Register(ctx, func() crawl.NodeInfo { return l.says(self) }, often) }()
	go func() { done <- c.Receive(ctx, l.node, l.take) }()
	go func() { done <- l.ask(ctx, cl, pet, often) }()
	for ctx.Err() == nil {
		l.say(ctx, c)
		l.keep(ctx)
	}
	for range cap(done) {
		<-done
	}
	return nil
}

// ask asks again and again to be let in, with something that is wrong, and has the node register as often.
func (l *liar) ask(ctx context.Context, cl *web.Client, pet bus.Petition, often chan<- struct{}) error {
	for pause(ctx, liesEvery) == nil {
		odd := pet
		if !l.forge {
			l.petitions.change(&odd)
			_, _ = cl.Join(ctx, l.key, odd) // refused or not
		}
		select {
		case often <- struct{}{}:
		case <-ctx.Done():
		}
	}
	return nil
}

// info is what the node says of itself when it does not lie.
func (l *liar) info() crawl.NodeInfo {
	return crawl.NodeInfo{
		Node: l.node, Incarnation: l.life, Leases: 8, Concurrency: 8, Store: "file://" + filepath.Join(l.dir, "liar"), Offer: [3]float64{1, 1e9, 1e8}, Prices: [3]float64{1, 1, 1},
		Wire: bus.Wire, Version: "liar", StoreBits: 1e8, Labels: map[string]string{"city": "Nowhere"},
	}
}

// says is what it says of itself, which is i: every other time something is wrong.
func (l *liar) says(i crawl.NodeInfo) crawl.NodeInfo {
	i.Labels = maps.Clone(i.Labels) // changes go into them
	if l.honest = !l.honest; !l.honest && !l.forge {
		l.infos.change(&i)
	}
	return i
}

// take takes a lease.
func (l *liar) take(msg []byte, _ time.Duration) error {
	var d crawl.Dispatch
	if crawl.Unmarshal(msg, &d) == nil && d.Kind == crawl.DispatchLease {
		select {
		case l.leases <- d.Lease:
		default:
		}
	}
	return nil
}

// say sends one message.
func (l *liar) say(ctx context.Context, c *bus.Client) {
	lease := &crawl.Lease{ID: l.rand.Uint64(), Attempt: 1, Epoch: 1, Secret: "guessed", Node: l.node, Incarnation: l.life}
	url, other := "http://s0.test/", "http://s1.test/"
	select {
	case lease = <-l.leases:
		if len(lease.Targets) > 0 {
			url = lease.Targets[l.rand.IntN(len(lease.Targets))].URL
			other = lease.Targets[0].URL
		}
	default:
	}
	e := testkit.Whole(*lease, url, other)
	for i := range e.Parts { // of the lease
		e.Parts[i].Outcomes[0].Gen, e.Parts[i].Outcomes[0].Owner = 0, 0
	}
	switch {
	case l.forge:
		l.forged(&e, lease)
	case lease.Secret == "guessed" && l.rand.IntN(2) == 0:
		e.Kind = crawl.EntryMeasures
		l.measures.change(&e)
	default:
		for range 1 + l.rand.IntN(3) {
			l.parts.change(&e)
		}
	}
	b, err := crawl.Marshal(&e)
	if err != nil {
		return
	}
	if !l.forge && l.rand.IntN(4) == 0 {
		b = l.scramble(b)
		l.scrambled++
	}
	try, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	l.sent++
	if err := c.Report(try, l.node, b); err != nil {
		l.unsent++
	}
}

// forged says of a site and of other nodes what would have everything given to the liar, or sites given to nobody: as far as it is let.
func (l *liar) forged(e *crawl.Entry, lease *crawl.Lease) {
	for i := range e.Parts {
		p := &e.Parts[i]
		p.Outcomes, p.Found = nil, nil
		p.Bytes, p.WorkedUS = 1<<40, 1
		p.Measures = []crawl.Measure{{Kind: crawl.MeasureBC, URL: "http://" + lease.Site + "/", Bits: 1e12, Seconds: 1}, {Kind: crawl.MeasurePing, URL: "http://" + lease.Site + "/", MS: []float64{0.01, 0.01}}}
	}
	if lease.Secret == "guessed" {
		e.Kind = crawl.EntryMeasures
		e.Measures = []crawl.Measure{{Kind: crawl.MeasurePing, Node: fmt.Sprint("n", l.rand.IntN(honestAgents)), MS: []float64{1e5, 1e5}}, {Kind: crawl.MeasureBS, Store: "file:///x", Bits: 1e12, Seconds: 1}}
	}
}

// scramble changes bytes of a message as it goes over the wire.
func (l *liar) scramble(b []byte) []byte {
	for range 1 + l.rand.IntN(4) {
		at := l.rand.IntN(len(b))
		switch l.rand.IntN(3) {
		case 0:
			b[at] ^= 1 << l.rand.IntN(8)
		case 1:
			b = slices.Delete(b, at, min(len(b), at+1+l.rand.IntN(8)))
		case 2:
			b = slices.Insert(b, at, slices.Clone(b[at:min(len(b), at+1+l.rand.IntN(64))])...)
		}
		if len(b) == 0 {
			return []byte{0}
		}
	}
	return b
}

// keep rests until no more of a core was used than its share.
func (l *liar) keep(ctx context.Context) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return
	}
	used := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	_ = pause(ctx, max(0, time.Duration(float64(used)/l.share)-time.Since(l.began)))
}
