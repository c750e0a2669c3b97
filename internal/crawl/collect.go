package crawl

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Collect is what a job with a virtual task collects: pages that search engines name. Nothing but searches and what they name is
// fetched.
type Collect struct {
	Engines  []Engine      `cbor:"1,keyasint" json:"engines"`
	Searches []Search      `cbor:"2,keyasint" json:"searches"`                     // in the order in which they enter the waiting queue
	Pages    int           `cbor:"3,keyasint" json:"pages"`                        // result pages of a subtask
	Most     int64         `cbor:"8,keyasint,omitempty" json:"most,omitempty"`     // result pages of a search in all; 0: any number
	Rest     time.Duration `cbor:"4,keyasint" json:"rest"`                         // of a search after a failure
	Keep     bool          `cbor:"5,keyasint,omitempty" json:"keep,omitempty"`     // what fails is not recycled: it waits for a person at once
	Anywhere bool          `cbor:"6,keyasint,omitempty" json:"anywhere,omitempty"` // targets go to any node, not to the one that ran the search
	Fields   []byte        `cbor:"7,keyasint,omitempty" json:"fields,omitempty"`   // what is taken out of targets, in JSON, as the job file says it
}

// Engine is a search engine as a job uses it.
type Engine struct {
	Name   string `cbor:"1,keyasint" json:"name"`
	Type   string `cbor:"2,keyasint,omitempty" json:"type,omitempty"`   // label type of the nodes that may ask it; empty: any
	Def    []byte `cbor:"3,keyasint" json:"def"`                        // how it is asked and read, in JSON (package engine)
	Robots bool   `cbor:"4,keyasint,omitempty" json:"robots,omitempty"` // it is asked although its robots.txt disallows searches
	Each   bool   `cbor:"5,keyasint,omitempty" json:"each,omitempty"`   // there is a clock for each source address that asks it, not one for its site
}

// Types are the types of nodes that a job asks for, each once: of all that it fetches, of its engines, and of others that it is given.
func (j *Job) Types(more ...Engine) (types []string) {
	engines := []Engine{{Type: j.Placing.Type}}
	if c := j.Identity.Collect; c != nil {
		engines = append(engines, c.Engines...)
	}
	for _, e := range append(engines, more...) {
		if e.Type != "" && !slices.Contains(types, e.Type) {
			types = append(types, e.Type)
		}
	}
	return types
}

// Search is one search of a virtual task: its result pages are the subtasks' work, one after the other.
type Search struct {
	Task    uint32   `cbor:"1,keyasint" json:"task"` // number of the actual task that it is in
	Engine  int      `cbor:"2,keyasint" json:"engine"`
	Product string   `cbor:"3,keyasint" json:"product"`
	Words   []string `cbor:"4,keyasint" json:"words"`
	Site    string   `cbor:"5,keyasint,omitempty" json:"site,omitempty"` // that it is restricted to: a host, or a host and a path
	URL     string   `cbor:"6,keyasint" json:"url"`                      // of its first result page
}

// MaxCollect bounds the searches of a job as they are encoded, in bytes: they travel in one message.
const MaxCollect = 768 << 10

// Asked is what a lease of a search, or of what it named, is to know of it.
type Asked struct {
	No      uint32        `cbor:"1,keyasint"`           // of the search, from 1
	Asks    bool          `cbor:"2,keyasint,omitempty"` // the lease asks the engine; else it fetches what the search has named
	Def     []byte        `cbor:"3,keyasint,omitempty"`
	Robots  bool          `cbor:"4,keyasint,omitempty"`
	Words   []string      `cbor:"5,keyasint,omitempty"`
	Engine  string        `cbor:"10,keyasint,omitempty"` // its name
	Product string        `cbor:"11,keyasint,omitempty"`
	Type    string        `cbor:"12,keyasint,omitempty"` // of nodes
	Site    string        `cbor:"6,keyasint,omitempty"`
	Found   int64         `cbor:"7,keyasint,omitempty"` // results so far
	Stated  Stated        `cbor:"8,keyasint"`
	Rest    time.Duration `cbor:"9,keyasint,omitempty"`
	Alone   bool          `cbor:"14,keyasint,omitempty"` // no other node is there that could fetch what it has named and has not failed with it
	Had     bool          `cbor:"15,keyasint,omitempty"` // something of what it has named has been collected
}

// Stated is how many results an engine says that there are.
type Stated struct {
	N    int64  `cbor:"1,keyasint,omitempty" json:"n"`
	Kind string `cbor:"2,keyasint,omitempty" json:"kind"` // exact, estimate, more or missing; empty: nothing was asked yet
}

// Kinds of what an engine states.
const (
	StatedExact    = "exact"
	StatedEstimate = "estimate"
	StatedMore     = "more"
	StatedMissing  = "missing"
)

// String says the number in words, as it stands behind "stated:".
func (s Stated) String() string {
	switch s.Kind {
	case StatedExact:
		return strconv.FormatInt(s.N, 10)
	case StatedEstimate:
		return fmt.Sprintf("about %d", s.N)
	case StatedMore:
		return fmt.Sprintf("more than %d", s.N)
	}
	return "no number"
}

// Shown is what is stated where so many results have been shown: they refute a smaller number, and there are more.
func (s Stated) Shown(n int64) Stated {
	if (s.Kind == StatedExact || s.Kind == StatedEstimate) && n > s.N {
		s.Kind = StatedMore
	}
	return s
}

// GivesWay reports whether what an engine states later replaces this: an exact number stays, unless another exact one is stated or
// the results have refuted it; what there are more than stays, unless a larger one is stated.
func (s Stated) GivesWay(to Stated) bool {
	switch {
	case to.Kind == "", to.Kind == StatedMissing && s.Kind != "":
		return false
	case s.Kind == StatedMore:
		return to.N > s.N
	case s.Kind != StatedExact, to.Kind == StatedExact:
		return true
	}
	return to.Kind == StatedMore && to.N == s.N
}

// Exist is how many pages a search is taken to be for, found of which paging has found: what the engine states, or at least
// what was found. said is false where the engine gives no number that can be gone by.
func (s Stated) Exist(found int64) (n int64, said bool) {
	if s.Kind != StatedExact && s.Kind != StatedEstimate {
		return found, false
	}
	return s.N, true
}

// Completion is the share of what exists that was collected, never above 1; known is false if nothing says what exists, or
// nothing does: 0 of 0 is not a rate.
func (s Stated) Completion(found, collected int64) (share float64, known bool) {
	n, said := s.Exist(found)
	switch {
	case !said, n <= 0:
		return 0, false
	case collected >= n:
		return 1, true
	}
	return float64(collected) / float64(n), true
}

// Answered is what a result page of a search has said.
type Answered struct {
	Verdict string `cbor:"1,keyasint"` // as package engine has them
	Reason  string `cbor:"2,keyasint,omitempty"`
	Stated  Stated `cbor:"3,keyasint"`
	Results int    `cbor:"4,keyasint,omitempty"` // on the page
	Off     int    `cbor:"5,keyasint,omitempty"` // of them on other sites, or nothing that can be fetched
	Stop    string `cbor:"6,keyasint,omitempty"` // why there is no further page
	Aside   string `cbor:"7,keyasint,omitempty"` // the first one of another site: where it lies
}

// Verdicts on result pages that the fleet acts on.
const (
	AnswerFound   = "found"
	AnswerEmpty   = "empty"
	AnswerBlocked = "blocked"
	AnswerChanged = "changed"
	AnswerFailed  = "failed"
	AnswerDenied  = "denied"  // the engine's address is one that this crawl may not reach
	AnswerRefused = "refused" // the engine's robots.txt disallows the search
)

// Edit changes a search that waits for a person.
type Edit struct {
	Job    uint32 `cbor:"1,keyasint"`
	Task   uint32 `cbor:"2,keyasint"`
	Search Search `cbor:"3,keyasint"`

	Engine *Engine `cbor:"4,keyasint,omitempty"` // that it is asked from now on, instead of the one by its number; nil: that one
}
