package testkit

import "argosy/internal/crawl"

// Whole is an entry of the holder of a lease in which every field says something: it has fetched one URL of the lease, which names another one.
func Whole(l crawl.Lease, url, other string) crawl.Entry {
	u, err := crawl.Parse(url)
	if err != nil {
		panic(err)
	}
	k := u.Key()
	ping := crawl.Measure{Kind: crawl.MeasurePing, URL: other, Store: "file:///x", Bits: 1, Seconds: 1, MS: []float64{3, 4}, Node: "m", Limited: true}
	speed := crawl.Measure{Kind: crawl.MeasureBC, URL: other, Bits: 1e6, Seconds: 0.5, Refused: 1}
	return crawl.Entry{
		Version: crawl.WireVersion, Kind: crawl.EntryParts, Epoch: l.Epoch, Node: l.Node, Incarnation: l.Incarnation,
		Parts: []crawl.Part{{
			Lease: l.ID, Attempt: l.Attempt, Epoch: l.Epoch, Secret: l.Secret, No: 1, Reason: crawl.EndDone, Bytes: 9, Waiting: true, Want: 3, Final: true,
			Got: 1, Starved: true, WorkedUS: 5, Limited: true, CPU: 0.5, Memory: 1 << 20,
			Found: []crawl.Found{{
				Parent: k, Known: []crawl.Key{k}, Omitted: map[crawl.Kind]int64{crawl.ReasonTrapLength: 2},
				Links: []crawl.Link{{URL: url + "/x", Anchor: "a", LastMod: 1, Resource: true, Around: "b"}}, Score: 0.5,
			}},
			Outcomes: []crawl.Outcome{{
				Key: k, URL: url, State: crawl.Fetched, Reason: crawl.KindEncoding, Detail: "d", Status: 200, Mime: "text/html", Charset: "utf-8", Title: "t",
				Bytes: 9, Digest: "sha1:A", Record: crawl.Location{File: "f.warc.gz", Offset: 1, Length: 2}, Text: crawl.Location{File: "f.warc.gz", Offset: 3, Length: 4},
				HTML: true, Redirect: other, IP: "192.0.2.1", ETag: "e", LastMod: "m", Lang: "en", Simhash: 1, Date: 1, Timing: [6]int32{1, 2, 3, 4, 5, 6}, Opened: 7, Beside: true,
				Depth: 1, Retryable: 1, Links: 1, Proto: "HTTP/1.1", Truncated: "length", Shows: 7, Sample: []uint32{1}, Figures: []uint32{2}, Names: []uint32{5}, Numbers: []uint32{6}, Back: true, Walled: []crawl.Key{k}, Score: 0.5, Expected: 0.25, Said: 9,
			}},
			Site: &crawl.SiteChange{
				SinceStartMS: 1, LatencyUS: 1, BackoffMS: 1, Fails: 1, Heard: crawl.HeardPage, Addrs: []string{"192.0.2.1"}, AddrTTLMS: 1, CookiesSet: true, ResolveFailed: crawl.KindDNS, Detail: "d",
				Cookies: []crawl.Cookie{{Name: "n", Value: "v", Path: "/", Expires: 1}}, Gates: &crawl.Gates{Keys: []crawl.Key{k}, Walls: 1, Texts: []crawl.Text{{Sum: 1, Sample: []uint32{2}}}, Vain: 1, Shut: 1, Bare: []crawl.Bare{{Key: k, Sum: 1}}},
				Robots: &crawl.RobotsChange{State: crawl.RobotsRules, Rules: []byte{1}, TTLMS: 1, Why: crawl.ReasonRobots, DelayMS: 1, Bare: true, For: "other", By: "https"},
			},
			Measures: []crawl.Measure{ping, speed},
		}},
		Measures: []crawl.Measure{ping, {Kind: crawl.MeasureBS, Store: "file:///x", Bits: 1e6, Seconds: 0.5}},
	}
}
