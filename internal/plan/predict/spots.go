package predict

import "argosy/internal/plan/netcoord"

// Spot is where a node or a site lies on a map of the network.
type Spot struct {
	Known  bool    `json:"known"` // false: too few delays of it were measured
	X      float64 `json:"x"`     // ms
	Y      float64 `json:"y"`
	Height float64 `json:"height"` // ms of its own link, which every delay to it has besides
	Off    float64 `json:"off"`    // how far its delays are from those of the map in space, as a share
}

// Spots returns where nodes and sites lie by their network coordinates, as of the last Fit, on the plane that shows most of how they differ.
func (b *Book) Spots(nodes, sites []int) (ofNodes, ofSites []Spot) {
	all := make([]netcoord.Coord, 0, len(nodes)+len(sites))
	for _, n := range nodes {
		all = append(all, b.model.nodeAt(n))
	}
	for _, s := range sites {
		all = append(all, b.siteAt(s))
	}
	spots := make([]Spot, len(all))
	for i, at := range netcoord.Plane(all) {
		spots[i] = Spot{Known: all[i].Known(), X: at[0], Y: at[1], Height: all[i].Height, Off: all[i].Error}
	}
	return spots[:len(nodes)], spots[len(nodes):]
}
