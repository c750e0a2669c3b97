package crawl

// Landmarks is which nodes were chosen to measure sites for all others, by the delays between nodes as they were then. It stands in grants, once
// for each choice, so that whoever leads next goes on with it: the delays of later would choose others.
type Landmarks struct {
	By    string   `cbor:"1,keyasint"` // the strategy that they are for, and what its job says of landmarks
	Among []byte   `cbor:"2,keyasint"` // a hash of the names of the nodes that were there
	Nodes []string `cbor:"3,keyasint"`
	At    int64    `cbor:"4,keyasint"` // Unix ms
}
