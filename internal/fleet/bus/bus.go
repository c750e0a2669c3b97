// Package bus is the only NATS code: an embedded JetStream server or a connection to one elsewhere, the log as a
// stream, dispatch to nodes, the registry of nodes, leadership, checkpoints, and who may connect. It carries bytes that package crawl encodes and knows nothing about what they say.
//
// Guarantees: Append returns when the entry is on disk; a leader's append fails once another leader has written; a
// full stream refuses and never discards; entries are read in order, without gaps. No host and no URL is ever part
// of a subject.
package bus

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
)

// MaxPart bounds an encoded entry, in bytes; NATS refuses messages over 1 MiB.
const MaxPart = 512 << 10

const (
	shard          = "0" // the only shard so far: it stands in every subject of the log
	logStream      = "ARGOSY_LOG_" + shard
	logSubjects    = "argosy.log." + shard + ".>"
	leadSubject    = "argosy.log." + shard + ".lead"
	partSubject    = "argosy.log." + shard + ".part."
	dispatchStream = "ARGOSY_DISPATCH"
	dispatchPrefix = "argosy.node."
	nodeBucket     = "ARGOSY_NODES"
	nodeStream     = "KV_" + nodeBucket
	identityKey    = "argosy-identity"
)

// registryRoom bounds the registry of nodes, in bytes: 4,096 nodes of 8 KiB.
const registryRoom = 32 << 20

// Config says how the bus is opened.
type Config struct {
	Dir          string        // where the embedded server keeps the log
	MaxLog       int64         // bytes; the log refuses when full
	MaxDispatch  int64         // bytes of messages to nodes, of which those that came last are kept
	RecycleAfter time.Duration // how long a dispatched hint lives
	Replicas     int           // of the log and the registries, in a cluster
	Listen       string        // host:port of the embedded server; empty: no port is opened
	TLS          *tls.Config   // of that port; nil: plain TCP
	Keys         *Keys         // who may connect; nil: whoever is in the process
	LostAfter    time.Duration // how long a bus elsewhere must say that it has no log until it is believed; 0: lostAfter
	Logger       *slog.Logger  // nil discards

	// Full is called, from any goroutine and maybe often, when the disk of the embedded server is full. What is sent to it then gets no
	// answer, also when there is room again, until it is opened anew. nil: nobody is told.
	Full func(error)
}

// DefaultConfig returns a Config for one machine.
func DefaultConfig(dir string) Config {
	return Config{Dir: dir, MaxLog: 8 << 30, MaxDispatch: 128 << 20, RecycleAfter: time.Minute, Replicas: 1}
}

// Connect opens a coordinator's connection to a bus that runs elsewhere, and creates what is missing there.
func Connect(ctx context.Context, d Dial, c Config) (*Client, error) {
	opts, err := d.options(c.Logger)
	if err != nil {
		return nil, err
	}
	return connect(ctx, d.URL, c, opts)
}

func connect(ctx context.Context, url string, c Config, opts []nats.Option) (*Client, error) {
	nc, err := reach(url, opts)
	var network net.Error
	switch {
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout), errors.As(err, &network):
		return nil, fmt.Errorf("connect to the bus: %w: %w", ErrAway, err)
	case err != nil:
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	cl := &Client{nc: nc, cfg: c, every: term.Renew}
	if err := cl.ready(ctx, url, cl.open); err != nil {
		nc.Close()
		return nil, err
	}
	return cl, nil
}

// ready opens what is on a bus, again and again as long as that may help: a cluster that has just started chooses its leaders first, and an embedded
// server, whose url is empty, does not answer in time while its disk is busy. Another error of the latter is one for good.
func (c *Client) ready(ctx context.Context, url string, open func(context.Context) error) error {
	for end := time.Now().Add(patience); ; {
		err := open(ctx)
		if err == nil {
			return nil
		}
		if err = c.cfg.lacks(err); errors.Is(err, ErrNoRoom) { // only a person makes room
			return err
		}
		late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
		if url == "" && !late || time.Now().After(end) || !pause(ctx, retryEvery) {
			var api *jetstream.APIError
			if url != "" && (!errors.As(err, &api) || api.Code >= 500) { // nobody answers, or not yet
				err = fmt.Errorf("%w: %w", ErrAway, err)
			}
			return err
		}
		c.say("the bus is not ready", err)
	}
}

// ErrNoRoom says that the servers of the bus do not set enough aside for what a coordinator keeps there. It is ErrAway as well: somebody
// may give them more.
var ErrNoRoom = errors.New("the bus has too little room, or too few servers")

// Codes of errors of JetStream that say so; the library has no names for them.
const (
	noPeers      = 10005 // no server of a cluster has enough
	noResources  = 10023
	noMemoryLeft = 10028
	noStoreLeft  = 10047
)

// lacks says what a bus must set aside, where an error says that it has too little.
func (c Config) lacks(err error) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch api.ErrorCode {
	case noPeers, noResources, noMemoryLeft, noStoreLeft:
	default:
		return err
	}
	inMemory, onDisk := c.MaxDispatch+registryRoom, c.MaxLog+maxRecords+maxFleet+leaseRoom
	if c.Replicas > 1 {
		inMemory, onDisk = 0, onDisk+inMemory
	}
	const mib = 1 << 20
	return fmt.Errorf("%w: %w: each of %d servers needs a max_file_store of %d MiB and more, and a max_memory_store of %d MiB: %w",
		ErrAway, ErrNoRoom, c.Replicas, onDisk/mib, inMemory/mib, err)
}

// patience is how long a cluster may take to get ready.
const patience = 30 * time.Second

// Join opens a node's connection. It creates nothing and may do only what a node may.
func Join(d Dial, log *slog.Logger) (*Client, error) {
	opts, err := d.options(log)
	if err != nil {
		return nil, err
	}
	nc, err := reach(d.URL, opts)
	if errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) {
		return nil, fmt.Errorf("connect to the bus: %w: %w", ErrAway, err)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	cl := &Client{nc: nc, cfg: Config{Logger: log}, login: d.Login, pub: d.Pub, every: term.Renew}
	if cl.js, err = jetstream.New(nc); err != nil {
		nc.Close()
		return nil, err
	}
	return cl, nil
}

// Client is a connection to the bus.
type Client struct {
	nc    *nats.Conn
	cfg   Config
	js    jetstream.JetStream
	log   jetstream.Stream
	nodes jetstream.KeyValue
	lead  uint64       // last sequence of the lead subject that this client knows of
	login func() Login // a node's, to sign with; nil: nothing is signed
	pub   string       // its public key
	pubs  sync.Map     // a coordinator's: public keys that nodes registered with, by their names
	trust atomic.Pointer[func(node, pub string) bool]
	is    atomic.Pointer[string] // identity of the log, as Refresh saw it last
	taken turn
	acks  atomic.Bool               // a coordinator's: nodes acknowledge messages, see makeDispatch
	deaf  atomic.Pointer[time.Time] // a coordinator's: nodes are not watched since; nil: they are, or need not be
	told  told
	late  late          // answers to reports
	every time.Duration // how often a node renews its registration, and a coordinator looks for what the bus keeps in memory: term.Renew
}

// Trust has registrations believed only of who a name belongs to, as fn says.
func (c *Client) Trust(fn func(node, pub string) bool) { c.trust.Store(&fn) }

func (c *Client) open(ctx context.Context) (err error) {
	if c.js, err = jetstream.New(c.nc); err != nil {
		return err
	}
	if err = c.openLog(ctx); err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	if err = c.make(ctx); err != nil {
		return err
	}
	if c.nodes, err = c.js.KeyValue(ctx, nodeBucket); err != nil {
		return fmt.Errorf("open the node registry: %w", err)
	}
	return nil
}

// make makes what carries messages to nodes, and their registry, where they are not there: at first, and whenever the bus may have
// forgotten them.
func (c *Client) make(ctx context.Context) error {
	storage := jetstream.MemoryStorage
	if c.cfg.Replicas > 1 { // a server of a cluster that starts again has what it had, and votes at once
		storage = jetstream.FileStorage
	}
	if err := c.makeDispatch(ctx, storage); err != nil {
		return fmt.Errorf("open dispatch: %w", err)
	}
	// A bucket of keys and values as its library makes them, but without rollups: with one a node could empty it.
	_, err := c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: nodeStream, Subjects: []string{"$KV." + nodeBucket + ".>"}, Storage: storage, Replicas: c.cfg.Replicas, MaxMsgsPerSubject: 1,
		MaxAge: term.NodeTTL, MaxBytes: registryRoom, MaxMsgSize: crawl.MaxRegistration + 1<<10, Discard: jetstream.DiscardNew, DenyDelete: true, AllowDirect: true,
	})
	if err != nil {
		return fmt.Errorf("open the node registry: %w", err)
	}
	return nil
}

// makeDispatch makes the stream of messages to nodes. They stay in it until they are as old as a lease may be silent: for each one that
// a node acknowledged, so that it could go, the server would ask the inboxes of all nodes whether it is theirs as well. A stream that an
// earlier build made in a cluster does so; how it keeps messages cannot be changed, and goes on.
func (c *Client) makeDispatch(ctx context.Context, storage jetstream.StorageType) error {
	conf := jetstream.StreamConfig{
		Name: dispatchStream, Subjects: []string{dispatchPrefix + ">"}, Storage: storage, Replicas: c.cfg.Replicas,
		Retention: jetstream.LimitsPolicy, MaxAge: c.cfg.RecycleAfter, MaxBytes: c.cfg.MaxDispatch, Discard: jetstream.DiscardOld,
	}
	st, err := c.js.Stream(ctx, dispatchStream)
	switch {
	case err == nil:
		conf.Retention = st.CachedInfo().Config.Retention
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return err
	}
	if _, err = c.js.CreateOrUpdateStream(ctx, conf); err != nil {
		return err
	}
	c.acks.Store(conf.Retention == jetstream.WorkQueuePolicy)
	return nil
}

func (c *Client) openLog(ctx context.Context) error {
	st, err := c.js.Stream(ctx, logStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		st, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: logStream, Subjects: []string{logSubjects}, Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas,
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: c.cfg.MaxLog,
			Duplicates: 100 * time.Millisecond, Metadata: map[string]string{identityKey: randomID()},
		})
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another coordinator was first
		st, err = c.js.Stream(ctx, logStream)
	}
	if err == nil && c.log == nil { // which goes by the name, and others may use it now
		c.log = st
	}
	return err
}

func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// Close closes the connection.
func (c *Client) Close() { c.nc.Close() }

// Refresh returns the log's identity and its last sequence, and learns who wrote last: what Append then writes follows
// on that.
func (c *Client) Refresh(ctx context.Context) (stream string, last uint64, err error) {
	info, err := c.log.Info(ctx)
	if err != nil {
		return "", 0, awayOrLost("look the log up", err)
	}
	m, err := c.log.GetLastMsgForSubject(ctx, leadSubject)
	switch {
	case err == nil:
		c.lead = m.Sequence
	case errors.Is(err, jetstream.ErrMsgNotFound):
		c.lead = 0
	default:
		return "", 0, awayOrLost("look the log up", err)
	}
	stream = info.Config.Metadata[identityKey]
	c.is.Store(&stream)
	return stream, max(info.State.LastSeq, c.lead), nil
}

// First returns the sequence of the oldest entry that the log still has.
func (c *Client) First(ctx context.Context) (uint64, error) {
	info, err := c.log.Info(ctx)
	if err != nil {
		return 0, awayOrLost("look the log up", err)
	}
	return info.State.FirstSeq, nil
}

// Span returns the first and the last sequence that the log has, and when it stored the first, Unix ms; 0: it is empty.
func (c *Client) Span(ctx context.Context) (first, last uint64, since int64, err error) {
	info, err := c.log.Info(ctx)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("look the log up: %w: %w", ErrAway, err)
	}
	if info.State.Msgs > 0 {
		since = info.State.FirstTime.UnixMilli()
	}
	return info.State.FirstSeq, info.State.LastSeq, since, nil
}

// ErrDeposed says that another leader has written to the log.
var ErrDeposed = errors.New("another coordinator leads: the log has moved on")

// ErrAway says that the bus did not answer: it has no leader, or the line is cut.
var ErrAway = errors.New("the bus does not answer")

// Append appends an entry of the leader and returns its sequence. It is stored when Append returns; it fails with
// ErrDeposed when the log has an entry of a leader that this client has not written.
func (c *Client) Append(ctx context.Context, entry []byte) (uint64, error) {
	for {
		m := &nats.Msg{Subject: leadSubject, Data: entry, Header: nats.Header{}}
		if c.cfg.Keys != nil {
			m.Header.Set(signField, c.cfg.Keys.sign(entry))
		}
		ack, err := c.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(c.lead))
		if err == nil {
			c.lead = ack.Sequence
			return ack.Sequence, nil
		}
		var api *jetstream.APIError
		if !errors.As(err, &api) || api.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence {
			return 0, fmt.Errorf("append to the log: %w: %w", ErrAway, err)
		}
		if err := c.skipForged(ctx); err != nil {
			return 0, err
		}
	}
}

// signField is the header by which a leader's entry, or a node's, is known for one: a node can have the server write to
// any subject, by naming it as the place for an answer, but not with this.
const signField = "Argosy-Sign"

// keyField is the header with the public key of the node that has signed.
const keyField = "Argosy-Key"

// signed tells whether an entry on the leader's subject is a leader's.
func (c *Client) signed(h nats.Header, entry []byte) bool {
	return c.cfg.Keys == nil || hmac.Equal([]byte(h.Get(signField)), []byte(c.cfg.Keys.sign(entry)))
}

// skipForged moves on past entries that no leader wrote. If a leader has written since, it is another one.
func (c *Client) skipForged(ctx context.Context) error {
	for n := 0; ; n++ {
		m, err := c.log.GetMsg(ctx, c.lead+1, jetstream.WithGetMsgSubject(leadSubject))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound) && n > 0:
			return nil
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return ErrDeposed
		case err != nil:
			return fmt.Errorf("append to the log: %w: %w", ErrAway, err)
		case c.signed(m.Header, m.Data):
			return ErrDeposed
		}
		c.say("an entry on the leader's subject is not a leader's", fmt.Errorf("entry %d", m.Sequence))
		c.lead = m.Sequence
	}
}

// Nobody is whose entry it is that is not signed by who alone may write where it stands.
const Nobody = "?"

// CheckNode refuses node names that cannot stand in a subject.
func CheckNode(name string) error {
	if !crawl.ValidNode(name) {
		return fmt.Errorf("node name %q: allowed are 1 to 64 letters, digits, - and _", name)
	}
	return nil
}

// Trim forgets entries below seq. The leader's last entry stays: it is what fences the next one.
func (c *Client) Trim(ctx context.Context, seq uint64) error {
	if err := c.log.Purge(ctx, jetstream.WithPurgeSequence(min(seq, c.lead))); err != nil {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return nil
}

// Read reads the log from a sequence on, in order, and calls fn for every entry, with its sequence, the time at which
// it was stored (Unix ms) and the node whose subject it came on (empty: a leader's), until ctx ends or fn fails. While
// the bus is away it waits; it fails with ErrLost where the log is not the one any more that Refresh saw.
func (c *Client) Read(ctx context.Context, from uint64, fn func(seq uint64, at int64, node string, data []byte) error) error {
	next := max(1, from)
	var r reading
	if is := c.is.Load(); is != nil {
		r.is = *is
	}
	for {
		if err := c.check(ctx, &r, next); err != nil {
			return err
		}
		cons, err := c.reader(ctx, next)
		if err == nil {
			var failed error
			got := uint64(0) // messages of this consumer
			silent := func() error { return c.silent(ctx, next) }
			err = c.consume(ctx, cons, silent, func(m jetstream.Msg) error {
				meta, err := m.Metadata()
				if err != nil {
					return err
				}
				if got++; meta.Sequence.Consumer != got {
					return errGap
				}
				if meta.Sequence.Stream > next {
					failed = fmt.Errorf("%w: entry %d is wanted, %d is the first", crawl.ErrTrimmed, next, meta.Sequence.Stream)
					return failed
				}
				node, _ := strings.CutPrefix(m.Subject(), partSubject)
				switch {
				case node == m.Subject():
					if node = ""; !c.signed(m.Headers(), m.Data()) {
						node = Nobody
					}
				case !c.cfg.Keys.wrote(node, m.Headers().Get(keyField), m.Headers().Get(signField), m.Data()):
					node = Nobody
				}
				next = meta.Sequence.Stream + 1
				failed = fn(meta.Sequence.Stream, meta.Timestamp.UnixMilli(), node, m.Data())
				return failed
			})
			if failed != nil {
				return failed
			}
		}
		if ctx.Err() != nil || err == nil {
			return nil
		}
		c.say("reading the log is interrupted", err)
		if !pause(ctx, retryEvery) {
			return nil
		}
	}
}

// reader makes a consumer of the log, with a name of its own: one that a dead server of a cluster was chosen for is never
// there, and the library's ordered consumer asks for the same one again and again.
func (c *Client) reader(ctx context.Context, from uint64) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return c.js.CreateConsumer(ctx, logStream, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: time.Minute, Replicas: 1, MemoryStorage: true,
	})
}

// errGap says that a message was lost between the bus and this process.
var errGap = errors.New("a message is missing")

// sayEvery is how often the same is said: what is tried several times a second fails as often.
const sayEvery = 10 * time.Second

// told is what was said, when, and how often it was kept back since.
type told struct {
	mu   sync.Mutex
	last map[string]time.Time
	kept map[string]int
}

// mostTold bounds what is remembered to have been said: errors may name things without end.
const mostTold = 1000

// take reports whether something is said now, and how often it was not since it was said last.
func (t *told) take(what string, now time.Time) (kept int, say bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil || len(t.last) > mostTold {
		t.last, t.kept = map[string]time.Time{}, map[string]int{}
	}
	if at, ok := t.last[what]; ok && now.Sub(at) < sayEvery {
		t.kept[what]++
		return 0, false
	}
	kept = t.kept[what]
	t.last[what], t.kept[what] = now, 0
	return kept, true
}

// say says what went wrong and is tried again, and now and then only what goes wrong again and again.
func (c *Client) say(what string, err error) { c.told.say(c.cfg.Logger, what, what, err) }

// say says something that is known by a key; nobody is told where there is no logger.
func (t *told) say(log *slog.Logger, key, what string, err error) {
	kept, now := t.take(key, time.Now())
	if log == nil || !now {
		return
	}
	if kept > 0 {
		log.Warn(what, "error", err, "again", kept)
		return
	}
	log.Warn(what, "error", err)
}

// pause waits; false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// pullBatch bounds what is under way to a reader, in messages of at most MaxPart bytes.
const pullBatch = 64

// pullFor is how long a request for messages stands. Where a node has joined again with other credentials (keys were rotated), the server goes on
// giving its messages in turn to the requests of the connection before, until they have expired: what they get is lost.
const pullFor = 2 * heartbeat

// heartbeat is how often a quiet server says that it is there; twice this long without a word, and reading begins anew.
const heartbeat = time.Second

type messages interface {
	Messages(...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error)
}

var errReconnected = errors.New("the connection is a new one")

// consume pulls messages until ctx ends, fn or silent fails or the connection has been made anew: what was asked for over the one
// before will not come. silent is asked whenever nothing has come for a while; nil: nobody is.
func (c *Client) consume(ctx context.Context, cons messages, silent func() error, fn func(jetstream.Msg) error) error {
	// Not by bytes: a pull that is limited by bytes may end early, and the next one then waits for its expiry.
	it, err := cons.Messages(jetstream.PullMaxMessages(pullBatch), jetstream.PullExpiry(pullFor), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	defer it.Stop()
	stop := context.AfterFunc(ctx, it.Stop)
	defer stop()
	var anew atomic.Bool
	back, done := c.nc.StatusChanged(nats.CONNECTED), make(chan struct{})
	defer c.nc.RemoveStatusListener(back)
	defer close(done)
	go func() {
		select {
		case <-back:
			anew.Store(true)
			it.Drain() // what has come already counts
		case <-done:
		}
	}()
	var patience []jetstream.NextOpt
	if silent != nil {
		patience = append(patience, jetstream.NextMaxWait(c.cfg.lostAfter()))
	}
	for {
		m, err := it.Next(patience...)
		if err != nil {
			switch {
			case ctx.Err() != nil:
				return nil
			case silent != nil && errors.Is(err, nats.ErrTimeout):
				if err := silent(); err != nil {
					return err
				}
				continue
			case anew.Load():
				err = errReconnected
			}
			return fmt.Errorf("read messages: %w", err)
		}
		if err := fn(m); err != nil {
			return err
		}
	}
}
