// Package frontier is the materialised view of the log: every URL of every job and its state, the tasks' queues, the leases that hold
// URLs, and the record of each site.
//
// # What it guarantees
//
//   - Apply is the only way to change it. It is deterministic: the same entries at the same times give the same view, on whatever machine.
//   - Every URL is in exactly one state, and the counts of a task add up.
//   - A view's position in the log moves in the same atomic batch as an entry's effect. Batches are written without waiting and synced in
//     groups by Sync. After a crash the view stands at some position it had, and the log is read from there.
//
// # What it does not do
//
// It does not know HTTP, HTML or NATS, and decides nothing: which lease goes to which node is the coordinator's business. A Frontier is
// owned by one goroutine.
//
// # Where to read
//
// apply.go has what each entry does, part.go what comes of a node's report, asking.go and order.go which URLs come next, record.go what is
// kept of a URL. traps.go and hosts.go keep what page/yield judges; search.go and awaits.go are of virtual tasks, market.go of crawlers that
// trade, topic.go of best-first order, walk.go of retries.
package frontier
