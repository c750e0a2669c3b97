package strategy

import (
	"hash/fnv"
	"math"
	"sort"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// The baselines that the published systems compare themselves with.

var random = Preset{
	Summary: "any node with room, by chance",
	Source:  "baseline of the network coordinates paper",
	build: func(*options) schedule.Composition {
		return schedule.Composition{Cost: nothing, Solver: schedule.Anywhere}
	},
}

var roundrobin = Preset{
	Summary: "the node that holds the fewest leases for its size",
	Source:  "baseline",
	build: func(*options) schedule.Composition {
		return schedule.Composition{Cost: load, Solver: schedule.Greedy}
	},
}

var nothing = schedule.Cost{Name: "none", Of: func(*schedule.Context, int, int, int) float64 { return 0 }}

var load = schedule.Cost{Name: "load", Unit: "share", Of: func(c *schedule.Context, _, node, load int) float64 {
	x := float64(load+1) / float64(max(1, c.S.Nodes[node].Capacity))
	c.Know("load", "share", x)
	return x
}}

var hash = Preset{
	Summary: "the node that the host's place on a ring belongs to",
	Source:  "UbiCrawler (Boldi et al., 2004) and DHT crawlers",
	Options: []Option{
		{"group", []string{"", "<label>"}, "to a group of nodes with the same value of a label, and there to the least loaded", ""},
	},
	build: func(o *options) schedule.Composition {
		return owned(o.text("group"), func(t *schedule.Task) string { return t.Site })
	},
}

var suffix = Preset{
	Summary: "the node that the domain's suffix belongs to",
	Source:  "baseline of the feedback and market papers",
	Options: []Option{
		{"group", []string{"", "<label>"}, "to a group of nodes with the same value of a label", ""},
	},
	build: func(o *options) schedule.Composition {
		return owned(o.text("group"), func(t *schedule.Task) string {
			host, _, _ := strings.Cut(t.Site, ":")
			return host[strings.LastIndexByte(host, '.')+1:]
		})
	},
}

var netblock = Preset{
	Summary: "a node in the site's network, else the one that the network's number belongs to",
	Source:  "baseline of the network coordinates paper",
	build: func(*options) schedule.Composition {
		c := owned("", func(t *schedule.Task) string { return network(t) })
		c.Cost = schedule.Cost{Name: "network and load", Unit: "share", Of: func(c *schedule.Context, task, node, n int) float64 {
			x := load.Of(c, task, node, n)
			if l := c.S.Nodes[node].Labels["network"]; l != "" && l == network(&c.S.Tasks[task]) {
				c.Know("same network", "", 1)
				x -= 1000
			}
			return x
		}}
		c.Filters = []schedule.Filter{{Name: "owner", Check: func(c *schedule.Context, task, node int) crawl.Verdict {
			net := network(&c.S.Tasks[task])
			if home(c, "network", net) {
				if c.S.Nodes[node].Labels["network"] == net {
					return crawl.Verdict{}
				}
			} else if ring(c, "").owner(net) == c.S.Nodes[node].ID {
				return crawl.Verdict{}
			}
			return crawl.Verdict{Reason: schedule.ReasonOwner, Detail: net}
		}}}
		return c
	},
}

// network is the autonomous system of a task's site, or the block of its first address.
func network(t *schedule.Task) string {
	if t.Place.Network != "" || len(t.Addrs) == 0 {
		return t.Place.Network
	}
	a := t.Addrs[0]
	sep, parts := ".", 2
	if strings.Contains(a, ":") {
		sep, parts = ":", 3
	}
	p := strings.SplitN(a, sep, parts+1)
	return strings.Join(p[:min(parts, len(p))], sep)
}

// home tells whether a node that takes work has the value of a label.
func home(c *schedule.Context, label, value string) bool {
	for i := range c.S.Nodes {
		if n := &c.S.Nodes[i]; !n.Draining && value != "" && n.Labels[label] == value {
			return true
		}
	}
	return false
}

var geo = Preset{
	Summary: "the nearest node to where the site is said to be",
	Source:  "baseline of the network coordinates paper",
	build: func(*options) schedule.Composition {
		return schedule.Composition{
			Cost: schedule.Cost{Name: "great circle", Unit: "km", Of: func(c *schedule.Context, task, node, n int) float64 {
				t, o := &c.S.Tasks[task], &c.S.Nodes[node]
				x := 1e-3 * load.Of(c, task, node, n)
				lat, lon, located := schedule.Position(o.Labels)
				switch {
				case t.Place.Located && located:
					km := greatCircle(t.Place.Lat, t.Place.Lon, lat, lon)
					c.Know("distance", "km", km)
					return x + km
				case t.Place.Region != "" && t.Place.Region == o.Labels["region"]:
					c.Know("same region", "", 1)
					return x
				}
				c.Note("distance", "km", predict.Figure{Value: farAway, Sigma: 1})
				return x + farAway
			}},
			Solver: schedule.Greedy,
			Wants:  schedule.Measures{Places: true},
		}
	},
}

// farAway is the distance, in km, of what is not known to be near.
const farAway = 10_000

// owned gives each key to one node, or to one group of nodes, by consistent hashing.
func owned(group string, key func(*schedule.Task) string) schedule.Composition {
	return schedule.Composition{
		Label: group,
		Filters: []schedule.Filter{{Name: "owner", Check: func(c *schedule.Context, task, node int) crawl.Verdict {
			k := key(&c.S.Tasks[task])
			owner := ring(c, group).owner(k)
			if owner == member(&c.S.Nodes[node], group) {
				return crawl.Verdict{}
			}
			return crawl.Verdict{Reason: schedule.ReasonOwner, Detail: owner}
		}}},
		Cost: load, Solver: schedule.Greedy,
	}
}

func member(n *schedule.Node, group string) string {
	if group == "" {
		return n.ID
	}
	return n.Labels[group]
}

// hashRing is a circle on which every node has some points; a key belongs to the next point, and when a node leaves,
// only its own keys move.
type hashRing struct {
	points []uint64
	owners []string
}

const ringPoints = 64

func ring(c *schedule.Context, group string) hashRing {
	return schedule.Once(c, "ring "+group, func() hashRing {
		type point struct {
			at    uint64
			owner string
		}
		var ps []point
		seen := map[string]bool{}
		for i := range c.S.Nodes {
			n := &c.S.Nodes[i]
			m := member(n, group)
			if n.Draining || seen[m] {
				continue
			}
			seen[m] = true
			for k := range ringPoints {
				ps = append(ps, point{sum64(m + "#" + string(rune('0'+k))), m})
			}
		}
		sort.Slice(ps, func(a, b int) bool {
			return ps[a].at < ps[b].at || ps[a].at == ps[b].at && ps[a].owner < ps[b].owner
		})
		r := hashRing{}
		for _, p := range ps {
			r.points, r.owners = append(r.points, p.at), append(r.owners, p.owner)
		}
		return r
	})
}

func (r hashRing) owner(key string) string {
	if len(r.points) == 0 {
		return ""
	}
	h := sum64(key)
	k := sort.Search(len(r.points), func(k int) bool { return r.points[k] >= h })
	return r.owners[k%len(r.owners)]
}

func sum64(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	x := h.Sum64() // FNV leaves like strings close together
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return x
}

// greatCircle is the distance in km of two places on the globe.
func greatCircle(lat1, lon1, lat2, lon2 float64) float64 {
	const rad, radius = math.Pi / 180, 6371
	a := math.Pow(math.Sin((lat2-lat1)*rad/2), 2) + math.Cos(lat1*rad)*math.Cos(lat2*rad)*math.Pow(math.Sin((lon2-lon1)*rad/2), 2)
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(a)))
}
