package assemble

import "time"

// LeaveAfter is how long who drains waits for sites that are slow to answer: then what is under way is given up, and asked for again when the
// crawl goes on.
const LeaveAfter = 3 * time.Second

// hurry has the crawl's nodes give up what is under way, after a while; what it returns stops that.
func (cr *Crawl) hurry() (stop func() bool) {
	return time.AfterFunc(LeaveAfter, func() {
		for _, n := range cr.nodes {
			n.agent.Hurry()
		}
	}).Stop
}
