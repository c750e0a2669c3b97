package webs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// World is a web around the world: the sites of Demo, and larger ones in cities far from each other, with links as slow as such ways are.
type World struct {
	*Web
	Links *Links
	Nodes []End                 // from where it is crawled
	Sites []End                 // without port; those of Demo are among them
	Addrs map[string]netip.Addr // by which all of them are reached
}

// worldNodes are the cities in which nodes are, with Mbit/s.
var worldNodes = []End{
	{"frankfurt", 50.1, 8.7, 12, 3 * time.Millisecond}, {"london", 51.5, -0.1, 8, 4 * time.Millisecond}, {"new-york", 40.7, -74.0, 12, 3 * time.Millisecond},
	{"san-francisco", 37.8, -122.4, 8, 5 * time.Millisecond}, {"sao-paulo", -23.5, -46.6, 5, 9 * time.Millisecond}, {"singapore", 1.4, 103.8, 8, 4 * time.Millisecond},
	{"tokyo", 35.7, 139.7, 12, 3 * time.Millisecond}, {"johannesburg", -26.2, 28.0, 4, 12 * time.Millisecond},
}

// worldSites are the cities in which sites are, with Mbit/s.
var worldSites = []End{
	{"zurich", 47.4, 8.5, 9, 2 * time.Millisecond}, {"madrid", 40.4, -3.7, 6, 4 * time.Millisecond}, {"oslo", 59.9, 10.8, 8, 3 * time.Millisecond}, {"warsaw", 52.2, 21.0, 5, 5 * time.Millisecond},
	{"istanbul", 41.0, 29.0, 5, 7 * time.Millisecond}, {"cairo", 30.0, 31.2, 3, 12 * time.Millisecond}, {"lagos", 6.5, 3.4, 2, 18 * time.Millisecond}, {"nairobi", -1.3, 36.8, 3, 15 * time.Millisecond},
	{"cape-town", -33.9, 18.4, 4, 9 * time.Millisecond}, {"mumbai", 19.1, 72.9, 4, 9 * time.Millisecond}, {"bangkok", 13.8, 100.5, 5, 7 * time.Millisecond}, {"jakarta", -6.2, 106.8, 4, 9 * time.Millisecond},
	{"hong-kong", 22.3, 114.2, 8, 3 * time.Millisecond}, {"seoul", 37.6, 127.0, 9, 2 * time.Millisecond}, {"osaka", 34.7, 135.5, 8, 3 * time.Millisecond}, {"auckland", -36.8, 174.8, 5, 6 * time.Millisecond},
	{"vancouver", 49.3, -123.1, 7, 4 * time.Millisecond}, {"denver", 39.7, -105.0, 7, 4 * time.Millisecond}, {"chicago", 41.9, -87.6, 9, 3 * time.Millisecond}, {"toronto", 43.7, -79.4, 8, 3 * time.Millisecond},
	{"mexico-city", 19.4, -99.1, 4, 9 * time.Millisecond}, {"bogota", 4.7, -74.1, 3, 12 * time.Millisecond}, {"buenos-aires", -34.6, -58.4, 4, 9 * time.Millisecond}, {"reykjavik", 64.1, -21.9, 6, 5 * time.Millisecond},
}

// Pages of a site of the world, and their bytes: as a whole they last for about half an hour.
const (
	worldPages = 4000
	worldBytes = 40_000
)

// NewWorld returns the world. The same seed gives the same pages.
func NewWorld(seed uint64) *World {
	w := &World{Web: Demo(), Links: NewLinks(seed), Addrs: map[string]netip.Addr{}}
	w.Links.Loss, w.Links.Jitter = 0.002, 0.1
	add := func(e End) End {
		e.Rate *= 1e6
		w.Addrs[e.Name] = w.Links.Add(e)
		return e
	}
	for _, e := range worldNodes {
		w.Nodes = append(w.Nodes, add(e))
		echo := e
		echo.Name = EchoOf(e.Name)
		add(echo)
		w.Web.Sites[echo.Name] = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("here\n")) })
	}
	for i, e := range worldSites {
		e.Name += ".demo"
		w.Web.Sites[e.Name] = worldSite{name: e.Name, seed: seed<<8 + uint64(i)}
		w.Sites = append(w.Sites, add(e))
	}
	for i, s := range DemoSites {
		e := worldSites[5*i%len(worldSites)]
		e.Name = s[0]
		w.Sites = append(w.Sites, add(e))
	}
	return w
}

// EchoOf is the host at which a node of the world is measured by others.
func EchoOf(node string) string { return node + ".node.demo" }

// Serve serves the world on a loopback address until stop is called, and has the links lead there.
func (w *World) Serve(addr string) (port string, stop func(), err error) {
	port, stop, err = w.Web.Serve(addr)
	w.Links.Open = func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	}
	return port, stop, err
}

// worldSite is a site of text pages that link to each other as a tree.
type worldSite struct {
	name string
	seed uint64
}

// ServeHTTP implements http.Handler.
func (s worldSite) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var n int
	switch {
	case r.URL.Path == "/":
	case match(r.URL.Path, "/page/%d.html", &n) && n > 0 && n < worldPages:
	default:
		http.NotFound(rw, r)
		return
	}
	rng := rand.New(rand.NewPCG(s.seed, uint64(n)))
	city, _, _ := strings.Cut(s.name, ".")
	var b strings.Builder
	for k := 4*n + 1; k <= 4*n+4 && k < worldPages; k++ {
		fmt.Fprintf(&b, `<a href="/page/%d.html">Page %d</a> `, k, k)
	}
	b.WriteString("<p>")
	for size := worldBytes/2 + rng.IntN(worldBytes); b.Len() < size; {
		b.WriteString(worldWords[rng.IntN(len(worldWords))])
		b.WriteByte(' ')
		if rng.IntN(60) == 0 {
			fmt.Fprintf(&b, "%d</p>\n<p>", rng.IntN(100_000))
		}
	}
	page(rw, fmt.Sprintf("Page %d of %s", n, city), b.String()+"</p>")
}

var worldWords = strings.Fields(`harbour bridge market tram river garden ferry street tower station school theatre library square canal hill park coast island lighthouse
orchard bakery museum window kitchen letter winter summer morning evening bread coffee salt copper glass paper wool silver rain wind cloud snow river boat sail rope anchor
engine wheel road track signal ticket clock bell lantern mirror chair table door key lock map compass atlas journal story song chorus violin drum dance painter mason
tailor farmer sailor teacher doctor baker carpenter gardener quiet loud narrow wide early late northern southern eastern western golden green crimson pale deep shallow`)

// Seeds are the roots of the world's sites, served on a port.
func (w *World) Seeds(port string) (out []string) {
	for _, s := range w.Sites {
		out = append(out, "http://"+hostPort(s.Name, port)+"/")
	}
	return out
}
