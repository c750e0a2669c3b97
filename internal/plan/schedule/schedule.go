package schedule

import (
	"maps"
	"strconv"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/price"
)

// Vector is what a node offers or a task needs: CPU in cores, memory in bytes, bandwidth in bits/s. 0 is not stated.
type Vector [3]float64

// Dimensions of a Vector.
const (
	CPU = iota
	Mem
	Bandwidth
)

// Node is a collecting machine as the scheduler sees it.
type Node struct {
	ID          string
	Incarnation string
	Labels      map[string]string
	Capacity    int     // leases at once
	Running     int     // leases it holds
	Requests    float64 // at once; 0 is not stated
	Draining    bool
	Untried     bool // it has never held a lease
	Offer       Vector
	Prices      price.Rates
	Reserved    bool
	Book        int // its number in the book
}

// Task is a waiting task whose site may be asked now.
type Task struct {
	ID      uint32
	Job     uint32
	Site    string
	Domain  string   // registrable, where PerDomain counts
	Addrs   []string // addresses its URLs would be fetched from; nil while they are not known
	Since   int64    // waiting since, Unix ms
	Turn    uint32   // leases that it has had
	Pending int64    // URLs in its queue
	Avoid   []string // nodes that it was recalled from, last first
	Last    string   // node that had it last
	Type    string   // of nodes it may go to: their label "type"; empty is any
	Product string
	Need    Vector  // as its job states it
	Width   float64 // requests at once that a lease of it makes, on average; 0 is not known
	Gap     float64 // seconds between the starts of two requests to its site; 0 is none
	Known   float64 // pages of its site: those that were had, and those that are known and will be
	Bits    float64 // that it still has, as far as one can tell; 0 is not known, +Inf: its site has no end
	Place   Place   // where its site is, as far as it is known
	Book    int     // its site's number in the book
	About   int     // one more than the number in the book of what its search is about; 0: it is of no search
	Bound   string  // node that it goes to as long as that takes it; empty: any

	Silent bool // its site has not answered yet,
	Failed bool // or not the last time

	ByAddress bool     // its site is asked by a clock for each source address: other leases on the site do not count
	Shut      []string // nodes whose address must not ask it now
}

// Rated is the number in the book of what completion and efficiency are judged by: what the task's search is about, else its site.
func (t *Task) Rated() int {
	if t.About > 0 {
		return t.About - 1
	}
	return t.Book
}

// Place is where a site or a node is, as far as it was looked up or declared.
type Place struct {
	Lat, Lon float64
	Located  bool   // Lat and Lon are known
	Region   string // as declared
	Network  string // autonomous system, or the block of the address
}

// Position returns where a node is by its labels lat and lon, degrees; false if they do not say.
func Position(labels map[string]string) (lat, lon float64, ok bool) {
	lat, okLat := degrees(labels["lat"])
	lon, okLon := degrees(labels["lon"])
	return lat, lon, okLat && okLon
}

func degrees(s string) (float64, bool) {
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && x >= -180 && x <= 180
}

// Running is a lease that is held now.
type Running struct {
	Lease uint64
	Task  uint32
	Site  string
	Node  string
	Addrs []string

	Domain string
	Need   Vector
	Book   int // its site's number in the book
	Width  float64
	Ping   bool // it measures a delay, which takes next to nothing of its node
	Silent bool // its site has not answered yet,
	Failed bool // or not the last time
	Long   bool // it was given out longer ago than sites take that answer

	Job  uint32
	Type string  // of nodes that its task may go to; empty is any
	Gap  float64 // seconds between the starts of two requests to its site
}

// Snapshot is all that a cycle may know. Nodes are in the order of their ids, tasks first in, first out, leases in the
// order of theirs.
type Snapshot struct {
	Now     int64  // Unix ms
	Seed    uint64 // of what is decided by chance, the same while the job lasts (Context.Chance)
	Nodes   []Node
	Tasks   []Task
	Running []Running
	PerIP   int // leases at once on one address; 0 is no limit
	PerSite int // leases at once on one site

	PerDomain int           // leases at once on one registrable domain; 0 is no limit
	Book      *predict.Book // what was measured; nil is nothing
	Memory    *Memory       // what the last cycle left; nil is nothing

	LeaseSeconds float64 // that a lease lasts at most; 0 is not known
	Ran          float64 // seconds for which the job has run

	figures *figures // what the book was asked already; nil is nothing
	counted *counts  // of Running; nil is nothing
}

// Memory is what a cycle leaves for the next one, which is then quicker. It is part of the snapshot, so that a plan
// remains a function of the snapshot alone.
type Memory struct {
	Slots     map[string]float64 // price of a place at each node
	Bandwidth map[string]float64 // price of a node's bandwidth, between 0 and 1
	kept      map[uint32]*kept   // candidates of tasks that waited
	runs      []held             // of leases, in the order of their ids
	nodes     []string
	blind     int64 // since when tasks waited for the first figures, Unix ms; 0: they have not
	priced    int64 // when bandwidth was priced last, Unix ms
	fresh     int   // tasks that were looked at since
	fitted    int   // of the book's model
}

// Assignment gives a task to a node, by their places in the snapshot.
type Assignment struct{ Task, Node int }

// Plan is what a strategy decides, and why some tasks wait.
type Plan struct {
	Assignments []Assignment
	Waiting     []Waiting
	Refused     []Waiting // tasks that no node could ever take
	Memory      *Memory
	Decisions   []Decision // one for each task, if they were asked for
}

// Waiting is a task that got no node.
type Waiting struct {
	Task    int
	Verdict crawl.Verdict
}

// Reasons of waiting and of filters.
const (
	ReasonPerIP    crawl.Kind = "per-ip"     // the address has as many leases as it may
	ReasonPerSite  crawl.Kind = "per-site"   // the site has
	ReasonDomain   crawl.Kind = "per-domain" // the registrable domain has
	ReasonCapacity crawl.Kind = "capacity"   // every node is full
	ReasonDraining crawl.Kind = "draining"   // the node takes no more
	ReasonRecalled crawl.Kind = "recalled"   // the task was recalled from the node
	ReasonType     crawl.Kind = "type"       // the node is of another type
	ReasonNeed     crawl.Kind = "need"       // the node has not enough left of something
	ReasonTooBig   crawl.Kind = "too-big"    // no node could hold it even if it were empty
	ReasonOwner    crawl.Kind = "owner"      // the task belongs to another node
	ReasonSlow     crawl.Kind = "slow"       // the node is too inefficient for it
	ReasonFiltered crawl.Kind = "no-node"    // no node passes the filters
	ReasonForbid   crawl.Kind = "forbidden"  // infinite cost
	ReasonBatch    crawl.Kind = "batch"      // it waits for a full batch
	ReasonBlind    crawl.Kind = "blind"      // the first measurements of all are under way
)

// words say what a reason means to whom a decision is shown.
var words = map[crawl.Kind]string{
	ReasonPerIP:    "its address has as many leases as it may",
	ReasonPerSite:  "its site has as many leases as it may",
	ReasonDomain:   "its domain has as many leases as it may",
	ReasonCapacity: "every node is full",
	ReasonDraining: "the node takes no more",
	ReasonRecalled: "it was recalled from the node, or from one like it",
	ReasonType:     "the node is of another type",
	ReasonNeed:     "the node has not enough left",
	ReasonTooBig:   "no node could hold it, even an empty one",
	ReasonOwner:    "it belongs to another node",
	ReasonSlow:     "the node is too slow for it",
	ReasonFiltered: "no node passes the filters",
	ReasonForbid:   "it may not go to any node",
	ReasonBatch:    "it waits for a full batch",
	ReasonBlind:    "the first measurements of all are under way",
	ReasonBound:    "it goes to one node only, which is full",

	WhyBound:     "the search that it belongs to runs there",
	WhyMany:      "so many were compared at once that the candidates were not kept",
	WhyEarlier:   "the candidates are not known any more: they are kept of the last 2,000 leases",
	WhyAll:       "each node measures each site before it is used",
	WhyFew:       "some nodes measure each site before it is used",
	WhyLandmarks: "landmarks measure each site before it is used",
	WhyWorth:     "to measure it is worth more than it costs",
}

// Words returns what each reason of waiting and of filters means, in English.
func Words() map[crawl.Kind]string { return maps.Clone(words) }

// Strategy decides which node gets which task. Plan is called with the tasks that passed the gate; it is a function
// of the snapshot alone and must leave it as it is.
type Strategy interface {
	Name() string
	Plan(s *Snapshot, record bool) Plan
}

// Measurer is a strategy that wants things measured before it can decide well.
type Measurer interface {
	// Measures says what; the answer does not change.
	Measures() Measures
}

// Modifier is a strategy that chooses quota and time budget of a task's next lease by what its last one did.
type Modifier interface {
	// Modifies returns the constants; false: it leaves quota and budget as the job has them.
	Modifies() (ModifyConfig, bool)
}

// Measures says which measurements a strategy lives on.
type Measures struct {
	Delay    Extent // httpping from nodes to sites
	Crawl    Extent // BC
	Few      int    // how many pairs of a site Few means
	Store    bool   // BS
	Landmark Landmarks
	Prices   bool           // what nodes cost
	Places   bool           // where sites are: nobody measures it, a file of addresses or the job says it
	Asked    bool           // somebody asks for it besides the strategy
	Book     predict.Config // how the book is to summarise and predict
}

// Extent is for how many of the pairs something is measured.
type Extent uint8

// Extents.
const (
	None     Extent = iota
	Few             // the pairs of a site that are most worth it
	Landmark        // the landmarks and every site
	All             // every pair, as the bandwidth patent does
	Worth           // the pairs that are worth more to know than it costs to measure them
)

// Measured counts what was measured besides what leases tell, and says which nodes are landmarks, for people.
type Measured struct {
	Bandwidth int      `json:"bandwidth"` // probes of pairs (BC)
	Delays    int      `json:"delays"`    // of sites, by httppings
	Stores    int      `json:"stores"`    // probes of stores (BS)
	Between   int      `json:"between"`   // httppings from node to node
	Landmarks []string `json:"landmarks,omitempty"`
	Chosen    string   `json:"chosen,omitempty"` // how landmarks were
}

// Landmarks says how landmarks are chosen: by a label whose values are represented once each, given by id, or, with
// neither, by the greedy k-centre rule.
type Landmarks struct {
	Labels []string
	Given  []string
	Count  int
}
