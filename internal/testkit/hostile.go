package testkit

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"argosy/internal/crawl"
)

// Hostile is an entry of the catalogue of hostile servers: what a server writes to a connection after it has read a
// request, and what a crawler must make of it.
type Hostile struct {
	Name  string
	Write func(c net.Conn)
	Kind  crawl.Kind // of the error; empty: the response is complete
}

func raw(s string) func(net.Conn) { return func(c net.Conn) { _, _ = c.Write([]byte(s)) } }

// Limits under which the catalogue is to be met: small, so that every limit is reached soon.
func HostileLimits() crawl.FetchLimits {
	return crawl.FetchLimits{
		MaxHeader: 16 << 10, MaxBody: 256 << 10, MaxDecoded: 1 << 20, ConnectTimeout: time.Second, TLSTimeout: time.Second,
		HeaderTimeout: 300 * time.Millisecond, BodyTimeout: 600 * time.Millisecond, MinRate: 0,
	}
}

func bomb() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 50 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}

// trickle writes a head and then the same piece, a byte at a time, until the other side has had enough.
func trickle(head, piece string, every time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		for rest := head; ; rest = piece {
			for i := range rest {
				if _, err := c.Write([]byte{rest[i]}); err != nil {
					return
				}
				time.Sleep(every)
			}
		}
	}
}

// stall writes s, and then nothing until the other side has had enough.
func stall(s string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = c.Write([]byte(s))
		_, _ = io.Copy(io.Discard, c)
	}
}

// endless writes a head and then the same piece until the other side has had enough.
func endless(head, piece string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := c.Write([]byte(head))
		for err == nil {
			_, err = c.Write([]byte(piece))
		}
	}
}

// Catalogue lists the ways in which servers misbehave.
func Catalogue() []Hostile {
	html := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	return []Hostile{
		{"closes at once", func(net.Conn) {}, crawl.KindReset},
		{"silence", stall(""), crawl.KindTimeout},
		{"half a status line", raw("HTTP/1.1 20"), crawl.KindReset},
		{"two letters", raw("HT"), crawl.KindReset},
		{"two letters and silence", stall("HT"), crawl.KindTimeout},
		{"not HTTP", raw("220 mail.example ESMTP\r\n\r\n"), crawl.KindNotHTTP},
		{"binary", raw("\x16\x03\x01\x00\xa5\n\n"), crawl.KindNotHTTP},
		{"status of letters", raw("HTTP/1.1 abc OK\r\n\r\n"), crawl.KindProtocol},
		{"HTTP/2 preface", raw("HTTP/2 200\r\n\r\n"), crawl.KindProtocol},
		{"header without end", endless(html, "X-Filler: "+strings.Repeat("a", 1000)+"\r\n"), crawl.KindHeaderLarge},
		{"one endless header line", endless(html+"X: ", strings.Repeat("a", 1000)), crawl.KindHeaderLarge},
		{"thousands of headers", raw(html + strings.Repeat("a: b\r\n", 5000) + "\r\n"), crawl.KindHeaderLarge},
		{"slow header", trickle(html, "X: y\r\n", 20*time.Millisecond), crawl.KindTimeout},
		{"only informational", raw(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 99)), crawl.KindProtocol},
		{"informational, and again", raw(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 20) + html + "Content-Length: 2\r\n\r\nok"), ""},
		{"informational first", raw("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + html + "Content-Length: 2\r\n\r\nok"), ""},
		{"length said twice", raw(html + "Content-Length: 2, 2\r\n\r\nok"), ""},
		{"two lengths", raw(html + "Content-Length: 2, 3\r\n\r\nok"), crawl.KindProtocol},
		{"length too long", raw(html + "Content-Length: 100\r\n\r\nshort"), crawl.KindReset},
		{"length too short", raw(html + "Content-Length: 2\r\n\r\nok and more"), ""},
		{"two lengths", raw(html + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok"), crawl.KindProtocol},
		{"equal lengths", raw(html + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok"), ""},
		{"negative length", raw(html + "Content-Length: -1\r\n\r\nok"), ""},
		{"huge length", raw(html + "Content-Length: 99999999999999\r\n\r\nok"), crawl.KindBodyLarge},
		{"length that is no text", raw(html + "Content-Length: \xff\xfe\x00\r\n\r\nok"), ""},
		{"transfer coding that is no text", raw(html + "Transfer-Encoding: \xff\xfe" + strings.Repeat("x", 9000) + "\r\n\r\nok"), crawl.KindEncoding},
		{"version that is no text", raw("HTTP/1.\xff 200 OK\r\nContent-Length: 2\r\n\r\nok"), crawl.KindProtocol},
		{"version without end", raw("HTTP/1." + strings.Repeat("1", 9000) + " 200 OK\r\nContent-Length: 2\r\n\r\nok"), crawl.KindProtocol},
		{"fields that are no text", raw(html + "ETag: \xff\xfe\r\nLast-Modified: \xff\r\nLocation: \xfe\r\nSet-Cookie: a=\xff; Path=/\xff" + strings.Repeat("p", 9000) + "\r\nLink: <\xff>; rel=next\r\nContent-Length: 2\r\n\r\nok"), ""},
		{"type that is no text", raw("HTTP/1.1 200 OK\r\nContent-Type: \xff/\xfe; charset=\xff\r\nContent-Length: 2\r\n\r\nok"), ""},
		{"coding that is no text", raw(html + "Content-Encoding: \xff\r\nContent-Length: 2\r\n\r\nok"), crawl.KindEncoding},
		{"absurd length", raw(html + "Content-Length: 999999999999999999999999\r\n\r\nok"), ""},
		{"body without end", endless(html+"\r\n", strings.Repeat("x", 4096)), crawl.KindBodyLarge},
		{"chunks without end", endless(html+"Transfer-Encoding: chunked\r\n\r\n", "400\r\n"+strings.Repeat("x", 1024)+"\r\n"), crawl.KindBodyLarge},
		{"slow body", trickle(html+"Content-Length: 100000\r\n\r\n", "x", 3*time.Millisecond), crawl.KindTimeout},
		{"chunk size of letters", raw(html + "Transfer-Encoding: chunked\r\n\r\nxyz\r\nok\r\n0\r\n\r\n"), crawl.KindProtocol},
		{"negative chunk", raw(html + "Transfer-Encoding: chunked\r\n\r\n-5\r\nok\r\n0\r\n\r\n"), crawl.KindProtocol},
		{"chunk too long for its size", raw(html + "Transfer-Encoding: chunked\r\n\r\n1\r\nok\r\n0\r\n\r\n"), crawl.KindProtocol},
		{"last chunk missing", raw(html + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), crawl.KindReset},
		{"chunk extensions and trailers", raw(html + "Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nA: b\r\n\r\n"), ""},
		{"endless trailers", endless(html+"Transfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n"), crawl.KindProtocol},
		{"unknown transfer coding", raw(html + "Transfer-Encoding: rot13\r\n\r\nbx"), crawl.KindEncoding},
		{"chunked twice", raw(html + "Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), ""},
		{"coding after chunked", raw(html + "Transfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n"), crawl.KindProtocol},
		{"many transfer codings", raw(html + "Transfer-Encoding: " + strings.Repeat("gzip, ", 1000) + "chunked\r\n\r\n0\r\n\r\n"), crawl.KindProtocol},
		{"torn transfer coding", raw(html + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n\x1f\x8b\r\n0\r\n\r\n"), crawl.KindEncoding},
		{"gzip bomb", raw(bomb()), crawl.KindBomb},
		{"not gzip", raw(html + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok"), crawl.KindEncoding},
		{"torn gzip", raw(html + "Content-Encoding: gzip\r\nContent-Length: 12\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4b\x4c"), crawl.KindEncoding},
		{"unknown content coding", raw(html + "Content-Encoding: x-own\r\nContent-Length: 2\r\n\r\nok"), crawl.KindEncoding},
		{"many content codings", raw(html + "Content-Encoding: gzip, gzip, gzip, gzip, gzip\r\nContent-Length: 2\r\n\r\nok"), crawl.KindEncoding},
		{"no content type", raw("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<title>x</title>"), ""},
		{"wrong charset", raw("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=klingon\r\nContent-Length: 4\r\n\r\n\xff\xfe\xfd\xfc"), ""},
		{"bare line feeds", raw("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2\n\nok"), ""},
		{"folded header", raw("HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=utf-8\r\nContent-Length: 2\r\n\r\nok"), ""},
		{"no reason phrase", raw("HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"), ""},
		{"HTTP/1.0 until the end", raw("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nok"), ""},
		{"no body in 204", raw("HTTP/1.1 204 No Content\r\n\r\n"), ""},
		{"redirect to itself", raw("HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n"), ""},
		{"redirect to a bad URL", raw("HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n"), ""},
		{"NUL in a header", raw("HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"), ""},
	}
}

// ServeHostile answers every request for /N on a loopback address with entry N of the catalogue, and everything else
// with a page that links to them all. It returns the port.
func ServeHostile() (port string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	list := Catalogue()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // stopped
			}
			go serveOne(c, list)
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, func() { _ = l.Close() }, nil
}

func serveOne(c net.Conn, list []Hostile) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	for err == nil {
		var l string
		if l, err = r.ReadString('\n'); l == "\r\n" {
			break
		}
	}
	var n int
	if _, err := fmt.Sscanf(line, "GET /%d ", &n); err == nil && n < len(list) {
		list[n].Write(c)
		return
	}
	if strings.HasPrefix(line, "GET /robots.txt ") {
		raw("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")(c)
		return
	}
	var b strings.Builder
	for i := range list {
		fmt.Fprintf(&b, "<a href=/%d>%s</a>\n", i, list[i].Name)
	}
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}
