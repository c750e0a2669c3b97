// Package predict keeps what was measured and says what to expect of a pair of a node and a site: speed, delay and success, each with how
// it is known (Source) and how sure that is.
//
//   - A Record is all that was measured, and nothing that was concluded. A fleet has one.
//   - A Book reads a Record through a model of its own configuration. Each strategy has one.
//
// Measured pairs speak for themselves. Others are predicted from network coordinates, from how the node does elsewhere and the site with
// others, and from nodes nearby.
//
// It is pure. Times are Unix ms, speeds bits per second, delays ms.
package predict
