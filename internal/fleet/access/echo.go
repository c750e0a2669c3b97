package access

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Echoes says which addresses nodes may name as theirs, besides those that they come from.
type Echoes struct {
	nets  []netip.Prefix
	names []string
}

// NewEchoes reads addresses, ranges of them (CIDR) and names of hosts.
func NewEchoes(allowed []string) (*Echoes, error) {
	e := &Echoes{}
	for _, a := range allowed {
		if p, err := netip.ParsePrefix(a); err == nil {
			e.nets = append(e.nets, p.Masked())
		} else if ip, err := netip.ParseAddr(a); err == nil {
			e.nets = append(e.nets, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
		} else if a != "" && !strings.ContainsAny(a, "/:@ ?#") {
			e.names = append(e.names, strings.ToLower(a))
		} else {
			return nil, fmt.Errorf("%q: allowed are addresses, ranges such as 10.0.0.0/8, and names of hosts", a)
		}
	}
	return e, nil
}

// EchoHost returns host and port of an echo address.
func EchoHost(echo string) (host, port string, ok bool) {
	u, err := url.Parse(echo)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" || u.Hostname() == "" {
		return "", "", false
	}
	if port = u.Port(); port == "" {
		port = "80"
	}
	return u.Hostname(), port, true
}

// Of returns the address that others are told to measure a node at: the one that it names, if its host is where it comes from (own),
// or the operator has allowed it. resolved are the addresses of the host. A name is replaced by the address, so that it cannot come
// to mean another host later, unless the operator has allowed the name. Empty: nobody measures it.
func (e *Echoes) Of(echo string, resolved, own []netip.Addr) string {
	host, port, ok := EchoHost(echo)
	if !ok {
		return ""
	}
	for _, n := range e.names {
		if strings.EqualFold(n, host) {
			return echo
		}
	}
	for _, ip := range resolved {
		ip = ip.Unmap()
		mine := false
		for _, o := range own {
			mine = mine || o.Unmap() == ip
		}
		for _, n := range e.nets {
			mine = mine || n.Contains(ip)
		}
		if mine {
			return "http://" + netip.AddrPortFrom(ip, portOf(port)).String() + "/"
		}
	}
	return ""
}

func portOf(s string) uint16 {
	ap, err := netip.ParseAddrPort("0.0.0.0:" + s)
	if err != nil {
		return 0
	}
	return ap.Port()
}
