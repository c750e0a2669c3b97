package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// longestLine bounds a line of a truth file: all the URLs of one page.
const longestLine = 16 << 20

// liveTries is how often an application is asked for a page that gives no answer.
const liveTries = 5

// live returns a web of one application that a server runs: what it has answered once is kept, so that many orders cost it little. Real are
// the pages that a file of bench/apps.sh names: one a line, with a tab between URLs of which one is enough.
func live(root, truth string) (*web, error) {
	base, err := url.Parse(root)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(truth)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &part{name: base.Host, paths: "/", need: 1}
	id := map[string]string{}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, longestLine)
	for sc.Scan() {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		all := strings.Split(sc.Text(), "\t")
		p.real = append(p.real, all[0])
		for _, s := range all {
			u, err := url.Parse(s)
			if err != nil {
				return nil, err
			}
			id[u.RequestURI()] = all[0]
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	var d net.Dialer
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) { // its name may be one of bench/apps.sh
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		return d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}
	c := &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	had := map[string]*answer{}
	w := &web{name: p.name, sites: map[string]*site{"live": {seed: root, parts: []*part{p}, bare: true}}}
	p.answer = func(_ *site, u *url.URL) *answer {
		uri := u.RequestURI()
		if a := had[uri]; a != nil {
			return a
		}
		a, err := get(c, base.Scheme+"://"+base.Host+uri)
		if err != nil {
			w.failed = err
			return &answer{status: http.StatusBadGateway}
		}
		a.real = id[uri]
		had[uri] = a
		return a
	}
	return w, nil
}

// get asks an application for a page, again where it gives no answer: it may be busy, or the machine have stood still.
func get(c *http.Client, url string) (a *answer, err error) {
	for range liveTries {
		resp, e := c.Get(url)
		if e == nil {
			a, e = read(resp)
		}
		if e == nil {
			return a, nil
		}
		err = fmt.Errorf("%s: %w", url, e)
	}
	return nil, err
}

// read takes an answer in. What a server says when its application does not answer is none.
func read(resp *http.Response) (*answer, error) {
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return nil, errors.New(resp.Status)
	}
	a := &answer{body: string(b), says: digest(string(b)), location: resp.Header.Get("Location")}
	if resp.StatusCode != http.StatusOK {
		a.status = resp.StatusCode
	}
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
		a.kind, _, _ = strings.Cut(kind, ";")
	}
	return a, nil
}
