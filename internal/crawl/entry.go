package crawl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// WireVersion is the version of the wire format: of log entries, parts and dispatches. A reader refuses a newer one.
const WireVersion = 1

// ErrTrimmed says that the log no longer has an entry that a reader wants.
var ErrTrimmed = errors.New("the log no longer goes back that far")

// EntryKind names what an entry of the log says.
type EntryKind uint8

// Kinds of entries: append only.
const (
	EntryTerm     EntryKind = iota + 1 // a coordinator begins a term
	EntrySubmit                        // a job
	EntryLimits                        // new limits for a job
	EntryGrant                         // leases and refills
	EntryParts                         // parts, from one incarnation of one node
	EntryRecall                        // leases taken back
	EntryRetry                         // tasks or failed URLs released by a person
	EntryDrop                          // tasks dropped by a person
	EntryState                         // a job's new state: a run of it ended, or a person paused, resumed or cancelled it
	EntryMeasures                      // measurements of a node that no lease asked for
	EntryMark                          // nothing: that it comes back shows that the log can be written and has been read
	EntryAside                         // an entry of a node that the ledger could never apply
	EntryOrder                         // nothing: who has ordered what, for people to read
	EntrySeeds                         // a piece of a job's list of seeds
	EntryRound                         // a market between the crawlers of a job
	EntryWalk                          // the next piece of what a retry concerns; of Release only Job is set

	EntryEdit EntryKind = 100 // a person changes a search
)

// Entry is a fact in the log. Exactly the fields of its kind are set. Its time is when the log stored it.
type Entry struct {
	Version     uint8         `cbor:"1,keyasint"`
	Kind        EntryKind     `cbor:"2,keyasint"`
	Epoch       uint64        `cbor:"3,keyasint,omitempty"` // of the leader that appended it
	Node        string        `cbor:"4,keyasint,omitempty"`
	Incarnation string        `cbor:"5,keyasint,omitempty"`
	Job         *Job          `cbor:"6,keyasint,omitempty"`
	Leases      []Lease       `cbor:"7,keyasint,omitempty"`
	Refills     []Refill      `cbor:"8,keyasint,omitempty"`
	Parts       []Part        `cbor:"9,keyasint,omitempty"`
	Recalls     []Recall      `cbor:"10,keyasint,omitempty"`
	Release     *Release      `cbor:"11,keyasint,omitempty"`
	State       *JobState     `cbor:"12,keyasint,omitempty"`
	Ran         time.Duration `cbor:"13,keyasint,omitempty"` // running time of the job so far, in grants and states
	Measures    []Measure     `cbor:"14,keyasint,omitempty"`
	Aside       *Aside        `cbor:"60,keyasint,omitempty"`
	Order       *Order        `cbor:"61,keyasint,omitempty"`
	Doubt       bool          `cbor:"62,keyasint,omitempty"` // a term begins with a log that has lost its end
	Seeds       *SeedChunk    `cbor:"63,keyasint,omitempty"`
	Otherwise   *Otherwise    `cbor:"64,keyasint,omitempty"` // what a shadow of the job would have done so far, in grants and states
	Landmarks   []Landmarks   `cbor:"65,keyasint,omitempty"` // that were chosen since the last grant that had any, or the last leader: all that the job goes by
	Decided     [][]byte      `cbor:"66,keyasint,omitempty"` // of each lease of a grant why its node got it (schedule.Decision.Pack); empty: nothing was kept
	Round       *Round        `cbor:"70,keyasint,omitempty"`
	Edit        *Edit         `cbor:"100,keyasint,omitempty"`
}

// Order is what somebody has asked a coordinator for. It stands in the log before it is done.
type Order struct {
	Who  string `cbor:"1,keyasint"`
	What string `cbor:"2,keyasint"` // in words

	// With a key an order is done once, also by coordinators that come later.
	Key    string `cbor:"3,keyasint,omitempty"` // a hash of it, and of who asks
	Sum    string `cbor:"4,keyasint,omitempty"` // a hash of all that was sent with it
	Undone bool   `cbor:"5,keyasint,omitempty"` // this tells that it was not done: the key may be used again
}

// maxOrder bounds each text of an order, in bytes.
const maxOrder = 1000

// NewOrder returns an order with texts that any sink takes.
func NewOrder(who, what string) *Order {
	plain := func(s string) string {
		s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, s), "?")
		if len(s) > maxOrder {
			s = strings.ToValidUTF8(s[:maxOrder-3], "") + "…"
		}
		return s
	}
	return &Order{Who: plain(who), What: plain(what)}
}

// Aside sets an entry of a node aside that passed the check and that the ledger all the same could not apply, for a reason that
// lies in the entry. Frontier and ledger take back alike what it said: its leases end, and its URLs are pending again.
type Aside struct {
	Seq   uint64      `cbor:"1,keyasint"`
	Node  string      `cbor:"2,keyasint"`
	Why   string      `cbor:"3,keyasint"`
	Parts []AsidePart `cbor:"4,keyasint,omitempty"`
}

// AsidePart is what a part of such an entry said that was believed.
type AsidePart struct {
	Lease uint64 `cbor:"1,keyasint"`
	Job   uint32 `cbor:"2,keyasint"`
	Pages []Page `cbor:"3,keyasint,omitempty"` // with a final outcome
}

// Recall takes a lease back.
type Recall struct {
	Lease  uint64 `cbor:"1,keyasint"`
	Reason string `cbor:"2,keyasint"`
	Counts bool   `cbor:"3,keyasint,omitempty"` // from a live node: counts towards the recycle limit
}

// Release is what a person does to tasks: all of a job's if Tasks is empty.
type Release struct {
	Job   uint32   `cbor:"1,keyasint"`
	Tasks []uint32 `cbor:"2,keyasint,omitempty"`
	Lost  []Page   `cbor:"3,keyasint,omitempty"` // retry: pages whose records are gone, or, with Keep, that are asked again
	Why   string   `cbor:"4,keyasint,omitempty"`
	Cut   bool     `cbor:"40,keyasint,omitempty"` // retry: URLs that wait because their templates brought nothing new
	Mend  bool     `cbor:"60,keyasint,omitempty"` // retry: frontier and ledger do not agree on Lost, and nothing else is released
	Keep  bool     `cbor:"70,keyasint,omitempty"` // retry: what was archived of Lost is whole, and counts beside the pages from then on

	Dropped []uint32 `cbor:"80,keyasint,omitempty"` // retry of all: tasks that are given up, whose URLs stay as they ended
	Sites   bool     `cbor:"81,keyasint,omitempty"` // drop: Tasks are whole sites, which are given up for every search

	Gone map[string][]int64 `cbor:"82,keyasint,omitempty"` // retry: records that are lost, by file where they stood: the ledger names them no more
}

// JobState is a job's new state.
type JobState struct {
	Job   uint32 `cbor:"1,keyasint"`
	State string `cbor:"2,keyasint"`
	Limit string `cbor:"3,keyasint,omitempty"` // that has ended it, of JobLimited
}

// Limits that end a run of a job, as flags call them; a market's are LimitMarket, or what all its crawlers lack: ability, lifetime, space or alpha.
const (
	LimitTime   = "max-time"
	LimitBytes  = "max-bytes"
	LimitPages  = "max-pages"
	LimitMarket = "market" // its crawlers lack different things, or URLs
)

// States of a job.
const (
	JobRunning     = "running"
	JobPaused      = "paused"      // by a person
	JobCancelled   = "cancelled"   // by a person: what was pending is dropped
	JobDone        = "done"        // nothing is pending
	JobLimited     = "limited"     // a limit was reached
	JobInterrupted = "interrupted" // by a person; resumable
	JobManual      = "manual"      // some tasks wait for a person
)

// States of a task. A person ends the first two; the others follow from counts and time.
const (
	TaskManual   = "manual"
	TaskDropped  = "dropped"
	TaskWaiting  = "waiting"
	TaskCrawling = "crawling"
	TaskDone     = "done"

	TaskSleeping = "sleeping" // a search that waits for the pages that it has named
	TaskFailed   = "failed"   // a search that was taken back, and is to be given to another node
)

// DispatchKind names what a dispatched message says.
type DispatchKind uint8

// Kinds of dispatches.
const (
	DispatchLease DispatchKind = iota + 1
	DispatchRefill
	DispatchRecall // give the lease back now, without a report
	DispatchDrain  // end the lease with a final part, soon
	DispatchLeave  // end every lease like that and take no more
	DispatchReturn // take leases again
	DispatchPing   // measure the delay to these nodes
)

// Dispatch is a message from the coordinator to a node. It is a hint: what it says is in the log already.
type Dispatch struct {
	Version uint8        `cbor:"1,keyasint"`
	Kind    DispatchKind `cbor:"2,keyasint"`
	Lease   *Lease       `cbor:"3,keyasint,omitempty"`
	Job     *Job         `cbor:"4,keyasint,omitempty"`
	Site    *SiteState   `cbor:"5,keyasint,omitempty"`
	LeaseID uint64       `cbor:"7,keyasint,omitempty"`
	Pings   []Echo       `cbor:"8,keyasint,omitempty"`
	Refills []Refill     `cbor:"9,keyasint,omitempty"`
	Doubt   uint64       `cbor:"11,keyasint,omitempty"` // the last term that began with a log that had lost its end: links that were stored before may be lost
	Hurry   bool         `cbor:"12,keyasint,omitempty"` // of a lease that is to end: what its site has not answered yet is given up, and what has come whole is reported
	AgeMS   int64        `cbor:"10,keyasint,omitempty"` // of the lease's term, or of the oldest of those that are refilled, when this was sent
}

// Echo is where a node can be measured by others.
type Echo struct {
	Node string `cbor:"1,keyasint"`
	URL  string `cbor:"2,keyasint"`
}

// Sign is what the registry says of a node.
type Sign uint8

// Signs of a node.
const (
	SignKnown   Sign = iota + 1 // it had registered when the registry was opened; it may have died since
	SignRenewed                 // it is there
	SignLeft                    // it took itself out
)

// NodeInfo is how a node registers.
type NodeInfo struct {
	Node        string            `cbor:"1,keyasint" json:"node"`
	Incarnation string            `cbor:"2,keyasint" json:"incarnation"`
	Labels      map[string]string `cbor:"3,keyasint,omitempty" json:"labels,omitempty"`
	Leases      int               `cbor:"4,keyasint" json:"max_leases"`          // how many it takes at once
	Concurrency int               `cbor:"5,keyasint" json:"concurrency"`         // requests at once
	Store       string            `cbor:"6,keyasint" json:"store"`               // where its archives go, a URL
	Offer       [3]float64        `cbor:"7,keyasint" json:"offer"`               // cores, bytes of memory, bits/s
	Prices      [3]float64        `cbor:"8,keyasint" json:"prices"`              // an hour: reserve, use, surcharge
	OnDemand    bool              `cbor:"9,keyasint,omitempty" json:"on_demand"` // not reserved: taken on at surcharge
	Echo        string            `cbor:"10,keyasint,omitempty" json:"echo"`     // URL at which others measure it; empty: it cannot be a landmark
	Draining    bool              `cbor:"11,keyasint,omitempty" json:"draining"` // takes no more leases
	Version     string            `cbor:"12,keyasint,omitempty" json:"version"`
	Left        bool              `cbor:"14,keyasint,omitempty" json:"-"`                // the last word of a node that goes
	StoreBits   float64           `cbor:"13,keyasint,omitempty" json:"bs_bits_per_s"`    // BS of its store, as it measured it
	Wire        int               `cbor:"15,keyasint,omitempty" json:"wire"`             // what it speaks (bus.Wire); 0.1.0 does not say
	Source      string            `cbor:"16,keyasint,omitempty" json:"source,omitempty"` // address that it asks sites from; empty: it does not say
}

// From names the source address whose clock a node goes by where each has its own: nodes that do not say theirs have one together.
func (n *NodeInfo) From() string {
	if n.Source == "" {
		return "any"
	}
	return n.Source
}

// Text that is not UTF-8 is refused where it comes in (CheckText, and strict for what nodes say). Should any have got into a log all
// the same, a reader takes it as it stands: refusing it would end every coordinator of that log.
var encMode, strict, decMode = func() (cbor.EncMode, cbor.DecMode, cbor.DecMode) {
	enc, err := cbor.EncOptions{Sort: cbor.SortCoreDeterministic}.EncMode()
	if err != nil {
		panic(err)
	}
	bounds := cbor.DecOptions{MaxArrayElements: maxList, MaxMapPairs: 1 << 16, MaxNestedLevels: 16}
	strict, err := bounds.DecMode()
	if err != nil {
		panic(err)
	}
	bounds.UTF8 = cbor.UTF8DecodeInvalid
	lax, err := bounds.DecMode()
	if err != nil {
		panic(err)
	}
	return enc, strict, lax
}()

// Marshal encodes any of the wire types. The same value always gives the same bytes.
func Marshal(v any) ([]byte, error) { return encMode.Marshal(v) }

// Unmarshal decodes what Marshal wrote. Input from outside is bounded in nesting and counts.
func Unmarshal(b []byte, v any) error { return decMode.Unmarshal(b, v) }

// UnmarshalOfNode is Unmarshal for what comes from a node: text that is not UTF-8 is refused.
func UnmarshalOfNode(b []byte, v any) error { return strict.Unmarshal(b, v) }

// DecodeEntry decodes an entry of the log that a leader has written, and checks its version.
func DecodeEntry(b []byte) (Entry, error) { return decodeEntry(decMode, b) }

func decodeEntry(mode cbor.DecMode, b []byte) (Entry, error) {
	e, ok := quickEntry(b)
	if !ok {
		e = Entry{}
		if err := mode.Unmarshal(b, &e); err != nil {
			return Entry{}, fmt.Errorf("decode entry: %w", err)
		}
	}
	if e.Version == 0 || e.Version > WireVersion {
		return Entry{}, fmt.Errorf("decode entry: wire version %d, this program reads up to %d", e.Version, WireVersion)
	}
	return e, nil
}
