package assemble

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"argosy/internal/plan/schedule"
)

// Member is what is special about a node of a crawl. The zero value is a node like any other.
type Member struct {
	Name   string // empty: node-1, node-2 and so on
	Labels map[string]string
	Bind   netip.Addr // local address; the zero Addr is any
	Echo   string     // URL at which the others measure it; empty: they do not
	Dial   func(ctx context.Context, network, addr string) (net.Conn, error)
}

// members are the nodes that crawl.
func (c *Config) members() []Member {
	out := slices.Clone(c.Members)
	if len(out) == 0 {
		out = make([]Member, max(1, c.Agents))
	}
	for i := range out {
		out[i].Name = cmp.Or(out[i].Name, "node-"+strconv.Itoa(i+1))
	}
	return out
}

// members are the nodes that crawl, labelled with the types that are dealt out among them.
func (cr *Crawl) members() []Member {
	out := cr.cfg.members()
	types := cr.cfg.Job.Types()
	if j := cr.f.Job(cr.cfg.Job.ID); j != nil {
		types = j.Types() // with those of engines that people have given its searches since
	}
	deal(out, types)
	return out
}

// deal labels members that say no type with the types of a job.
func deal(out []Member, types []string) {
	labels := make([]string, len(out))
	for i := range out {
		labels[i] = out[i].Labels[schedule.TypeLabel]
	}
	for i, kind := range schedule.DealTypes(types, labels) {
		if kind == "" {
			continue
		}
		own := maps.Clone(out[i].Labels)
		if own == nil {
			own = map[string]string{}
		}
		own[schedule.TypeLabel] = kind
		out[i].Labels = own
	}
}

// planned are the nodes as a strategy will see them.
func (c *Config) planned() []schedule.Node {
	members := c.members()
	deal(members, c.Job.Types())
	out := make([]schedule.Node, len(members))
	for i := range members {
		out[i] = schedule.Node{ID: members[i].Name, Labels: members[i].Labels}
	}
	return out
}
