// Package agent runs leases on a node. It pulls them from its inbox, asks robots.txt, fetches on the site's clock, finds links, archives,
// and reports in numbered parts.
//
// It decides nothing about what is fetched next and holds no state that matters: an agent may vanish at any moment.
//
// # Order of durability
//
//   - A record is synced in the archive before the part that names it is stored in the log.
//   - A link filter is believed only for parts that are stored.
//
// # Where to read
//
// lease.go has a lease from its first message to its last part. A page of it goes through exchange.go (asked for when it is the site's
// turn), walls.go (cookies that stand before it), read.go and links.go (what it is and names), record.go (archived) and report.go (told).
// robots.go and probe.go are of the site, search.go of virtual tasks, topic.go of scores, mark.go of what page/yield wants to know.
package agent
