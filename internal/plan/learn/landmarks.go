package learn

import (
	"fmt"

	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// Ways in which landmarks are chosen.
const (
	ByID     = "as named"
	ByLabel  = "by label"
	ByCentre = "by the k-centre rule, from the delays between nodes"
	ByAll    = "every node, for there are not more than landmarks"
	ByOrder  = "the first by name, for the nodes have not measured each other"
)

// fewest is how many landmarks it takes at least to place anything.
const fewest = 3

// Landmarks chooses the nodes that measure sites for all others, by their places, and says how: those that are named; else one
// for each value of the labels; where that gives fewer than three, every node if there are few, else by the k-centre rule
// from what nodes have measured of each other.
func Landmarks(of schedule.Landmarks, nodes []schedule.Node, book *predict.Book) (marks []int, how string) {
	count := of.Count
	if count <= 0 {
		count = len(nodes)
	}
	marks = of.Choose(len(nodes), func(i int) (string, map[string]string, bool) { return nodes[i].ID, nodes[i].Labels, !nodes[i].Draining })
	switch {
	case len(of.Given) > 0 && len(marks) > 0:
		return marks, ByID
	case len(marks) >= fewest:
		return marks, fmt.Sprintf("%s: %s", ByLabel, joined(of.Labels))
	case len(nodes) <= count:
		marks = marks[:0]
		for i := range nodes {
			marks = append(marks, i)
		}
		return marks, ByAll
	}
	numbers := make([]int, len(nodes))
	for i := range nodes {
		numbers[i] = nodes[i].Book
	}
	if marks = netcoord.Spread(book.Apart(numbers), count); len(marks) >= fewest {
		return marks, ByCentre
	}
	marks = nil
	for i := range count {
		marks = append(marks, i)
	}
	return marks, ByOrder
}

func joined(names []string) (out string) {
	for i, n := range names {
		if i > 0 {
			out += " and "
		}
		out += n
	}
	return out
}
