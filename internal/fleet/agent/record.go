package agent

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
)

// minPayload is the size of a body, in bytes, from which equal ones become revisit records.
const minPayload = 64

// record is a record of a page that is to be archived.
type record struct {
	archive.Record
	place *crawl.Location // of the page's outcome, where it is noted where the record lies; nil: nobody needs to know
	spool *archive.Spool  // its block, if that is too long for memory
}

// record makes the records of an exchange: the response or what stands for it, the request, and what has been made of
// the page.
func (l *lease) record(p *page) {
	resp, o, uri := p.resp, p.outcome, p.url.String()
	id := archive.NewID()
	rec := archive.Record{
		Type: "response", ID: id, Date: resp.Date, URI: uri, ContentType: archive.TypeResponse, IP: o.IP,
		Payload: o.Digest, Blocks: [][]byte{resp.Head, resp.Raw}, Compressed: resp.Coded() || packed(o.Mime), Truncated: resp.Truncated,
	}
	spool, _ := resp.Spool.(*archive.Spool)
	if resp.Status == http.StatusOK && resp.Size >= minPayload && resp.Truncated == "" {
		if was, ok := l.a.seen.first(o.Digest, capture{id, uri, o.Date, o.State == crawl.Beside}, p.target.Whole); ok {
			rec.Type, rec.Blocks = "revisit", rec.Blocks[:1]
			rec.RefersTo = archive.Ref{ID: was.id, URI: was.url, Date: time.UnixMilli(was.date)}
			o.Revisit, spool = true, nil
		}
	}
	req := archive.Record{
		Type: "request", ID: archive.NewID(), Date: resp.Date, URI: uri, ContentType: archive.TypeRequest, IP: o.IP,
		ConcurrentTo: id, Blocks: [][]byte{l.redact(resp.Request)},
	}
	for _, r := range []*archive.Record{&rec, &req} {
		r.Protocol, r.Cipher = protocols(resp)
	}
	for i := range p.records { // what has been made of the page
		p.records[i].RefersTo.ID = id
	}
	p.records = append([]record{{rec, &o.Record, spool}, {Record: req}}, p.records...)
	warcinfo := l.a.warc.Warcinfo(spool)
	for i := range p.records {
		p.records[i].Warcinfo = warcinfo
	}
}

// protocols returns by which protocols a response came, in the words of the WARC community's draft of WARC-Protocol, and the
// cipher suite.
func protocols(resp *fetch.Response) (names []string, cipher string) {
	switch resp.Proto {
	case "HTTP/2.0":
		names = append(names, "h2")
	default:
		names = append(names, strings.ToLower(resp.Proto))
	}
	if resp.TLS == 0 {
		return names, ""
	}
	switch resp.TLS {
	case tls.VersionTLS10:
		names = append(names, "tls/1.0")
	case tls.VersionTLS11:
		names = append(names, "tls/1.1")
	case tls.VersionTLS12:
		names = append(names, "tls/1.2")
	case tls.VersionTLS13:
		names = append(names, "tls/1.3")
	}
	return names, tls.CipherSuiteName(resp.Cipher)
}

// keep writes a page's records, of which those that are not spooled come encoded, one after the other into the archive,
// and notes where they lie.
func (a *Agent) keep(p *page) (err error) {
	var locs []crawl.Location
	if first := &p.records[0]; first.spool != nil {
		locs, err = a.warc.AppendSpooled(&first.Record, first.spool, p.encoded.records...)
	} else {
		locs, err = a.warc.Append(p.encoded.records...)
	}
	if err != nil {
		return err
	}
	for i := range p.records {
		if at := p.records[i].place; at != nil {
			*at = locs[i]
		}
	}
	return nil
}

// redact hides the values of secret fields in a request that is archived.
func (l *lease) redact(req []byte) []byte {
	login := l.a.cfg.Logins[l.l.Site] != ""
	if l.a.cfg.KeepSecrets || !login && (!l.site.SeedSite || len(l.a.cfg.Headers) == 0 && l.a.cfg.Cookies == "") {
		return req
	}
	secret := map[string]bool{"authorization": login}
	if l.a.cfg.Cookies != "" {
		secret["cookie"] = true
	}
	for _, f := range l.a.cfg.Headers {
		secret[strings.ToLower(f.Name)] = true
	}
	var out []byte
	for line := range bytes.SplitAfterSeq(req, []byte("\r\n")) {
		name, _, ok := bytes.Cut(line, []byte(":"))
		if ok && secret[strings.ToLower(string(name))] {
			line = append(append([]byte(nil), name...), ": [redacted]\r\n"...)
		}
		out = append(out, line...)
	}
	return out
}

// packed reports whether bytes of a media type do not get smaller by compression.
func packed(mime string) bool {
	kind, sub, _ := strings.Cut(mime, "/")
	switch kind {
	case "image":
		return sub != "svg+xml" && sub != "bmp" && sub != "x-icon"
	case "video", "audio":
		return true
	case "font":
		return strings.HasPrefix(sub, "woff")
	}
	switch mime {
	case "application/pdf", "application/zip", "application/gzip", "application/x-gzip", "application/x-bzip2",
		"application/x-xz", "application/zstd":
		return true
	}
	return false
}
