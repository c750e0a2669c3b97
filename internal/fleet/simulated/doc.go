// Package simulated tests whole fleets in simulated time: coordinator, agents, bus, frontier and ledger run in a bubble of testing/synctest, on
// pipes instead of sockets, and minutes pass as soon as everybody waits. It is a package of its own since timers of a bubble must not meet
// those of real time in one process (see simulated in world_test.go); so it has nothing but tests.
package simulated
