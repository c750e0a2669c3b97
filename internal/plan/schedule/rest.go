package schedule

import "time"

const (
	// RestMost is how long no cycle is begun after another at most. One that has given nothing to anybody is looked at again after so long, though
	// nothing has changed: strategies let time pass, and what is measured meanwhile may count.
	RestMost = 250 * time.Millisecond

	quickCycle = time.Millisecond       // what takes no longer costs nobody anything, and is what a hop from site to site waits for
	cycleRest  = 10 * time.Millisecond  // after a cycle that gave something out, at most,
	nodeRest   = 200 * time.Microsecond // and for each node so much more: of the leases of many few end in that time
	cycleRests = 9                      // after a cycle, times what it took: a tenth of the time goes into them, and large ones gather what comes

	maxTasks   = 10_000 // of a snapshot
	minTasks   = 64     // likewise, however many nodes there are
	cyclePairs = 25_000 // of tasks and nodes that a cycle looks at, and gives out: some 40 ms, for which orders wait

	pairTakes = 1600 * time.Nanosecond // of those, where nobody can look at a clock
)

// Rest is how long no cycle is begun after one that took so long, for so many nodes, and gave something out or nothing. Coordinators and the simulator
// both go by it.
func Rest(took time.Duration, nodes int, gave bool) time.Duration {
	most := RestMost
	if gave {
		most = min(most, cycleRest+time.Duration(nodes)*nodeRest)
		if took <= quickCycle {
			return 2 * took
		}
	}
	return min(most, took*cycleRests)
}

// Takes is about how long a cycle takes that looks at so many tasks and nodes, for who has no clock.
func Takes(tasks, nodes int) time.Duration { return time.Duration(tasks*nodes) * pairTakes }

// AtOnce is how many tasks a cycle looks at, at most, with so many nodes.
func AtOnce(nodes int) int { return min(maxTasks, max(minTasks, cyclePairs/max(1, nodes))) }
