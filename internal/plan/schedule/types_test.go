package schedule

import (
	"fmt"
	"slices"
	"testing"
)

// However many types are dealt out among however many nodes, each type has a node, and no node is without one.
func TestTypesAreDealtOut(t *testing.T) {
	for nodes := 1; nodes < 6; nodes++ {
		for n := range 6 {
			var types []string
			for k := range n {
				types = append(types, fmt.Sprint(k))
			}
			labels := DealTypes(types, make([]string, nodes))
			for _, kind := range append(types, "") {
				if !slices.ContainsFunc(labels, func(l string) bool { return IsOfType(map[string]string{TypeLabel: l}, kind) }) {
					t.Errorf("%d types, %d nodes: %q has type %q", n, nodes, labels, kind)
				}
			}
			if n > 0 && slices.Contains(labels, "") || IsOfType(map[string]string{TypeLabel: "10+2"}, "1") {
				t.Errorf("%d types, %d nodes: %q", n, nodes, labels)
			}
		}
	}
}

// A label that a node has stays, and what nobody has by that is dealt out first.
func TestLabelsStay(t *testing.T) {
	for _, c := range []struct{ types, labels, want []string }{
		{[]string{"a", "b"}, []string{"a", ""}, []string{"a", "b"}},
		{[]string{"a", "b", "c"}, []string{"b+c", ""}, []string{"b+c", "a"}},
		{[]string{"a", "b"}, []string{"", "a", ""}, []string{"b", "a", "a"}},
		{[]string{"a"}, []string{"a", ""}, []string{"a", "a"}},
		{[]string{"a"}, []string{"x"}, []string{"x"}},
		{nil, []string{"x", ""}, []string{"x", ""}},
	} {
		if got := DealTypes(c.types, c.labels); !slices.Equal(got, c.want) {
			t.Errorf("%q among %q: %q, not %q", c.types, c.labels, got, c.want)
		}
	}
}
