package fetch

import "errors"

// maxMisled bounds how often a request is sent in vain on a connection of its own: a server that has given the same answer there says so of
// what it is asked for, and not of the connection.
const maxMisled = 3

// errMisdirected says that a server does not answer a request on the connection on which it came.
var errMisdirected = errors.New("misdirected: not to be asked for on this connection")

// misdirected reports whether a request that was answered by 421 is to be sent again on another connection (RFC 9110, section 15.5.20): once,
// and if the connection had been used for others. used says so of one of HTTP/1.1; h is one of HTTP/2, on which no more requests are sent
// then.
func (s *Session) misdirected(req *Request, used bool, h *http2Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.Again > 0 {
		s.misled++
		return false
	}
	if s.misled >= maxMisled || !used && (h == nil || h.begun < 2) {
		return false
	}
	if h != nil {
		h.refused = true
	}
	return true
}
