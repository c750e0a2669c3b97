package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/schedule"
)

// Matrices are a fleet and its sites as they were measured, or made.
type Matrices struct {
	Nodes   []Node
	Sites   []Site
	Speed   [][]float64
	Delay   [][]float64
	Between [][]float64
}

// MBMin is a megabyte a minute in bits/s, the unit of the coordinates paper.
const MBMin = 8e6 / 60

// Throughput is a world in which every site always has more to collect, and nodes share a bandwidth of capacity times
// what random placement would ask of a node on average. Speeds are scaled so that this demand is as in the
// coordinates paper, 198.8 MB/min.
func Throughput(m Matrices, capacity float64, minutes int, seed uint64) World {
	w := World{
		Seed: seed, Horizon: int64(minutes) * 60_000, Nodes: append([]Node(nil), m.Nodes...), Sites: m.Sites,
		Speed: clone(m.Speed), Delay: m.Delay, Between: m.Between, Noise: 0.2, Page: 20 * 8e3, Root: 20 * 8e3,
		Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 30}, Part: partEach,
	}
	sum := 0.0
	for i := range w.Nodes {
		for j := range w.Sites {
			sum += w.path(i, j) / float64(len(w.Nodes))
		}
	}
	scale := 198.8 * MBMin / sum
	for i := range w.Speed {
		for j := range w.Speed[i] {
			w.Speed[i][j] *= scale
		}
	}
	w.Sites = append([]Site(nil), m.Sites...)
	for j := range w.Sites {
		w.Sites[j].Limit *= scale
	}
	for i := range w.Nodes {
		w.Nodes[i].Slots = len(w.Sites)
		w.Nodes[i].Bandwidth = capacity * 198.8 * MBMin / float64(len(w.Nodes))
	}
	return w
}

// host is where a node or a site is.
type host struct {
	city, net int
	access    float64 // ms of its own line
}

var cities = []struct {
	name     string
	lat, lon float64
}{
	{"beijing", 39.9, 116.4}, {"shanghai", 31.2, 121.5}, {"guangzhou", 23.1, 113.3}, {"harbin", 45.8, 126.5},
	{"chengdu", 30.7, 104.1}, {"wuhan", 30.6, 114.3}, {"xian", 34.3, 108.9}, {"hangzhou", 30.3, 120.2},
}

// City names a city of the made fleets by its number.
func City(k int) string {
	if k < 0 || k >= len(cities) {
		return ""
	}
	return cities[k].name
}

// CityOf returns the number of a city, -1 if there is none of the name.
func CityOf(name string) int {
	for k := range cities {
		if cities[k].name == name {
			return k
		}
	}
	return -1
}

// networks that hosts are on; the last is the education network, which is far from all others.
var networks = []string{"telecom", "unicom", "netcom", "education"}

// China is a made fleet like that of the coordinates paper: 30 nodes in four cities on four networks, and sites in
// more cities on the same networks. Delays grow with distance and jump where networks meet; the speed of a path falls
// with its delay, within limits of the site, with a spread of sigma.
func China(sites int, sigma float64, seed uint64) Matrices {
	r := rand.New(rand.NewPCG(seed, 0x6368696e61))
	var nodes, hosts []host
	for city, n := range []int{10, 10, 9, 1} {
		for k := range n {
			net := k % 3
			if city == 3 {
				net = 3
			} else if city == 2 {
				net = k % 2
			}
			nodes = append(nodes, host{city, net, 1 + r.ExpFloat64()})
		}
	}
	for range sites {
		city := r.IntN(len(cities))
		if r.Float64() < 0.7 { // most large sites are where the nodes are
			city = r.IntN(3)
		}
		net := r.IntN(3)
		if r.Float64() < 0.05 {
			net = 3
		}
		hosts = append(hosts, host{city, net, 1 + 4*r.ExpFloat64()})
	}
	m := connect(nodes, hosts, sigma, r)
	limits(&m, r)
	return m
}

// connect gives every pair its delay, and those of nodes and sites a speed that falls with it.
func connect(nodes, sites []host, sigma float64, r *rand.Rand) (m Matrices) {
	for k, h := range nodes {
		c := cities[h.city]
		m.Nodes = append(m.Nodes, Node{ID: name("node", k+1), Labels: map[string]string{
			"city": c.name, "provider": networks[h.net], "region": c.name, "lat": fmt.Sprint(c.lat), "lon": fmt.Sprint(c.lon),
		}})
	}
	for j, h := range sites {
		c := cities[h.city]
		m.Sites = append(m.Sites, Site{
			Name: name("site", j+1), Place: schedule.Place{Lat: c.lat, Lon: c.lon, Located: true, Region: c.name, Network: networks[h.net]},
		})
	}
	for i := range nodes {
		m.Delay, m.Speed, m.Between = append(m.Delay, nil), append(m.Speed, nil), append(m.Between, make([]float64, len(nodes)))
		for j := range sites {
			d := milliseconds(nodes[i], sites[j], r)
			m.Delay[i] = append(m.Delay[i], d)
			m.Speed[i] = append(m.Speed[i], 1e7/d*math.Exp(sigma*r.NormFloat64()))
		}
		for k := range i {
			d := milliseconds(nodes[i], nodes[k], r)
			m.Between[i][k], m.Between[k][i] = d, d
		}
	}
	return m
}

func milliseconds(a, b host, r *rand.Rand) float64 {
	ca, cb := cities[a.city], cities[b.city]
	km := 111 * math.Hypot(ca.lat-cb.lat, (ca.lon-cb.lon)*math.Cos(35*math.Pi/180))
	d := a.access + b.access + km*0.018
	if a.net != b.net {
		d += 18
		if a.net == 3 || b.net == 3 {
			d += 15
		}
	}
	return d * math.Exp(0.12*r.NormFloat64())
}

// limits gives sites limits of their own.
func limits(m *Matrices, r *rand.Rand) {
	for j := range m.Sites {
		m.Sites[j].Limit = 1e6 * math.Exp(0.6*r.NormFloat64())
	}
}

// Changing is the world of the feedback paper at scale: tasks of 20 pages come by chance to sites that treat every
// node differently (speed, and share of pages that are had) and change their mind.
func Changing(nodes, sites, changes int, load float64, hours int, seed uint64) World {
	r := rand.New(rand.NewPCG(seed, 0x6368616e6765))
	w := World{
		Seed: seed, Horizon: int64(hours) * 3_600_000, Noise: 0.15, Page: 1e6, Root: 1e6,
		Lease: LeaseShape{Bits: 5e6, Seconds: math.MaxInt32}, Part: partEach, Tasks: &Arrivals{Pages: 20},
	}
	mood := func() (success, seconds float64) {
		success = 0.9 + 0.1*r.Float64()
		switch x := r.Float64(); {
		case x < 0.2: // blocked
			success = 0.05 * r.Float64()
		case x < 0.45: // served now and then
			success = 0.3 + 0.5*r.Float64()
		}
		return success, math.Exp(-0.5 + 0.6*r.NormFloat64())
	}
	total := 0.0
	for i := range nodes {
		w.Nodes = append(w.Nodes, Node{ID: name("node", i+1), Slots: 1, Labels: map[string]string{}})
		w.Speed, w.Success = append(w.Speed, make([]float64, sites)), append(w.Success, make([]float64, sites))
		for j := range sites {
			s, t := mood()
			w.Success[i][j], w.Speed[i][j] = s, w.Page/t
			total += t / float64(nodes*sites)
		}
	}
	for j := range sites {
		w.Sites = append(w.Sites, Site{Name: name("site", j+1)})
	}
	w.Tasks.PerSecond = load * float64(nodes) / (total * float64(w.Tasks.Pages))
	for k := range changes {
		site := r.IntN(sites)
		success, seconds := make([]float64, nodes), make([]float64, nodes)
		for i := range nodes {
			success[i], seconds[i] = mood()
		}
		w.Changes = append(w.Changes, Change{At: w.Horizon * int64(k+1) / int64(changes+1), Apply: func(w *World) {
			for i := range success {
				w.Success[i][site], w.Speed[i][site] = success[i], w.Page/seconds[i]
			}
		}})
	}
	return w
}

// Skewed gives the sites of a world sizes that differ a lot, so that some are done long before others.
func Skewed(w World, sigma float64) World {
	r := rand.New(rand.NewPCG(w.Seed, 0x736b6577))
	w.Sites = append([]Site(nil), w.Sites...)
	seconds := float64(w.Horizon) / 1000
	for j := range w.Sites {
		w.Sites[j].Size = 1.2 * 198.8 * MBMin * seconds / float64(len(w.Sites)) * math.Exp(sigma*r.NormFloat64())
	}
	return w
}

// TurnsBad makes one node after the other useless: a twentieth of its speed, half of its pages lost.
func TurnsBad(w World, nodes ...int) World {
	w.Success = make([][]float64, len(w.Nodes))
	for i := range w.Success {
		w.Success[i] = make([]float64, len(w.Sites))
		for j := range w.Success[i] {
			w.Success[i][j] = 1
		}
	}
	for k, n := range nodes {
		w.Changes = append(w.Changes, Change{At: w.Horizon * int64(k+1) / int64(len(nodes)+2), Apply: func(w *World) {
			for j := range w.Sites {
				w.Speed[n][j] /= 20
				w.Success[n][j] /= 2
			}
		}})
	}
	return w
}

// Coming lets a third of the nodes join after a third of the time and another third leave after two.
func Coming(w World) World {
	w.Nodes = append([]Node(nil), w.Nodes...)
	for i := range w.Nodes {
		switch i % 3 {
		case 1:
			w.Nodes[i].Join = w.Horizon / 3
		case 2:
			w.Nodes[i].Leave = 2 * w.Horizon / 3
		}
	}
	return w
}

// Recorded makes a fleet of recorded regions: speeds and delays between them are as measured, nodes are in some of the
// regions and the sites in the others, several in each. Pairs that were not measured get the median of their kind;
// sites have limits of their own around the median speed.
func Recorded(names []string, speed [][]float64, others []string, delay [][]float64, nodes, sites int, seed uint64) Matrices {
	r := rand.New(rand.NewPCG(seed, 0x636c6f7564))
	at := map[string]int{}
	for i, n := range others {
		at[n] = i
	}
	var both []int // regions whose delays are known too
	for i, n := range names {
		if _, ok := at[n]; ok {
			both = append(both, i)
		}
	}
	r.Shuffle(len(both), func(a, b int) { both[a], both[b] = both[b], both[a] })
	nodes = min(nodes, len(both)/2+1)
	typical, far := middle(speed), middle(delay)
	bits := func(from, to int) float64 {
		if x := speed[from][to]; x > 0 {
			return x
		}
		return typical
	}
	ms := func(a, b int) float64 {
		if x := delay[at[names[a]]][at[names[b]]]; x > 0 {
			return x
		} else if x := delay[at[names[b]]][at[names[a]]]; x > 0 {
			return x
		}
		return far
	}
	m := Matrices{Between: make([][]float64, nodes)}
	for i := range nodes {
		n := both[i]
		provider, region, _ := strings.Cut(names[n], ":")
		m.Nodes = append(m.Nodes, Node{ID: name("node", i+1), Labels: map[string]string{"city": region, "provider": provider, "region": names[n]}})
		m.Speed, m.Delay = append(m.Speed, make([]float64, sites)), append(m.Delay, make([]float64, sites))
		for k := range nodes {
			m.Between[i] = append(m.Between[i], ms(n, both[k]))
		}
	}
	rest := both[nodes:]
	for j := range sites {
		s := rest[r.IntN(len(rest))]
		m.Sites = append(m.Sites, Site{Name: name("site", j+1), Limit: 2 * typical * math.Exp(0.6*r.NormFloat64()), Place: schedule.Place{Region: names[s]}})
		for i := range nodes {
			m.Speed[i][j] = bits(s, both[i])
			m.Delay[i][j] = ms(both[i], s) * math.Exp(0.03*r.NormFloat64())
		}
	}
	return m
}

func middle(m [][]float64) float64 {
	var all []float64
	for _, row := range m {
		for _, x := range row {
			if x > 0 {
				all = append(all, x)
			}
		}
	}
	return netcoord.Median(all)
}
