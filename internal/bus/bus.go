// Package bus is the only NATS code: an embedded JetStream server, the log as a stream, dispatch to nodes, and the
// registry of nodes. It carries bytes that package crawl encodes and knows nothing about what they say.
//
// Guarantees: Append returns when the entry is on disk; a leader's append fails once another leader has written; a
// full stream refuses and never discards; entries are read in order, without gaps. No host and no URL is ever part
// of a subject.
package bus

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
	identityKey    = "argosy-identity"
)

// NodeTTL is how long a node that does not renew its registration is believed to be there.
const NodeTTL = 15 * time.Second

// Config says how the embedded server runs.
type Config struct {
	Dir          string        // where the log lives
	MaxLog       int64         // bytes; the log refuses when full
	MaxMemory    int64         // bytes for dispatch and registry
	RecycleAfter time.Duration // how long a dispatched hint lives
	Logger       *slog.Logger  // nil discards
}

// DefaultConfig returns a Config for one machine.
func DefaultConfig(dir string) Config {
	return Config{Dir: dir, MaxLog: 8 << 30, MaxMemory: 256 << 20, RecycleAfter: time.Minute}
}

// Server is an embedded JetStream server that opens no port.
type Server struct {
	srv *server.Server
	cfg Config
}

// Serve starts the embedded server.
func Serve(c Config) (*Server, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "argosy", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: c.Dir, JetStreamMaxMemory: c.MaxMemory, JetStreamMaxStore: c.MaxLog + c.MaxLog/4,
		SyncAlways: true, MaxPayload: 1 << 20,
	})
	if err != nil {
		return nil, fmt.Errorf("start the embedded bus: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("start the embedded bus in %s: not ready after 30 s (is the disk full?)", c.Dir)
	}
	return &Server{srv: s, cfg: c}, nil
}

// Close stops the server and waits until its files are closed.
func (s *Server) Close() {
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
}

// Connect opens a connection inside the process. The first one creates streams and buckets.
func (s *Server) Connect(ctx context.Context) (*Client, error) {
	nc, err := nats.Connect("", nats.InProcessServer(s.srv), nats.MaxReconnects(-1), nats.Name("argosy"))
	if err != nil {
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	c := &Client{nc: nc}
	if err := c.open(ctx, s.cfg); err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

// Client is a connection to the bus.
type Client struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	log      jetstream.Stream
	nodes    jetstream.KeyValue
	identity string
	lead     uint64 // last sequence of the lead subject that this client knows of
	last     uint64
}

func (c *Client) open(ctx context.Context, cfg Config) (err error) {
	if c.js, err = jetstream.New(c.nc); err != nil {
		return err
	}
	if err = c.openLog(ctx, cfg); err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	_, err = c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: dispatchStream, Subjects: []string{dispatchPrefix + ">"}, Storage: jetstream.MemoryStorage,
		Retention: jetstream.WorkQueuePolicy, MaxAge: cfg.RecycleAfter, MaxBytes: cfg.MaxMemory / 2, Discard: jetstream.DiscardOld,
	})
	if err != nil {
		return fmt.Errorf("open dispatch: %w", err)
	}
	c.nodes, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: nodeBucket, TTL: NodeTTL, Storage: jetstream.MemoryStorage, MaxBytes: 16 << 20,
	})
	if err != nil {
		return fmt.Errorf("open the node registry: %w", err)
	}
	return nil
}

func (c *Client) openLog(ctx context.Context, cfg Config) error {
	st, err := c.js.Stream(ctx, logStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		st, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: logStream, Subjects: []string{logSubjects}, Storage: jetstream.FileStorage,
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: cfg.MaxLog,
			Duplicates: 100 * time.Millisecond, Metadata: map[string]string{identityKey: randomID()},
		})
	}
	if err != nil {
		return err
	}
	info, err := st.Info(ctx)
	if err != nil {
		return err
	}
	c.log = st
	c.identity = info.Config.Metadata[identityKey]
	c.last = info.State.LastSeq
	m, err := st.GetLastMsgForSubject(ctx, leadSubject)
	switch {
	case err == nil:
		c.lead = m.Sequence
	case !errors.Is(err, jetstream.ErrMsgNotFound):
		return err
	}
	return nil
}

func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// Close closes the connection.
func (c *Client) Close() { c.nc.Close() }

// Identity returns the log's identity and its last sequence at the time of connecting.
func (c *Client) Identity() (stream string, last uint64) { return c.identity, c.last }

// ErrDeposed says that another leader has written to the log.
var ErrDeposed = errors.New("another coordinator leads: the log has moved on")

// Append appends an entry of the leader and returns its sequence. It is stored when Append returns; it fails with
// ErrDeposed when the log has an entry of a leader that this client has not written.
func (c *Client) Append(ctx context.Context, entry []byte) (uint64, error) {
	ack, err := c.js.Publish(ctx, leadSubject, entry, jetstream.WithExpectLastSequencePerSubject(c.lead))
	if err != nil {
		var api *jetstream.APIError
		if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			return 0, ErrDeposed
		}
		return 0, fmt.Errorf("append to the log: %w", err)
	}
	c.lead = ack.Sequence
	return ack.Sequence, nil
}

var nodeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckNode refuses node names that cannot stand in a subject.
func CheckNode(name string) error {
	if !nodeName.MatchString(name) {
		return fmt.Errorf("node name %q: allowed are 1 to 64 letters, digits, - and _", name)
	}
	return nil
}

// Report appends parts of a node to the log. They are stored when it returns.
func (c *Client) Report(ctx context.Context, node string, entry []byte) error {
	if _, err := c.js.Publish(ctx, partSubject+node, entry); err != nil {
		return fmt.Errorf("append a part to the log: %w", err)
	}
	return nil
}

// Trim forgets entries below seq. The leader's last entry stays: it is what fences the next one.
func (c *Client) Trim(ctx context.Context, seq uint64) error {
	return c.log.Purge(ctx, jetstream.WithPurgeSequence(min(seq, c.lead)))
}

// Read reads the log from a sequence on, in order, and calls fn for every entry, with its sequence and the time at
// which it was stored (Unix ms), until ctx ends or fn fails.
func (c *Client) Read(ctx context.Context, from uint64, fn func(seq uint64, at int64, data []byte) error) error {
	cons, err := c.js.OrderedConsumer(ctx, logStream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(1, from), InactiveThreshold: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	return consume(ctx, cons, func(m jetstream.Msg) error {
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		return fn(meta.Sequence.Stream, meta.Timestamp.UnixMilli(), m.Data())
	})
}

// pullBatch bounds what is under way to a reader, in messages of at most MaxPart bytes.
const pullBatch = 64

type messages interface {
	Messages(...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error)
}

// consume pulls messages until ctx ends or fn fails.
func consume(ctx context.Context, cons messages, fn func(jetstream.Msg) error) error {
	// Not by bytes: a pull that is limited by bytes may end early, and the next one then waits for its expiry.
	it, err := cons.Messages(jetstream.PullMaxMessages(pullBatch))
	if err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	defer it.Stop()
	stop := context.AfterFunc(ctx, it.Stop)
	defer stop()
	for {
		m, err := it.Next()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("read messages: %w", err)
		}
		if err := fn(m); err != nil {
			return err
		}
	}
}
