// Package coordinator owns the loop of a fleet. It takes no decision that a pure package could take. docs/protocol.md says how it agrees
// with its agents, whatever dies.
//
// # One turn of the loop
//
//  1. It applies what has come from the log to the frontier and the ledger. Nothing is judged or granted before the end. Reports of a fleet
//     that no lease waits for are batched for a moment, as if they had come with the last of them.
//  2. It leads, or tries to: a term begins with an entry of its own.
//  3. It acts: it recalls leases, refills them, runs scheduling cycles, appends grants, and ends jobs. A lease is dispatched once its grant
//     is in the log and applied.
//  4. It syncs the views when that is due, and goes on with retries when nothing else is to do.
//
// # Who owns what
//
// One goroutine (Run) owns frontier and ledger and does everything; another reads the log, a third the registry. What the loop works on
// belongs to owners with one job each:
//
//   - sinks: the log, and frontier and ledger with a position of their own
//   - post: messages to nodes
//   - open: what open leases ask for, and what was sent to them
//   - fleet: nodes
//   - jobs: jobs while they run, which of their tasks wait, and (turns) which of them wait for a site of another one
//   - lore: what the fleet has learned, and how strategies read it
//   - accounts: what nodes cost
//   - desk: orders and questions of others, which the loop takes
//   - window: what others see without waiting for the loop, most of it on a board
package coordinator
