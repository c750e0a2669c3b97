package crawl

// Otherwise is what another strategy, a shadow, would have done otherwise in a job: counts of its cycles so far. They stand in grants and states of
// the job, so that whoever leads goes on counting where the last leader had given something out: no cycle can be planned again.
type Otherwise struct {
	Strategy string `cbor:"1,keyasint" json:"strategy"`          // the shadow
	Cycles   int64  `cbor:"2,keyasint,omitempty" json:"cycles"`  // that both planned
	Skipped  int64  `cbor:"3,keyasint,omitempty" json:"skipped"` // cycles that it was left out of, to bound what it costs
	Same     int64  `cbor:"4,keyasint,omitempty" json:"same"`    // tasks that both gave to one node, or both left waiting
	Other    int64  `cbor:"5,keyasint,omitempty" json:"other"`   // tasks that it would have given to another node
	Waits    int64  `cbor:"6,keyasint,omitempty" json:"waits"`   // tasks that were given out and that it would have left waiting
	Gives    int64  `cbor:"7,keyasint,omitempty" json:"gives"`   // tasks that wait and that it would have given out

	// Of tasks that went elsewhere: useful bits/s that were expected, added up, of the real node and of the shadow's.
	Real   float64 `cbor:"8,keyasint,omitempty" json:"real_bits_per_s"`
	Shadow float64 `cbor:"9,keyasint,omitempty" json:"shadow_bits_per_s"`
}
