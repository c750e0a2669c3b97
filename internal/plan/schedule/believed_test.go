package schedule

import "testing"

// What is believed of an assignment is never more than the bound, and of one that leaves nodes idle less.
func TestBelieved(t *testing.T) {
	s := &Snapshot{Now: 1000}
	for _, id := range []string{"a", "b"} {
		s.Nodes = append(s.Nodes, Node{ID: id, Capacity: 2, Offer: Vector{0, 0, 10e6}})
	}
	for i := range uint32(4) {
		s.Tasks = append(s.Tasks, Task{ID: i + 1})
	}
	value := func(may func(task, node int) bool) (float64, float64) {
		value, bound, err := Believed(s, may)()
		if err != nil {
			t.Fatal(err)
		}
		return value, bound
	}
	_, bound := value(nil)
	if bound < 19.9 || bound > 20.3 { // four sites of 8 Mbit/s each, of which each node carries 10
		t.Errorf("bound %.3f Mbit/s", bound)
	}
	if half, _ := value(func(_, node int) bool { return node == 0 }); half > bound/2*1.02 || half < bound/2*0.98 {
		t.Errorf("with one node alone %.3f of %.3f", half, bound)
	}
	if none, _ := value(func(_, _ int) bool { return false }); none != 0 {
		t.Errorf("with nothing %.3f", none)
	}
}
