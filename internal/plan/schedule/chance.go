package schedule

import "hash/fnv"

// Chance is a number that belongs to a task's next lease and to a node: it follows from the job's seed, the task, how many leases that has had, and the node's
// name, and from nothing else. What is decided by it stays decided while a task waits, whoever comes, goes or is busy meanwhile, and a replay of the
// crawl decides the same.
func (c *Context) Chance(task, node int) uint64 {
	if c.named == nil {
		c.named = make([]uint64, len(c.S.Nodes))
		for i := range c.S.Nodes {
			h := fnv.New64a()
			_, _ = h.Write([]byte(c.S.Nodes[i].ID))
			c.named[i] = h.Sum64()
		}
	}
	t := &c.S.Tasks[task]
	return mix(mix(mix(c.S.Seed)^uint64(t.ID)<<32^uint64(t.Turn)) ^ c.named[node])
}

// Share is a number from 0 to 1 that belongs to them likewise.
func (c *Context) Share(task, node int) float64 { return float64(c.Chance(task, node)>>11) / (1 << 53) }

// oneOf is one of some nodes, each as likely as the others; -1 of none.
func (c *Context) oneOf(task int, nodes []int) int {
	at, most := -1, uint64(0)
	for _, n := range nodes {
		if x := c.Chance(task, n); at < 0 || x > most {
			at, most = n, x
		}
	}
	return at
}

// mix is the finaliser of splitmix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
