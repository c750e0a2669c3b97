package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/page/fetch"
)

// reach adds the flags that say how a node reaches the network.
func (f *crawlFlags) reach(c *cobra.Command) {
	fl := c.Flags()
	f.guard(c)
	fl.StringArrayVar(&f.header, "header", nil, "\"Name: value\", sent to the seeds' sites only, redacted in archives (may be repeated)")
	fl.StringVar(&f.cookies, "cookies", "", "\"name=value; …\" or a cookies.txt file, sent to the seeds' sites only, redacted in archives")
	fl.BoolVar(&f.keepSecrets, "keep-secrets", false, "do not redact --header and --cookies in archives")
	fl.StringVar(&f.proxy, "proxy", "", "http://[user:password@]host:port or socks5://…")
	fl.BoolVar(&f.proxyDNS, "proxy-dns", false, "let the proxy resolve names, without our check of addresses")
}

// guard adds the flags that say which addresses names have, and which of them may be reached.
func (f *crawlFlags) guard(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.allowPrivate, "allow-private", "", "reach loopback and private addresses: all, or those in CIDR,…")
	fl.Lookup("allow-private").NoOptDefVal = "all"
	fl.StringArrayVar(&f.resolve, "resolve", nil, "HOST=IP: use this address; HOST may be *.example or * (may be repeated)")
	fl.StringVar(&f.dns, "dns", "", "DNS server, host or host:port (default: the system's)")
}

// trust adds the flags that say which certificates of sites are trusted; of an agent, whose --ca is the coordinator's, they
// begin with another word.
func (f *crawlFlags) trust(c *cobra.Command, prefix string) {
	f.trustPrefix = prefix
	c.Flags().StringArrayVar(&f.ca, prefix+"ca", nil, "file of certificates (PEM) that sites are trusted by, besides the system's (may be repeated)")
	c.Flags().BoolVar(&f.insecure, prefix+"insecure", false, "trust every certificate of every site, also expired ones and those of other names")
}

// roots builds how certificates of sites are checked; nil is by the system's authorities.
func (f *crawlFlags) roots() (*tls.Config, error) {
	if len(f.ca) == 0 && !f.insecure {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, path := range f.ca {
		b, err := readSmall(path)
		if err != nil {
			return nil, usage("--%sca: %w", f.trustPrefix, err)
		}
		if !pool.AppendCertsFromPEM(b) {
			return nil, usage("--%sca %s: no certificate in it; want PEM (-----BEGIN CERTIFICATE-----)", f.trustPrefix, path)
		}
	}
	return &tls.Config{RootCAs: pool, InsecureSkipVerify: f.insecure}, nil
}

// network turns the flags that concern the network.
func (f *crawlFlags) network(c *assemble.Config) error {
	fc := &c.Fetch
	fc.DNS, fc.ProxyDNS = f.dns, f.proxyDNS
	if !isServer(f.dns) {
		return usage("--dns: %q is neither a host nor host:port", f.dns)
	}
	var err error
	if fc.TLS, err = f.roots(); err != nil {
		return err
	}
	switch f.allowPrivate {
	case "":
	case "all":
		fc.Allow = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	default:
		for s := range strings.SplitSeq(f.allowPrivate, ",") {
			p, err := netip.ParsePrefix(strings.TrimSpace(s))
			if err != nil {
				return usage("--allow-private: %q is not a CIDR, such as 127.0.0.0/8", s)
			}
			fc.Allow = append(fc.Allow, p)
		}
	}
	fc.Resolve = map[string]netip.Addr{}
	for _, r := range f.resolve {
		host, ip, ok := strings.Cut(r, "=")
		a, err := netip.ParseAddr(ip)
		if !ok || err != nil || host == "" {
			return usage("--resolve: %q is not HOST=IP, such as www.example.com=192.0.2.1 or *.example.com=192.0.2.1", r)
		}
		fc.Resolve[strings.ToLower(host)] = a
	}
	for _, b := range f.bind {
		a, err := netip.ParseAddr(b)
		if err != nil {
			return usage("--bind: %q is not an IP address", b)
		}
		c.Members = append(c.Members, assemble.Member{Bind: a})
	}
	if f.proxy != "" {
		p, err := url.Parse(f.proxy)
		if err != nil || p.Host == "" || p.Scheme != "http" && p.Scheme != "socks5" {
			return usage("--proxy: allowed are http://host:port and socks5://host:port")
		}
		fc.Proxy = p
	}
	if f.proxyDNS && f.proxy == "" {
		return usage("--proxy-dns: needs --proxy")
	}
	for _, h := range f.header {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(h, "\r\n") || strings.Contains(name, " ") {
			return usage("--header: want \"Name: value\"")
		}
		c.Headers = append(c.Headers, fetch.Field{Name: name, Value: strings.TrimSpace(value)})
	}
	c.Cookies, err = readCookies(f.cookies)
	return err
}

// isServer reports whether a text is a host or a host and a port; none is the system's server.
func isServer(s string) bool {
	if s == "" {
		return true
	}
	host := s
	if h, port, err := net.SplitHostPort(s); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return false
		}
		host = h
	}
	if strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	u, err := crawl.Parse("http://" + host + "/")
	return err == nil && u.Path() == "/" && u.Site() == u.Host() && !strings.ContainsAny(host, "/@?#")
}

// readCookies takes "name=value; …", or the name of a file in the Netscape format.
func readCookies(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	b, err := readSmall(s)
	if errors.Is(err, errLarge) {
		return "", usage("--cookies: %w", err)
	}
	if err != nil {
		if !strings.Contains(s, "=") || strings.ContainsAny(s, "\r\n") {
			return "", usage("--cookies: neither \"name=value; …\" nor a readable file")
		}
		return s, nil
	}
	var out []string
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimPrefix(strings.TrimRight(line, "\r"), "#HttpOnly_")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 7 {
			return "", usage("--cookies %s:%d: want seven fields, separated by tabs", s, i+1)
		}
		out = append(out, f[5]+"="+f[6])
	}
	return strings.Join(out, "; "), nil
}
