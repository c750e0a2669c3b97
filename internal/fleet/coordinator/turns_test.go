package coordinator

import "testing"

// Of several tasks of a job that wait for one site, the one that has waited longest counts, and another one's turn does not end its waiting.
func TestTurnsOfTasks(t *testing.T) {
	const site, mine, other = "a.test", 1, 2
	var u turns
	u.note(site, 11, wish{job: other, since: 100, until: 1000})
	u.note(site, 12, wish{job: other, since: 500, until: 1000})
	if !u.first(site, mine, 200, 600) {
		t.Error("a task that has waited since 100 does not come before one that waits since 200")
	}
	if u.first(site, other, 900, 600) {
		t.Error("a job waits for itself")
	}
	u.forget(site, 12)
	if !u.first(site, mine, 200, 600) {
		t.Error("the turn of another task has ended the waiting")
	}
	if u.first(site, mine, 200, 1001) {
		t.Error("a wish that is not said again is believed")
	}
	u.note(site, 11, wish{job: other, since: 100, until: 2000})
	u.note("b.test", 13, wish{job: mine, since: 100, until: 2000})
	u.sweep(other)
	if u.first(site, mine, 200, 1500) || !u.first("b.test", other, 200, 1500) || len(u.waits) != 1 {
		t.Errorf("after a job has ended %v wait", u.waits)
	}
}
