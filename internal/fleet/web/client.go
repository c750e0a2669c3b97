package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/gate"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/survey"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
)

// Client asks a coordinator. Of several it asks the one that leads.
type Client struct {
	places []place
	token  func() string
	led    atomic.Int32 // which of the places answered last

	// Slow is told, if it is set, that a coordinator has not answered for a while and is waited for, from a goroutine of its own.
	Slow func(url string)
}

// slowAfter is how long an answer may take before Slow is told: longer than any that the tables of docs/fleet.md have.
const slowAfter = 3 * time.Second

// place is where a coordinator may be asked.
type place struct {
	url   string       // http://HOST:PORT
	http  *http.Client // over the network; nil: only the socket leads there
	local *http.Client // over this machine's own socket; nil: none does
}

// unixScheme begins the address of a coordinator that is asked over a socket.
const unixScheme = "unix:"

// NewClient returns a client of the coordinators at URLs, separated by commas. TLS may be nil. Without a token a coordinator on this
// machine is asked over its socket, if there is one.
func NewClient(urls, token string, c *tls.Config) (*Client, error) {
	cl := &Client{token: func() string { return token }}
	network := httpClient(&http.Transport{
		TLSClientConfig: c, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, ResponseHeaderTimeout: 30 * time.Second,
	})
	for s := range strings.SplitSeq(urls, ",") {
		s = strings.TrimSpace(s)
		if path, ok := strings.CutPrefix(s, unixScheme); ok && path != "" {
			cl.places = append(cl.places, place{url: "http://localhost", local: over(path, net.Dial)})
			continue
		}
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return nil, fmt.Errorf("%q: want http://HOST:PORT, https://HOST:PORT or unix:SOCKET, several with commas", s)
		}
		p := place{url: u.Scheme + "://" + u.Host, http: network}
		if isLoopback(u.Hostname()) {
			p.local = over(LocalSocket(u.Port()), dialLocal)
		}
		cl.places = append(cl.places, p)
	}
	return cl, nil
}

func httpClient(t *http.Transport) *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: t}
}

// over is a client that asks over a socket, which dial reaches.
func over(path string, dial func(network, path string) (net.Conn, error)) *http.Client {
	return httpClient(&http.Transport{
		DialContext:           func(context.Context, string, string) (net.Conn, error) { return dial("unix", path) },
		ResponseHeaderTimeout: 30 * time.Second,
	})
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// TokenFrom has the client ask for its token before each request: the file that it is in may change.
func (c *Client) TokenFrom(fn func() string) { c.token = fn }

// Error is a refusal by a coordinator.
type Error struct {
	Status int
	Detail string
	Rule   access.Rule   // why a node is not let in; empty: it is about something else
	After  time.Duration // when it may ask again, where the coordinator said so
}

func (e *Error) Error() string { return e.Detail }

// Usage tells whether it was the asker's mistake.
func (e *Error) Usage() bool { return e.Status == wrongLine || e.Status >= 400 && e.Status < 500 }

// wrongLine stands for a status where nobody could be asked: the certificate is not trusted, or TLS is spoken there.
const wrongLine = 0

// passes tells whether another coordinator may know better.
func (e *Error) passes() bool {
	return e.Status == http.StatusServiceUnavailable || e.Status == wrongLine
}

// ErrAway says that no coordinator could be asked.
var ErrAway = errors.New("no coordinator answers")

// silentAfter is how long one of several coordinators may take to show that it is there, before the next one is asked: its process may be
// stopped, and its machine takes connections nevertheless. It is not how long an answer may take.
const silentAfter = 2 * time.Second

// do asks the coordinators in turn, the one that answered last first, until one answers that is not merely standing by. Those that do
// not show that they are there are asked when nobody else has answered.
func (c *Client) do(ctx context.Context, method, path string, body []byte, kind string, to any) (base string, err error) {
	var last error
	var refused *Error
	var silent []int
	first := int(c.led.Load())
	for n := range 2 * len(c.places) {
		at := (first + n) % len(c.places)
		switch {
		case n >= len(c.places) && !slices.Contains(silent, at):
			continue
		case n < len(c.places) && len(c.places) > 1 && !c.there(ctx, c.places[at]):
			silent = append(silent, at)
			continue
		}
		p := c.places[at]
		err := c.watched(p.url, func() error { return c.ask(ctx, p, method, path, body, kind, to) })
		if err == nil || errors.As(err, &refused) && !refused.passes() {
			c.led.Store(int32(at))
			return p.url, err
		}
		if !errors.As(last, &refused) || errors.As(err, &refused) { // a coordinator that says why tells more than one that is not there
			last = err
		}
	}
	if errors.As(last, &refused) {
		return "", last
	}
	return "", fmt.Errorf("%w: %w", ErrAway, last)
}

// watched runs fn, and tells Slow if that takes long.
func (c *Client) watched(url string, fn func() error) error {
	if c.Slow != nil {
		defer time.AfterFunc(slowAfter, func() { c.Slow(url) }).Stop()
	}
	return fn()
}

// there reports whether a coordinator is there, or it is known at once that it is not.
func (c *Client) there(ctx context.Context, p place) bool {
	ctx, cancel := context.WithTimeout(ctx, silentAfter)
	defer cancel()
	for _, via := range []*http.Client{p.local, p.http} {
		if via == nil || via == p.local && p.http != nil && c.token() != "" {
			continue
		}
		base := p.url
		if via == p.local {
			base = "http://localhost"
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
		if err != nil {
			return true // the question itself will tell why
		}
		if resp, err := via.Do(req); err == nil {
			_ = resp.Body.Close()
			return true
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return true
}

// ask asks one coordinator: over this machine's own socket where no token is shown, and over the network where that does not lead to it.
func (c *Client) ask(ctx context.Context, p place, method, path string, body []byte, kind string, to any) error {
	token := c.token()
	if p.local != nil && token == "" {
		err := c.send(ctx, p.local, "http://localhost", token, method, path, body, kind, to)
		var op *net.OpError
		if p.http == nil || !errors.Is(err, errNotOurs) && !(errors.As(err, &op) && op.Op == "dial") {
			return err
		}
	}
	if p.http == nil {
		return c.send(ctx, p.local, p.url, token, method, path, body, kind, to)
	}
	return c.send(ctx, p.http, p.url, token, method, path, body, kind, to)
}

func (c *Client) send(ctx context.Context, via *http.Client, base, token, method, path string, body []byte, kind string, to any) error {
	req, err := http.NewRequestWithContext(ctx, method, base+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := via.Do(req)
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		hint := ""
		if errors.As(err, &x509.UnknownAuthorityError{}) {
			hint = "; allowed is what the system trusts, or --ca FILE"
		}
		return &Error{Status: wrongLine, Detail: fmt.Sprintf("%s is not trusted: %v%s", base, untrusted.Err, hint)}
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 256<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusBadRequest && bytes.Contains(b, []byte("HTTP request to an HTTPS server")) { // as net/http says it
		return &Error{Status: wrongLine, Detail: base + " speaks TLS: ask https://" + strings.TrimPrefix(base, "http://")}
	}
	if resp.StatusCode >= 300 {
		var p struct {
			Type   string
			Detail string
			Errors []struct{ Message, Location string }
		}
		if json.Unmarshal(b, &p) != nil || p.Detail == "" {
			p.Detail = base + " answered " + resp.Status
		}
		for _, e := range p.Errors {
			p.Detail += "; " + e.Location + ": " + e.Message
		}
		rule, _ := strings.CutPrefix(p.Type, refusedType)
		if rule == p.Type {
			rule = ""
		}
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &Error{resp.StatusCode, p.Detail, access.Rule(rule), time.Duration(max(0, min(after, 3600))) * time.Second}
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: not the answer of a coordinator: %w", base, err)
	}
	return nil
}

func (c *Client) get(ctx context.Context, path string, to any) error {
	_, err := c.do(ctx, http.MethodGet, path, nil, "", to)
	return err
}

func (c *Client) post(ctx context.Context, path string, body, to any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, http.MethodPost, path, b, "application/json", to)
	return err
}

// Jobs returns all jobs.
func (c *Client) Jobs(ctx context.Context) (js []Job, err error) {
	err = c.get(ctx, "/jobs", &js)
	return js, err
}

// Job returns a job.
func (c *Client) Job(ctx context.Context, id uint32) (j Job, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d", id), &j)
	return j, err
}

// Recording returns what a job has recorded for replays.
func (c *Client) Recording(ctx context.Context, id uint32) (r sim.Recording, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d/recording", id), &r)
	return r, err
}

// Tree returns the search paths of a job; of very many pages those of the branches with most on the topic.
func (c *Client) Tree(ctx context.Context, id uint32) (p Paths, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d/tree", id), &p)
	return p, err
}

// Statistics returns the figures of a job that looks for a topic.
func (c *Client) Statistics(ctx context.Context, id uint32) (s survey.Stats, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d/statistics", id), &s)
	return s, err
}

// Submit submits a job file. list stands for seeds that follow by Sow; nil: they are in the file.
func (c *Client) Submit(ctx context.Context, file []byte, list *crawl.SeedList) (uint32, error) {
	path := "/jobs"
	if list != nil {
		path = fmt.Sprintf("/jobs?seeds=%d&digest=%s", list.Count, url.QueryEscape(list.Digest))
	}
	var s Submitted
	_, err := c.do(ctx, http.MethodPost, path, file, "application/yaml", &s)
	return s.Job, err
}

// Sow gives the next piece of a job's seeds.
func (c *Client) Sow(ctx context.Context, chunk crawl.SeedChunk) error {
	var b bytes.Buffer
	bare := chunk.NoScheme
	for i, s := range chunk.URLs {
		if len(bare) > 0 && bare[0] == i {
			_, s, _ = strings.Cut(s, "://")
			bare = bare[1:]
		}
		b.WriteString(s + "\n")
	}
	var s Sown
	_, err := c.do(ctx, http.MethodPost, fmt.Sprintf("/jobs/%d/seeds?from=%d", chunk.Job, chunk.From), b.Bytes(), "text/plain", &s)
	return err
}

// SetLimits changes limits and placing of a job by a job file with these keys alone.
func (c *Client) SetLimits(ctx context.Context, id uint32, file []byte) (j Job, err error) {
	_, err = c.do(ctx, http.MethodPost, fmt.Sprintf("/jobs/%d/limits", id), file, "application/yaml", &j)
	return j, err
}

// Order pauses, resumes or cancels a job.
func (c *Client) Order(ctx context.Context, id uint32, order string) (j Job, err error) {
	err = c.post(ctx, fmt.Sprintf("/jobs/%d/%s", id, order), struct{}{}, &j)
	return j, err
}

// tasksPage is how many tasks an answer has at most.
const tasksPage = 1000

// Tasks returns the tasks of a job, asking as often as it takes.
func (c *Client) Tasks(ctx context.Context, id uint32, state string) (ts []ledger.Task, err error) {
	for last := uint32(0); ; {
		var page []ledger.Task
		if err := c.get(ctx, fmt.Sprintf("/jobs/%d/tasks?state=%s&after=%d&limit=%d", id, url.QueryEscape(state), last, tasksPage), &page); err != nil {
			return nil, err
		}
		ts = append(ts, page...)
		if len(page) < tasksPage || page[len(page)-1].ID <= last { // the second: a coordinator of 0.1.0 gives all at once
			return ts, nil
		}
		last = page[len(page)-1].ID
	}
}

// Release retries or drops tasks.
func (c *Client) Release(ctx context.Context, id uint32, order string, r Release) (d Released, err error) {
	err = c.post(ctx, fmt.Sprintf("/jobs/%d/%s", id, order), r, &d)
	return d, err
}

// Nodes returns the nodes.
func (c *Client) Nodes(ctx context.Context) (ns []coordinator.NodeView, err error) {
	err = c.get(ctx, "/nodes", &ns)
	return ns, err
}

// Reservation returns what the fleet's reservation costs, and what the best one would.
func (c *Client) Reservation(ctx context.Context) (r coordinator.Reservation, err error) {
	err = c.get(ctx, "/reservation", &r)
	return r, err
}

// Drain has a node drain, or take leases again.
func (c *Client) Drain(ctx context.Context, node string, again bool) error {
	order := "drain"
	if again {
		order = "return"
	}
	var n Named
	return c.post(ctx, "/nodes/"+url.PathEscape(node)+"/"+order, struct{}{}, &n)
}

// ErrOldCoordinator says that a coordinator knows no nodes with keys of their own.
var ErrOldCoordinator = errors.New("this coordinator is of version 0.1.0, or older: upgrade it first, then the agents")

// Join gets a node's credentials: it implements bus.Joiner. Where the bus is at the coordinator's own address, that is filled in.
func (c *Client) Join(ctx context.Context, key bus.NodeKey, pet bus.Petition) (p bus.Pass, err error) {
	var ch Challenge
	if err = c.get(ctx, "/join", &ch); err != nil {
		var refused *Error
		if errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed) {
			refused.Detail = ErrOldCoordinator.Error()
		}
		return p, err
	}
	if pet, err = key.Petition(pet, ch.Challenge); err != nil {
		return p, err
	}
	b, err := json.Marshal(pet)
	if err != nil {
		return p, err
	}
	base, err := c.do(ctx, http.MethodPost, "/join", b, "application/json", &p)
	if err != nil {
		return p, err
	}
	if u, perr := url.Parse(base); perr == nil {
		host := u.Hostname()
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		p.Bus = strings.Replace(p.Bus, "://*:", "://"+host+":", 1)
	}
	return p, nil
}

// Names returns the names of nodes, and the keys that they are bound to.
func (c *Client) Names(ctx context.Context) (ns []gate.Name, err error) {
	err = c.get(ctx, "/names", &ns)
	return ns, err
}

// RevokeNode shuts a node's key out for good.
func (c *Client) RevokeNode(ctx context.Context, node string) error {
	var n Named
	return c.post(ctx, "/nodes/"+url.PathEscape(node)+"/revoke", struct{}{}, &n)
}

// ReleaseNode makes the name of a node free for another key.
func (c *Client) ReleaseNode(ctx context.Context, node string) error {
	var n Named
	return c.post(ctx, "/nodes/"+url.PathEscape(node)+"/release", struct{}{}, &n)
}

// Rotate gives all nodes other credentials.
func (c *Client) Rotate(ctx context.Context) error {
	var r Rotated
	return c.post(ctx, "/keys/rotate", struct{}{}, &r)
}

// Tokens returns the tokens, without what is secret.
func (c *Client) Tokens(ctx context.Context) (ts []TokenView, err error) {
	err = c.get(ctx, "/tokens", &ts)
	return ts, err
}

// MakeToken makes a token; its Text is told this once.
func (c *Client) MakeToken(ctx context.Context, t NewToken) (v TokenView, err error) {
	err = c.post(ctx, "/tokens", t, &v)
	return v, err
}

// RevokeToken makes a token worthless.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	var r Rotated
	return c.post(ctx, "/tokens/"+url.PathEscape(id)+"/revoke", struct{}{}, &r)
}

// Orders returns orders, the newest first.
func (c *Client) Orders(ctx context.Context, q ledger.OrderQuery) (os []ledger.Order, err error) {
	err = c.get(ctx, fmt.Sprintf("/orders?limit=%d&skip=%d&find=%s", q.Limit, q.Skip, url.QueryEscape(q.Find)), &os)
	return os, err
}

// Link returns a link that lets one browser in, as who asks.
func (c *Client) Link(ctx context.Context) (string, error) {
	var code Code
	base, err := c.do(ctx, http.MethodPost, "/session/code", []byte("{}"), "application/json", &code)
	if err == nil && base == "http://localhost" {
		return "", errors.New("a socket leads there, and no browser goes that way: name the coordinator with --server http://HOST:PORT")
	}
	return base + "/#code=" + code.Code, err
}

// Status returns what the coordinator says of itself.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	err = c.get(ctx, "/status", &s)
	return s, err
}

// LongestTasks returns the tasks of a job with most in their queues, at most so many.
func (c *Client) LongestTasks(ctx context.Context, id uint32, most int) (ts []ledger.Task, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d/tasks?sort=pending&limit=%d", id, most), &ts)
	return ts, err
}

// LeasesOf returns at most so many leases of a node, the oldest first.
func (c *Client) LeasesOf(ctx context.Context, node string, most int) (ls []coordinator.LeaseView, err error) {
	err = c.get(ctx, fmt.Sprintf("/leases?node=%s&limit=%d", url.QueryEscape(node), most), &ls)
	return ls, err
}

// Task returns a task, its leases, and the URLs that come next.
func (c *Client) Task(ctx context.Context, id uint32) (v coordinator.TaskView, err error) {
	err = c.get(ctx, fmt.Sprintf("/tasks/%d", id), &v)
	return v, err
}

// Decisions returns all that is remembered of what was decided about a task, the newest first.
func (c *Client) Decisions(ctx context.Context, task uint32) (ds []schedule.Decision, err error) {
	err = c.get(ctx, fmt.Sprintf("/decisions?limit=1000&task=%d", task), &ds)
	return ds, err
}

// FindTask returns the tasks of a site, of a job or (0) of all, those of later jobs first.
func (c *Client) FindTask(ctx context.Context, site string, job uint32) (found []ledger.Task, err error) {
	jobs, err := c.Jobs(ctx)
	for i := len(jobs) - 1; i >= 0 && err == nil; i-- {
		if job > 0 && jobs[i].ID != job {
			continue
		}
		var rows []ledger.Task
		err = c.get(ctx, fmt.Sprintf("/jobs/%d/tasks?limit=1000&find=%s", jobs[i].ID, url.QueryEscape(site)), &rows)
		for _, t := range rows {
			if t.Site == site {
				found = append(found, t)
			}
		}
	}
	return found, err
}
