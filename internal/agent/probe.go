package agent

import (
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fetch"
	"argosy/internal/polite"
)

// probe measures what the scheduler goes by, on the site's clock: BC by fetching the site's root page three times, the
// first of them also an httpping on a connection of its own; and BS of the node's store, once in the node's life.
func (l *lease) probe() {
	if !l.askRobots() || l.gaveUp != "" {
		return
	}
	u, err := crawl.Parse(l.l.Probe)
	if err != nil || !l.job.Identity.IgnoreRobots && !l.rules.Allowed(u.RequestURI()) {
		return
	}
	bc := crawl.Measure{Kind: crawl.MeasureBC, URL: l.l.Probe, Store: crawl.StoreWARC}
	ping := crawl.Measure{Kind: crawl.MeasurePing, URL: l.l.Probe}
	for range fetch.ProbeTries {
		resp, sc, err := l.exchange(u)
		if err != nil {
			l.probeFailed(0)
			break
		}
		if resp == nil {
			break
		}
		if resp.Status == 429 || resp.Status == 503 { // says how busy the site is, not how fast
			l.probeFailed(retryAfter(resp))
			putScratch(sc)
			break
		}
		t := resp.Timing
		bc.Bits += 8 * int64(len(resp.Head)+len(resp.Raw))
		bc.Seconds += (t.Connect + t.TLS + t.Send + t.FirstByte + t.Body).Seconds()
		if t.Connect > 0 {
			ping.MS = append(ping.MS, float64((t.Connect+t.TLS+t.Send+t.FirstByte)/time.Microsecond)/1000)
		}
		putScratch(sc)
	}
	bs := l.a.storeBandwidth()
	l.mu.Lock()
	defer l.mu.Unlock()
	if bc.Bits > 0 {
		l.rep.measures = append(l.rep.measures, bc, ping)
	}
	if bs.Bits > 0 {
		bs.URL = l.l.Probe
		l.rep.measures = append(l.rep.measures, bs)
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

// storeBandwidth measures BS once.
func (a *Agent) storeBandwidth() crawl.Measure {
	a.storeOnce.Do(func() {
		if a.cfg.StoreDir == "" {
			return
		}
		ts, err := fetch.ProbeStoreDir(a.cfg.StoreDir, fetch.ProbeTries)
		if err != nil {
			a.cfg.Logger.Warn("probe of the store", "err", err)
			return
		}
		a.bs = crawl.Measure{Kind: crawl.MeasureBS, Store: crawl.StoreWARC}
		for _, t := range ts {
			a.bs.Bits += t.Bits
			a.bs.Seconds += t.Seconds
		}
	})
	return a.bs
}
