// Package schedule runs one scheduling cycle: which node gets which waiting task. docs/scheduling.md says how the figures come about.
//
// # One cycle
//
//  1. The gate holds back tasks whose site or addresses have no room (politeness).
//  2. The strategy plans for the others. A Composition does it with filters, a cost model and a solver.
//  3. Verify proves the plan legal, before anybody believes it.
//
// Cycle does that; Explained records besides what the real filters and costs said of each task. A task that is not placed has a verdict with
// a named reason. An error means that the strategy is broken, and its plan is not to be used.
//
// # Beside the cycle
//
//   - PlanProbes plans what is measured before a site is crawled, within an Allowance.
//   - Modify, recycle and exchange are the other stages of the loop: how long a task's next lease is, when it goes elsewhere, and what
//     crawlers buy from each other.
//   - Difference says how far the plans of a shadow are from those that were carried out.
//
// # What it guarantees
//
// The package is pure: the snapshot carries time, seed and everything measured. The same snapshot gives the same plan, byte for byte, in
// production, in simulation and in the replay of a record.
package schedule
