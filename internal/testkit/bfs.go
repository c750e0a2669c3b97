// Package testkit holds what tests share: an independent breadth-first search to judge crawls by, and the catalogue of
// hostile servers.
package testkit

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// Oracle is an independent crawler: net/http, a DOM by golang.org/x/net/html with scripting off, the WHATWG parser for
// every URL. It shares no code with what it judges.
type Oracle struct {
	Addr    string                   // where every name leads, "127.0.0.1:8080"; empty is the network
	Allowed func(u *whatwg.Url) bool // robots.txt, scope
	Workers int

	MaxDepth int // 0 is no limit; 1 keeps the seeds. A redirect costs no depth
}

// Visit is what the oracle found at a URL.
type Visit struct {
	Status int
	HTML   bool
}

// redirects reports whether an answer may send elsewhere, which 304 (Not Modified) does not.
func (v Visit) redirects() bool {
	return v.Status >= 300 && v.Status < 400 && v.Status != http.StatusNotModified
}

// Crawl returns every URL that can be reached from the seeds.
func (o *Oracle) Crawl(ctx context.Context, seeds []string) (map[string]Visit, error) {
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{MaxIdleConnsPerHost: 16, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if o.Addr != "" {
				addr = o.Addr
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}},
	}
	defer client.CloseIdleConnections()
	visits := map[string]Visit{}
	known := map[string]int{} // the least depth at which a URL was found
	var level []string
	for _, s := range seeds {
		u, err := whatwg.Parse(s)
		if err != nil {
			return nil, err
		}
		known[u.Href(true)] = 1
		level = append(level, u.Href(true))
	}
	for depth := 1; len(level) > 0 && (o.MaxDepth == 0 || depth <= o.MaxDepth); depth++ {
		var next []string
		for len(level) > 0 {
			var same []string
			err := o.level(ctx, client, level, visits, func(v Visit, link string) {
				at := depth + 1
				if v.redirects() {
					at = depth
				}
				if d, ok := known[link]; ok && d <= at {
					return
				}
				known[link] = at
				if at == depth {
					same = append(same, link)
				} else {
					next = append(next, link)
				}
			})
			if err != nil {
				return nil, err
			}
			level = same
		}
		level = next
	}
	return visits, nil
}

// level visits those of some URLs that have not been visited and calls found, one call at a time, with what they
// link to.
func (o *Oracle) level(ctx context.Context, client *http.Client, urls []string, visits map[string]Visit, found func(Visit, string)) error {
	var mu sync.Mutex
	var failure error
	work := make(chan string)
	var wg sync.WaitGroup
	for range max(1, o.Workers) {
		wg.Go(func() {
			for u := range work {
				v, links, err := o.visit(ctx, client, u)
				mu.Lock()
				if err != nil {
					failure = err
				}
				visits[u] = v
				for _, l := range links {
					found(v, l)
				}
				mu.Unlock()
			}
		})
	}
	for _, u := range urls {
		mu.Lock()
		_, done := visits[u]
		mu.Unlock()
		if !done {
			work <- u
		}
	}
	close(work)
	wg.Wait()
	return failure
}

func (o *Oracle) visit(ctx context.Context, client *http.Client, u string) (Visit, []string, error) {
	base, err := whatwg.Parse(u)
	if err != nil {
		return Visit{}, nil, err
	}
	// Opaque, because net/url refuses what browsers accept, such as a percent sign without digits.
	req := (&http.Request{Method: http.MethodGet, Header: http.Header{}, Host: base.Host(), URL: &url.URL{
		Scheme: strings.TrimSuffix(base.Protocol(), ":"), Host: base.Host(), Opaque: base.Pathname() + base.Search(),
	}}).WithContext(ctx)
	resp, err := client.Do(req)
	if err != nil {
		return Visit{}, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Visit{}, nil, fmt.Errorf("%s: %w", u, err)
	}
	v := Visit{Status: resp.StatusCode}
	if l := resp.Header.Get("Location"); l != "" && v.redirects() {
		return v, o.resolve(base, []string{l}), nil
	}
	ct := strings.ToLower(resp.Header.Get("Content-Type"))
	mime, _, _ := strings.Cut(ct, ";")
	mime = strings.TrimSpace(mime)
	v.HTML = len(body) > 0 && (mime == "text/html" || mime == "application/xhtml+xml")
	var out []string
	if len(body) > 0 {
		if out, err = o.read(body, mime, ct, base); err != nil {
			return v, nil, fmt.Errorf("%s: %w", u, err)
		}
	}
	return v, append(out, o.resolve(base, headerRefs(resp.Header))...), nil
}

// resolve returns the URLs of references, of those that are allowed.
func (o *Oracle) resolve(base *whatwg.Url, refs []string) (out []string) {
	for _, ref := range refs {
		w, err := base.Parse(ref)
		if err != nil || w.Protocol() != "http:" && w.Protocol() != "https:" || !o.Allowed(w) {
			continue
		}
		out = append(out, w.Href(true))
	}
	return out
}
