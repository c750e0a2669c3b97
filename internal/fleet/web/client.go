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
	"net/url"
	"strings"
	"time"

	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
)

// Client asks a coordinator. Of several it asks the one that leads.
type Client struct {
	urls  []string
	token string
	http  *http.Client
}

// NewClient returns a client of the coordinators at URLs, separated by commas. TLS may be nil.
func NewClient(urls, token string, c *tls.Config) (*Client, error) {
	cl := &Client{token: token, http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: c, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, ResponseHeaderTimeout: 30 * time.Second,
	}}}
	for s := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return nil, fmt.Errorf("%q: want http://HOST:PORT or https://HOST:PORT, several with commas", s)
		}
		cl.urls = append(cl.urls, u.Scheme+"://"+u.Host)
	}
	return cl, nil
}

// Error is a refusal by a coordinator.
type Error struct {
	Status int
	Detail string
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

// do asks the coordinators in turn until one answers that is not merely standing by.
func (c *Client) do(ctx context.Context, method, path string, body []byte, kind string, to any) (base string, err error) {
	var last error
	for _, base := range c.urls {
		err := c.ask(ctx, base, method, path, body, kind, to)
		var refused *Error
		switch {
		case err == nil:
			return base, nil
		case errors.As(err, &refused) && !refused.passes():
			return base, err
		}
		last = err
	}
	var refused *Error
	if errors.As(last, &refused) {
		return "", last
	}
	return "", fmt.Errorf("%w: %w", ErrAway, last)
}

func (c *Client) ask(ctx context.Context, base, method, path string, body []byte, kind string, to any) error {
	req, err := http.NewRequestWithContext(ctx, method, base+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		hint := ""
		if errors.As(err, &x509.UnknownAuthorityError{}) {
			hint = "; allowed is what the system trusts, or --ca FILE"
		}
		return &Error{wrongLine, fmt.Sprintf("%s is not trusted: %v%s", base, untrusted.Err, hint)}
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 256<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusBadRequest && bytes.Contains(b, []byte("HTTP request to an HTTPS server")) { // as net/http says it
		return &Error{wrongLine, base + " speaks TLS: ask https://" + strings.TrimPrefix(base, "http://")}
	}
	if resp.StatusCode >= 300 {
		var p struct {
			Detail string
			Errors []struct{ Message, Location string }
		}
		if json.Unmarshal(b, &p) != nil || p.Detail == "" {
			p.Detail = base + " answered " + resp.Status
		}
		for _, e := range p.Errors {
			p.Detail += "; " + e.Location + ": " + e.Message
		}
		return &Error{resp.StatusCode, p.Detail}
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

// Submit submits a job file.
func (c *Client) Submit(ctx context.Context, file []byte) (uint32, error) {
	var s Submitted
	_, err := c.do(ctx, http.MethodPost, "/jobs", file, "application/yaml", &s)
	return s.Job, err
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

// Tasks returns the tasks of a job.
func (c *Client) Tasks(ctx context.Context, id uint32, state string) (ts []ledger.Task, err error) {
	err = c.get(ctx, fmt.Sprintf("/jobs/%d/tasks?state=%s", id, url.QueryEscape(state)), &ts)
	return ts, err
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
	var j Joining
	return c.post(ctx, "/nodes/"+url.PathEscape(node)+"/"+order, struct{}{}, &j)
}

// Join gets a node's credentials. Where the bus is at the coordinator's own address, that is filled in.
func (c *Client) Join(ctx context.Context, node string) (p bus.Pass, err error) {
	b, err := json.Marshal(Joining{node})
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
