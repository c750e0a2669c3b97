package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// evilName is a name that leads to loopback in the walk's browser, as a name leads after somebody has rebound it.
const evilName = "evil.test"

// asking is a request that came by the gate, and how it was answered.
type asking struct {
	method, path, from, origin string // from: Sec-Fetch-Site
	cookie                     bool
	status                     int
}

// gate stands between a browser and the coordinator and notes what is asked.
type gate struct {
	host string
	mu   sync.Mutex
	all  []asking
}

// openGate opens a gate to a coordinator.
func openGate(to string) (*gate, error) {
	g := &gate{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: to})
		r.Out.Host = r.In.Host
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	proxy.ModifyResponse = func(resp *http.Response) error {
		r := resp.Request
		_, noCookie := r.Cookie("argosy_" + portOf(r.Host))
		g.mu.Lock()
		defer g.mu.Unlock()
		g.all = append(g.all, asking{r.Method, r.URL.Path, r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin"), noCookie == nil, resp.StatusCode})
		return nil
	}
	var err error
	g.host, err = serveOn(proxy)
	return g, err
}

func portOf(host string) string {
	_, port, _ := net.SplitHostPort(host)
	return port
}

// strange are the requests since the last call that a page of ours did not send.
func (g *gate) strange() (out []asking) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.all {
		if a.from != "same-origin" && a.from != "none" || strings.Contains(a.origin, evilName) {
			out = append(out, a)
		}
	}
	g.all = nil
	return out
}

// trap is a server that nobody has a reason to ask, besides the crawler, to which it is a page like others.
type trap struct {
	host string
	mu   sync.Mutex
	seen []string
}

func openTrap() (*trap, error) {
	t := &trap{}
	var err error
	t.host, err = serveOn(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(strings.ToLower(r.UserAgent()), "argosy") {
			t.mu.Lock()
			t.seen = append(t.seen, r.Method+" "+r.URL.String())
			t.mu.Unlock()
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = io.WriteString(w, "caught")
	}))
	return t, err
}

func (t *trap) caught() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

// attack is what a page of another origin does, in the browser of an operator, to the coordinator at an address. It returns what it got.
const attack = `(async at => {
	const got = [], wait = ms => new Promise(done => setTimeout(done, ms));
	const orders = [['/jobs/1/cancel', '{}'], ['/jobs/1/pause', '{}'], ['/jobs', '{"seeds":["http://x.test/"]}'], ['/tokens', '{"role":"operator"}'], ['/nodes/north/drain', '{}'], ['/session/code', '{}'], ['/session/end', '{}']];
	const heads = [{'Content-Type': 'text/plain'}, {'Content-Type': 'application/json', 'Idempotency-Key': 'walk', 'Argosy-Page': localStorage.getItem('argosy.page') || 'x'}];
	const one = async (path, how) => {
		try {
			const r = await fetch(at + path, {credentials: 'include', signal: AbortSignal.timeout(5000), ...how});
			if (r.type !== 'opaque' && r.ok) got.push(path + ' was answered: ' + r.status);
		} catch { /* as it should be */ }
	};
	await Promise.all(orders.flatMap(([path, body]) => ['cors', 'no-cors'].flatMap(mode => heads.map(headers => one('/api/v1' + path, {method: 'POST', mode, body, headers})))));
	await Promise.all(['/api/v1/jobs', '/api/v1/orders', '/api/v1/events', '/api/v1/session', '/metrics', '/debug/pprof/heap', '/traces/1'].map(path => one(path, {})));
	for (const [path, body] of orders) {
		navigator.sendBeacon(at + '/api/v1' + path, body);
		const to = document.createElement('iframe'), form = document.createElement('form'), field = document.createElement('input');
		to.name = form.target = 'f' + path; form.action = at + '/api/v1' + path; form.method = 'POST'; form.enctype = 'text/plain';
		field.name = body.slice(0, -1) + ',"x":"'; field.value = '"}';
		form.append(field); document.body.append(to, form); form.submit();
	}
	const frame = document.createElement('iframe'), script = document.createElement('script'), picture = new Image();
	frame.src = at + '/#/jobs'; script.src = at + '/api/v1/jobs'; picture.src = at + '/api/v1/jobs'; document.body.append(frame, script);
	const events = new EventSource(at + '/api/v1/events', {withCredentials: true}), socket = new WebSocket(at.replace('http', 'ws') + '/api/v1/events');
	events.onopen = () => got.push('the stream of events is open'); socket.onopen = () => got.push('a socket is open');
	const other = window.open(at + '/#/jobs');
	await wait(700);
	try { if (other && other.document.querySelector('#content')) got.push('another window can be read'); } catch { /* as it should be */ }
	try { if (frame.contentDocument && frame.contentDocument.querySelector('#app *')) got.push('the pages stand in a frame'); } catch { /* as it should be */ }
	if (other) other.close();
	events.close(); socket.close();
	return got;
})(%s)`

// strangers has pages of other origins, in the browser of an operator, order and read what they can.
func (k *walker) strangers(ctx context.Context, g *gate) error {
	blank, err := serveOn(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>a page of somebody else's</title><body>")
	}))
	if err != nil {
		return err
	}
	one, end, err := k.byGate(ctx, g)
	if err != nil {
		return err
	}
	defer end()
	const is = `Promise.all(['jobs', 'tokens', 'orders', 'names', 'session'].map(p => fetch('/api/v1/' + p, {headers: {'Argosy-Page': localStorage.getItem('argosy.page')}}).then(r => r.json()).then(v => JSON.stringify(p === 'jobs' ? v.map(j => [j.id, j.state, j.identity, j.limits]) : v)))).then(v => v.join('\n'))`
	before, err := js[string](one, is)
	if err != nil {
		return err
	}
	g.strange()
	for _, a := range []struct{ at, of string }{
		{"http://" + blank + "/", "http://" + g.host},                                                           // same site, another port: the cookie is sent
		{"http://" + evilName + ":" + portOf(blank) + "/", "http://" + g.host},                                  // another site
		{"http://" + evilName + ":" + portOf(g.host) + "/nothing", "http://" + evilName + ":" + portOf(g.host)}, // a name that was rebound: the same origin to the browser
	} {
		w, end, err := another(ctx, a.at)
		if err != nil {
			return err
		}
		got, err := js[[]string](w, "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done)).then(() => "+fmt.Sprintf(attack, quote(a.of))+")")
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", a.at, err)
		}
		if len(got) > 0 {
			return fmt.Errorf("a page at %s got: %s", a.at, strings.Join(got, "; "))
		}
	}
	after, err := js[string](one, is)
	if err != nil {
		return err
	}
	if after != before {
		return fmt.Errorf("a page of another origin has changed what was\n%s\nto\n%s", before, after)
	}
	cookies, orders := 0, 0
	for _, a := range g.strange() {
		if a.cookie {
			cookies++
		}
		if a.method == http.MethodPost {
			orders++
		}
		if a.status < 400 && strings.HasPrefix(a.path, "/api/") && a.path != "/api/v1/join" {
			k.wrong.add("%s: %s %s from %s (%s) was answered: %d", k.where, a.method, a.path, a.from, a.origin, a.status)
		}
	}
	if cookies < 10 || orders < 20 {
		return fmt.Errorf("only %d orders came from pages of other origins, and %d requests with the cookie: this tries nothing", orders, cookies)
	}
	return nil
}

// byGate opens a window that asks the coordinator by the gate, with a session of its own.
func (k *walker) byGate(ctx context.Context, g *gate) (context.Context, func(), error) {
	code, err := js[string](ctx, `fetch('/api/v1/session/code', {method: 'POST', headers: {'Argosy-Page': localStorage.getItem('argosy.page')}}).then(r => r.json()).then(v => v.code)`)
	if err != nil {
		return nil, nil, err
	}
	one, end, err := another(ctx, "http://"+g.host+"/#code="+code)
	if err != nil {
		return nil, nil, err
	}
	chromedp.ListenTarget(one, func(ev any) {
		if e, ok := ev.(*page.EventJavascriptDialogOpening); ok {
			k.wrong.add("%s: a script ran: %s", k.where, e.Message)
			go func() { _ = chromedp.Run(one, page.HandleJavaScriptDialog(false)) }()
		}
	})
	err = chromedp.Run(one, chromedp.WaitVisible("#content", chromedp.ByID), chromedp.Evaluate("localStorage.setItem('argosy.language', 'en')", nil))
	return one, end, err
}
