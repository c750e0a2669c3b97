package crawl

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Kind classifies why something failed or was refused. Kinds cross the wire and stand in the ledger: append only.
type Kind string

// Kinds of failed fetches.
const (
	KindDNS         Kind = "dns"           // the name did not resolve
	KindDenied      Kind = "denied"        // the address is private, loopback or link-local and not allowed
	KindConnect     Kind = "connect"       // no connection
	KindTLS         Kind = "tls"           // no TLS session
	KindTimeout     Kind = "timeout"       // a phase took too long
	KindSlow        Kind = "slow"          // fewer bytes a second than the minimum rate
	KindReset       Kind = "reset"         // the connection ended before the response did
	KindProtocol    Kind = "protocol"      // not a valid HTTP response
	KindHeaderLarge Kind = "header-large"  // header over the limit
	KindBodyLarge   Kind = "body-large"    // body over the limit, as transferred
	KindBomb        Kind = "decoded-large" // body over the limit once decompressed
	KindEncoding    Kind = "encoding"      // content coding unknown or broken
	KindProxy       Kind = "proxy"         // the proxy refused
	KindArchive     Kind = "archive"       // the record could not be written
	KindInternal    Kind = "internal"
	KindStatus      Kind = "status" // 429 or 503: asked to come back later

	KindNoHost      Kind = "no-such-host"        // the name does not exist, or has no address
	KindRefused     Kind = "refused"             // nothing listens on the port
	KindCertificate Kind = "certificate"         // not trusted
	KindExpired     Kind = "certificate-expired" // not valid now
	KindOtherName   Kind = "certificate-name"    // another name's
	KindNoTLS       Kind = "no-tls"              // it does not speak TLS, or none that we do
	KindNotHTTP     Kind = "not-http"            // who answers there speaks another protocol
	KindWantsTLS    Kind = "wants-tls"           // it was asked by http, and speaks TLS
	KindWantsCert   Kind = "wants-certificate"   // it wants a certificate of whoever asks
	KindLong        Kind = "long-page"           // of a page that was fetched: too long to be read to its end
	KindScripts     Kind = "scripts"             // of a page that was fetched: without its scripts it has no text and no links
	KindWall        Kind = "wall"                // of a page that was fetched: it shows what stands in the place of others of its site
	KindForm        Kind = "form"                // of a page that was fetched: all that it leads to stands behind a form
	KindSearch      Kind = "search"              // a search engine's answer is none: a block, or nothing that can be read
)

// Reasons of refusals (state excluded).
const (
	ReasonScope      Kind = "scope"        // outside the job's scope
	ReasonInclude    Kind = "include"      // matches no --include
	ReasonExclude    Kind = "exclude"      // matches an --exclude
	ReasonDepth      Kind = "depth"        // deeper than --max-depth
	ReasonRobots     Kind = "robots"       // disallowed by robots.txt
	ReasonRobotsDown Kind = "robots-down"  // robots.txt answered 5xx, or not at all, each time it was asked
	ReasonRedirects  Kind = "redirects"    // a chain of redirects over the limit
	ReasonTrapLength Kind = "trap-length"  // URL longer than --max-url-length
	ReasonTrapYield  Kind = "trap-yield"   // its template went on bringing nothing new
	ReasonTrapHosts  Kind = "trap-hosts"   // hosts like its own went on bringing nothing new
	ReasonTopic      Kind = "topic"        // too many pages in a row on the way to it are off the topic
	ReasonSold       Kind = "sold"         // its crawler has sold it to another
	ReasonPromise    Kind = "promise"      // its links promise too little to a crawler that skips such (understanding)
	ReasonNoFollow   Kind = "nofollow"     // named only by pages that ask not to follow their links
	ReasonTrapMap    Kind = "trap-sitemap" // sitemaps nested too deep or too many, entries beyond a sitemap's limit
	ReasonSiteBudget Kind = "site-budget"  // over --site-pages
	ReasonDropped    Kind = "dropped"      // dropped by a person
	ReasonNoMore     Kind = "no-more"      // a result page behind one that named nothing new
	ReasonNoHTTPS    Kind = "no-https"     // of a seed without a scheme: https was tried first, and http is now
)

// words say what a kind means to whom a crawl is shown.
var words = map[Kind]string{
	KindDNS:          "the name servers do not answer",
	KindDenied:       "its address is private, local or reserved",
	KindConnect:      "no connection",
	KindTLS:          "no TLS session could be agreed on",
	KindTimeout:      "it does not answer in time",
	KindSlow:         "it is too slow",
	KindReset:        "the connection ended before the answer did",
	KindProtocol:     "what it answers is not valid HTTP",
	KindHeaderLarge:  "the header of an answer is too large",
	KindBodyLarge:    "a body is larger than --max-body",
	KindBomb:         "a body is too large once decompressed",
	KindEncoding:     "a content coding cannot be undone",
	KindProxy:        "the proxy refuses",
	KindArchive:      "a record could not be written",
	KindInternal:     "something went wrong on our side",
	KindStatus:       "it asks us to come back later",
	KindNoHost:       "the name does not exist",
	KindRefused:      "nothing listens there",
	KindCertificate:  "its certificate is not trusted",
	KindExpired:      "its certificate is not valid now",
	KindOtherName:    "its certificate is another name's",
	KindNoTLS:        "it does not speak TLS there, or none that we do",
	KindNotHTTP:      "it speaks another protocol there, not HTTP",
	KindWantsTLS:     "it speaks TLS there, and was asked without",
	KindWantsCert:    "it wants a certificate of whoever asks, and none can be given",
	KindLong:         "of a long page only the first 128 MiB are read for links",
	KindScripts:      "needs JavaScript: no text and no links without scripts",
	KindWall:         "something else stands in its place: a question for consent, a log-in, or a check of its visitors",
	KindForm:         "what is behind it stands behind a form: a log-in, or a search",
	KindSearch:       "its search gives no answer that can be read, or refuses us",
	ReasonScope:      "outside the scope",
	ReasonInclude:    "matches no --include",
	ReasonExclude:    "matches an --exclude",
	ReasonDepth:      "deeper than --max-depth",
	ReasonRobots:     "its robots.txt forbids it to us",
	ReasonRobotsDown: "its robots.txt cannot be had, which forbids everything (RFC 9309)",
	ReasonRedirects:  "it redirects without end",
	ReasonTrapLength: "its URLs are longer than --max-url-length",
	ReasonTrapYield:  "URLs like it went on bringing nothing new",
	ReasonTrapHosts:  "hosts like its own went on bringing nothing new",
	ReasonTopic:      "too many pages on the way to it are off the topic",
	ReasonSold:       "its crawler has sold it to another",
	ReasonPromise:    "its links promise too little",
	ReasonNoFollow:   "its pages ask not to follow their links (nofollow)",
	ReasonTrapMap:    "sitemaps without end",
	ReasonSiteBudget: "--site-pages is used up",
	ReasonDropped:    "given up by a person",
	ReasonNoMore:     "behind a result page that named nothing new",
	ReasonNoHTTPS:    "given without a scheme, and not to be had by https: http is asked instead",
}

// Words says in English what a kind means; empty for one that is not known.
func (k Kind) Words() string { return words[k] }

// Kinds returns all kinds of failures and reasons of refusals, in order.
func Kinds() []Kind { return slices.Sorted(maps.Keys(words)) }

// Error is a failed operation on a site. Its kind decides what happens next.
type Error struct {
	Op   string // verb: "resolve", "dial", "read header"
	Host string // may be empty
	Kind Kind
	Err  error // may be nil
}

func (e *Error) Error() string {
	s := e.Op
	if e.Host != "" {
		s += " " + e.Host
	}
	s += ": " + string(e.Kind)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Brief leaves out of an Error's text what is said beside it anyway: the operations, the hosts, the kinds and the connection.
func Brief(text string) string {
	for {
		op, rest, _ := strings.Cut(text, ": ")
		kind, after, _ := strings.Cut(rest, ": ")
		if Kind(kind).Words() == "" || strings.Contains(op, ":") { // an address is worth telling
			break
		}
		text = after // which may be empty
	}
	if at := strings.Index(text, "->"); at > 0 && (strings.HasPrefix(text, "read ") || strings.HasPrefix(text, "write ")) { // whose ends are ours and the site's
		_, text, _ = strings.Cut(text[at:], ": ")
		text = strings.TrimPrefix(strings.TrimPrefix(text, "read: "), "write: ")
	}
	switch text {
	case "EOF", "unexpected EOF", "i/o timeout":
		return "" // the kind says it
	}
	text = strings.TrimPrefix(text, "tls: ")
	text = strings.TrimPrefix(text, "failed to verify certificate: ")
	return strings.TrimPrefix(text, "x509: ")
}

// KindIn returns the kind that an Error's text names; empty: it names none.
func KindIn(text string) Kind {
	for part := range strings.SplitSeq(text, ": ") {
		if Kind(part).Words() != "" {
			return Kind(part)
		}
	}
	return ""
}

// Certificate reports whether a site shows a certificate that is not to be believed.
func (k Kind) Certificate() bool {
	return k == KindCertificate || k == KindExpired || k == KindOtherName
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first Error in err's chain, KindInternal if there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}

// Unreachable reports whether a kind says that the site could not be asked at all, whatever the URL.
func (k Kind) Unreachable() bool {
	switch k {
	case KindDNS, KindDenied, KindConnect, KindTLS, KindProxy:
		return true
	}
	return k.Settled()
}

// Settled reports whether a site that has never answered is not worth waiting for: what is wrong does not pass by itself
// within minutes.
func (k Kind) Settled() bool {
	switch k {
	case KindNoHost, KindRefused, KindCertificate, KindExpired, KindOtherName, KindNoTLS, KindNotHTTP, KindWantsTLS, KindWantsCert:
		return true
	}
	return false
}

// Of is what a kind means of a site that has answered by HTTP before, or not: of one that has, what is no HTTP is a bad page.
func (k Kind) Of(answered bool) Kind {
	switch {
	case answered && k == KindNotHTTP:
		return KindProtocol
	case answered && k == KindWantsTLS:
		return KindReset
	}
	return k
}

// NoHTTPS reports whether a site that cannot be asked by https, for such a reason, may be one that speaks http alone.
func (k Kind) NoHTTPS() bool {
	return k != KindNoHost && k != KindDNS && (k.Unreachable() || k == KindTimeout)
}

// Transient reports whether asking again later can help.
func (k Kind) Transient() bool {
	switch k {
	case KindDNS, KindConnect, KindTimeout, KindSlow, KindReset, KindProtocol, KindProxy, KindArchive, KindInternal, KindTLS:
		return true
	}
	return k.Settled()
}

// Verdict is a decision and its reason. Accepted is the zero Verdict; a refusal is not an error.
type Verdict struct {
	Reason Kind   // empty: accepted
	Detail string // for people
}

// OK reports whether v accepts.
func (v Verdict) OK() bool { return v.Reason == "" }
