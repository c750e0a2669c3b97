package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// How a site treats connections.
const (
	cut = iota
	reset
	left
	goAway
	refused
	cutH2
)

// site is a server that answers so many requests on a connection.
type site struct {
	name        string
	mode        int
	pages, most int
	port        int
	conns       atomic.Int64

	mu   sync.Mutex
	read int             // requests
	lost int             // of these, those that were not processed
	had  map[string]bool // pages that were answered
}

func (s *site) overTLS() bool { return s.mode >= goAway }

// url is the site's first page, which names all others.
func (s *site) url() string {
	scheme := "http"
	if s.overTLS() {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s.test:%d/0", scheme, strings.ReplaceAll(s.name, " ", "-"), s.port)
}

// serve serves the sites, as long as the program runs. What their connections are encrypted with is written to keys.
func serve(pages, most int, keys io.Writer) (sites []*site, err error) {
	made := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: made.TLS.Certificates, NextProtos: []string{"h2"}, KeyLogWriter: keys}
	made.Close()
	for mode, name := range []string{"cut", "reset", "left", "goaway", "refused", "cut h2"} {
		s := &site{name: name, mode: mode, pages: pages, most: most, had: map[string]bool{}}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		s.port = l.Addr().(*net.TCPAddr).Port
		go func() { // it ends when the program does
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.conns.Add(1)
				if s.overTLS() {
					go s.serve2(tls.Server(c, config))
				} else {
					go s.serve1(c.(*net.TCPConn))
				}
			}
		}()
		sites = append(sites, s)
	}
	return sites, nil
}

// takes counts a request and returns what it is answered; ok is false for one that is not processed, n being how many came before it.
func (s *site) takes(path string, n int) (status int, body string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read++
	if n >= s.most {
		s.lost++
		return 0, "", false
	}
	var page int
	if _, err := fmt.Sscanf(path, "/%d", &page); err != nil || page >= s.pages {
		return http.StatusNotFound, "not here", true
	}
	s.had[path] = true
	var b strings.Builder
	fmt.Fprintf(&b, "<title>page %d of %s</title>", page, s.name)
	if page == 0 {
		for i := 1; i < s.pages; i++ {
			fmt.Fprintf(&b, "<a href=/%d>%d</a> ", i, i)
		}
	}
	return http.StatusOK, b.String(), true
}

// serve1 speaks HTTP/1.1.
func (s *site) serve1(c *net.TCPConn) {
	defer c.Close()
	br := bufio.NewReader(c)
	for n := 0; ; n++ {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		status, body, ok := s.takes(req.URL.Path, n)
		if !ok {
			if s.mode == reset {
				_ = c.SetLinger(0)
			}
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
		if s.mode == left && n+1 == s.most {
			return
		}
	}
}

// serve2 speaks as much of HTTP/2 as it takes.
func (s *site) serve2(c net.Conn) {
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	fr := http2.NewFramer(c, c)
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = fr.WriteSettings()
	for n := 0; ; {
		frame, err := fr.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = fr.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = fr.WritePing(true, frame.Data)
			}
		case *http2.MetaHeadersFrame:
			if !s.stream(fr, frame, n) {
				return
			}
			n++
		}
	}
}

// stream answers a request of HTTP/2, n being how many came before it, and reports whether the connection goes on.
func (s *site) stream(fr *http2.Framer, req *http2.MetaHeadersFrame, n int) bool {
	status, body, ok := s.takes(req.PseudoValue("path"), n)
	if !ok {
		if s.mode == refused {
			_ = fr.WriteRSTStream(req.StreamID, http2.ErrCodeRefusedStream)
		}
		if s.mode == goAway { // the last one that was processed
			_ = fr.WriteGoAway(req.StreamID-2, http2.ErrCodeNo, nil)
		}
		return s.mode != cutH2
	}
	var head bytes.Buffer
	enc := hpack.NewEncoder(&head)
	_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: fmt.Sprint(status)})
	_ = enc.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
	_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: req.StreamID, BlockFragment: head.Bytes(), EndHeaders: true})
	_ = fr.WriteData(req.StreamID, true, []byte(body))
	return true
}
