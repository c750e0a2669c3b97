package crawl

import (
	"net/netip"
	"strings"
)

// SURT returns the sort-friendly form of u: the host's labels in reverse, then port, path and query in lower case, as
// indexes of web archives are sorted by.
func (u URL) SURT() string {
	host := u.Host()
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil {
		labels := strings.Split(strings.TrimPrefix(host, "www."), ".")
		for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
			labels[i], labels[j] = labels[j], labels[i]
		}
		host = strings.Join(labels, ",")
	}
	return host + u.s[u.hostEnd:u.path] + ")" + strings.ToLower(u.RequestURI())
}
