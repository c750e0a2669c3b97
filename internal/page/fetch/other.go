package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"argosy/internal/crawl"
)

// greeting fails where a new connection begins with what no answer of HTTP begins with: a banner of SSH, mail or a database, of which no
// more need be waited for.
func greeting(in interface {
	Peek(int) ([]byte, error)
	Buffered() int
}) (crawl.Kind, error) {
	begin, err := in.Peek(1)
	if err != nil || strings.ContainsRune("H\r\n", rune(begin[0])) {
		return "", nil // whoever reads on says so
	}
	begin, _ = in.Peek(in.Buffered())
	if len(begin) > 1 && begin[0] == alertRecord && begin[1] == tlsMajor {
		return crawl.KindWantsTLS, errors.New("it answers with a TLS alert")
	}
	line, _, _ := strings.Cut(string(begin[:min(len(begin), mostGreeting)]), "\r\n")
	if line = strings.TrimSpace(printable(line)); line == "" {
		return crawl.KindNotHTTP, errors.New("it begins with bytes that are no text")
	}
	return crawl.KindNotHTTP, fmt.Errorf("it begins with %q", line)
}

const (
	alertRecord  = 21 // RFC 8446, section 5.1
	tlsMajor     = 3
	mostGreeting = 60 // characters that are told
)

// tlsTime bounds the look at whether a server speaks TLS that has ended a connection without a word.
const tlsTime = 2 * time.Second

// wantsTLS reports whether a server that was asked by http shakes hands by TLS.
func (s *Session) wantsTLS(req *Request) bool {
	if req.URL.Scheme() != "http" || s.c.cfg.Proxy != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), tlsTime)
	defer cancel()
	var t Timing
	addrs := s.addrs
	if len(addrs) == 0 {
		var err error
		if addrs, err = s.c.Lookup(ctx, req.URL.Host()); err != nil {
			return false
		}
	}
	nc, _, err := s.c.connect(ctx, s.lim, req.URL, addrs, &t)
	if err != nil {
		return false
	}
	defer nc.Close()
	err = tls.Client(nc, &tls.Config{ServerName: req.URL.Host(), InsecureSkipVerify: true}).HandshakeContext(ctx) // nothing is asked over it
	return err == nil
}
