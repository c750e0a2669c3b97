package yield

import (
	"fmt"
	"testing"
)

// asked has a model judge lists of many shops in an order, some of each at a time, and returns how many were asked for. page is what stands beside the order.
func asked(t *testing.T, m *Model, shops int, page string, bring func(url string, via uint32)) (n int) {
	t.Helper()
	via := make([]uint32, shops)
	for i := range 2 * limit {
		for k := range shops {
			url := fmt.Sprintf("http://h.test/shop-%c/%c/goods?order=%d%s", 'a'+k, 'q'+k%8, i, page)
			if v := m.Judge(parsed(t, url), via[k], false); v.Wait {
				continue
			}
			n++
			bring(url, via[k])
			via[k] = m.Find(parsed(t, url))
		}
	}
	return n
}

// An order of lists that brings nothing is one trap, whatever lists it is of.
func TestNameThatBringsNothing(t *testing.T) {
	const shops = 8
	m := New()
	n := asked(t, m, shops, "", func(url string, via uint32) { faint(t, m, url, via, 1) })
	if n > limit+shops*(kinSoon+kinEvery+rounds*trialSize) {
		t.Errorf("%d answers, want some %d", n, limit)
	}
	if key := m.inVain(keys("/other?order=#")); key == 0 || m.cutWith(key) == nil {
		t.Error("the order of another list is not known for that")
	}
	if m.inVain(keys("/other?order=#&page=#")) != 0 {
		t.Error("a page beside an order is held to bring nothing")
	}
	if m.inVain(keys("/other")) != 0 {
		t.Error("a list without an order is held to bring nothing")
	}
}

// What asks for a thing that was not had is tried, though it asks for an order, too.
func TestThingIsTried(t *testing.T) {
	m := New()
	things := uint32(0)
	for i := range 2 * limit {
		things = fresh(t, m, fmt.Sprintf("http://h.test/show?thing=%d", i), 0).ID
	}
	asked(t, m, 8, "", func(url string, via uint32) { faint(t, m, url, via, 1) })
	asked(t, m, 8, "&thing=1&dir=1", func(url string, via uint32) { faint(t, m, url, via, 1) })
	had := m.Judge(parsed(t, "http://h.test/view?dir=1&order=2&thing=7"), things, false)
	other := m.Judge(parsed(t, "http://h.test/view?dir=1&order=2&thing=7000"), things, false)
	again := m.Judge(parsed(t, "http://h.test/view?dir=1&order=3&thing=7000"), things, false)
	if !other.Try {
		t.Errorf("a thing that was not had: %+v", other)
	}
	if again.Try && !had.Try {
		t.Errorf("the thing again: %+v", again)
	}
}

// What is known of names is the same after a restart.
func TestTalliesAreRebuilt(t *testing.T) {
	m := New()
	asked(t, m, 4, "", func(url string, via uint32) { faint(t, m, url, via, 1) })
	again := restarted(t, m, map[string][]byte{})
	for key, y := range m.tallies {
		if other := again.tallies[key]; other == nil || *other != *y {
			t.Fatalf("%+v, was %+v", other, *y)
		}
	}
}

// A site whose addresses have ever more names does not fill the memory.
func TestNamesAreBounded(t *testing.T) {
	m := New()
	url := "http://h.test/list?a=1"
	for i := range 4 * maxNames {
		faint(t, m, url, 0, 1)
		url += fmt.Sprintf("&n%c%c=1", 'a'+i/26, 'a'+i%26)
	}
	if n := len(m.tallies); n == 0 || n > maxNames*maxAmong {
		t.Errorf("%d tallies, want %d at most", n, maxNames*maxAmong)
	}
}
