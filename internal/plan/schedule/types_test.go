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
			labels := DealTypes(types, nodes)
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
