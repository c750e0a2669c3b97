package agent

import (
	"context"
	"net/http"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
)

// probe measures what the scheduler goes by, on the site's clock: the delay alone, if that is asked for, or BC by fetching the site's root page three times over a
// connection of its own, so that the first is an httpping, too; and BS of the node's store, once in the node's life. Of an answer that is an error
// only the delay is taken, and that the site refuses the node, if it says so.
func (l *lease) probe() {
	if !l.askRobots() || l.gaveUp != "" {
		return
	}
	u, err := crawl.Parse(l.l.Probe)
	if err != nil || !l.job.Identity.IgnoreRobots && !l.rules.Allowed(u.RequestURI()) {
		return
	}
	if l.l.Ping {
		l.ping(u)
		return
	}
	bc := crawl.Measure{Kind: crawl.MeasureBC, URL: l.l.Probe, Store: l.a.cfg.Info.Store}
	ping := crawl.Measure{Kind: crawl.MeasurePing, URL: l.l.Probe}
	conn := crawl.Measure{Kind: crawl.MeasureConn, URL: l.l.Probe}
	sess := l.a.fetcher.Open(l.job.Limits.Fetch, l.addrs) // that of the lease has asked for robots.txt
	defer sess.Close()
	for range crawl.ProbeTries {
		resp, err := l.exchangeOn(sess, u)
		if err != nil {
			resp.Release()
			l.probeFailed(0)
			break
		}
		if resp == nil {
			break
		}
		if resp.Status == 429 || resp.Status == 503 { // says how busy the site is, not how fast
			l.probeFailed(retryAfter(resp))
			resp.Release()
			break
		}
		t := resp.Timing
		switch {
		case resp.Status < 400:
			bc.Bits += 8 * (int64(len(resp.Head)) + resp.Wire)
			bc.Seconds += (t.Connect + t.TLS + t.Send + t.FirstByte + t.Body).Seconds()
		case unwelcome(resp.Status):
			bc.Refused++
		}
		if t.Connect > 0 {
			ping.MS = append(ping.MS, float64((t.Connect+t.TLS+t.Send+t.FirstByte)/time.Microsecond)/1000)
			conn.MS = append(conn.MS, float64((t.Connect+t.TLS)/time.Microsecond)/1000)
		}
		resp.Release()
	}
	select {
	case <-l.a.tried:
	case <-l.ctx.Done():
	}
	l.a.mu.Lock()
	bs := l.a.bs
	l.a.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if bc.Bits > 0 || bc.Refused > 0 {
		l.rep.measures = append(l.rep.measures, bc)
	}
	if len(ping.MS) > 0 {
		l.rep.measures = append(l.rep.measures, ping, conn)
	}
	if bs.Bits > 0 {
		bs.URL = l.l.Probe
		l.rep.measures = append(l.rep.measures, bs)
	}
}

// unwelcome reports whether an answer says that who asks is not wanted. Error pages are as small, and tell as little of the speed.
func unwelcome(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusUnavailableForLegalReasons
}

// ping measures the delay to a site: httppings, each on a connection of its own.
func (l *lease) ping(u crawl.URL) {
	ping := crawl.Measure{Kind: crawl.MeasurePing, URL: l.l.Probe}
	conn := crawl.Measure{Kind: crawl.MeasureConn, URL: l.l.Probe}
	for range crawl.PingTries {
		sess := l.a.fetcher.Open(l.job.Limits.Fetch, l.addrs)
		resp, err := l.exchangeOn(sess, u)
		sess.Close()
		if resp == nil && err == nil { // the lease has ended
			break
		}
		if err != nil {
			resp.Release()
			l.probeFailed(0)
			break
		}
		if resp.Status == 429 || resp.Status == 503 {
			l.probeFailed(retryAfter(resp))
			resp.Release()
			break
		}
		t := resp.Timing
		ping.MS = append(ping.MS, float64((t.Connect+t.TLS+t.Send+t.FirstByte)/time.Microsecond)/1000)
		conn.MS = append(conn.MS, float64((t.Connect+t.TLS)/time.Microsecond)/1000)
		resp.Release()
	}
	if len(ping.MS) > 0 {
		l.mu.Lock()
		l.rep.measures = append(l.rep.measures, ping, conn)
		l.mu.Unlock()
	}
}

// probeFailed leaves the site alone for as long as it asks, or for a back-off that doubles.
func (l *lease) probeFailed(asked time.Duration) {
	l.mu.Lock()
	l.fails++
	wait := max(asked, polite.Backoff(l.job.Limits.Backoff, l.fails))
	l.mu.Unlock()
	l.holdOff(wait, crawl.EndWait)
}

// storeBandwidth measures BS at the beginning of the node's life, and reports it.
func (a *Agent) storeBandwidth(ctx context.Context) {
	defer close(a.tried)
	if a.cfg.Store == nil {
		return
	}
	bits, seconds, err := a.cfg.Store(ctx)
	if err != nil || seconds <= 0 {
		a.cfg.Logger.Warn("BS was not measured", "error", err)
		return
	}
	m := crawl.Measure{Kind: crawl.MeasureBS, Store: a.cfg.Info.Store, Bits: bits, Seconds: seconds}
	a.mu.Lock()
	a.bs = m
	a.mu.Unlock()
	a.tell()
	a.measured(ctx, []crawl.Measure{m})
}

// measured reports what no lease asked for.
func (a *Agent) measured(ctx context.Context, ms []crawl.Measure) {
	b, err := crawl.Marshal(&crawl.Entry{
		Version: crawl.WireVersion, Kind: crawl.EntryMeasures, Node: a.cfg.Info.Node, Incarnation: a.cfg.Info.Incarnation, Measures: ms,
	})
	if err == nil {
		err = a.out.Report(ctx, a.cfg.Info.Node, b)
	}
	if err != nil && ctx.Err() == nil {
		a.cfg.Logger.Warn("measurements were not reported", "error", err)
	}
}

// pingNodes measures the delay to other nodes by their echoes. They are the fleet's own: nobody's politeness is asked.
func (a *Agent) pingNodes(ctx context.Context, echoes []crawl.Echo) {
	var ms []crawl.Measure
	for _, e := range echoes {
		u, err := crawl.Parse(e.URL)
		if e.Node == a.cfg.Info.Node || err != nil || !crawl.PlainEcho(e.URL) {
			continue
		}
		m := crawl.Measure{Kind: crawl.MeasurePing, URL: e.URL, Node: e.Node}
		conn := crawl.Measure{Kind: crawl.MeasureConn, URL: e.URL, Node: e.Node}
		for range crawl.PingTries {
			p, err := a.client.HTTPPing(ctx, u, nil, func(context.Context) error { return nil })
			if err != nil {
				a.cfg.Logger.Info("node not measured", "node", e.Node, "error", err)
				break
			}
			m.MS = append(m.MS, float64(p.Total().Microseconds())/1000)
			conn.MS = append(conn.MS, float64((p.Connect+p.TLS).Microseconds())/1000)
		}
		if len(m.MS) > 0 {
			ms = append(ms, m, conn)
		}
	}
	if len(ms) > 0 {
		a.measured(ctx, ms)
	}
}
