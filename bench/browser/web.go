package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// site is what the walk has crawled: sites with pages about milk and tea and a picture each, and a search engine that knows them. The
// engine asks whoever comes whether they are a robot, until it is healed.
type site struct {
	hosts  []string // that link to each other
	named  string   // that only the engine names
	engine string
	healed atomic.Bool
	mute   string      // answers nobody
	speaks atomic.Bool // nevertheless
}

const (
	walkSites = 3
	walkPages = 300
	walkSlow  = 30 * time.Millisecond // an answer takes, so that the walk has something to see
)

// picture is of one colour, which nothing else of the pages has.
var picture = color.RGBA{R: 255, B: 255, A: 255}

// serveSites serves everything on ports of loopback.
func serveSites() (*site, error) {
	s := &site{}
	var pix bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, 200, 200))
	for i := range img.Pix {
		img.Pix[i] = []byte{picture.R, picture.G, picture.B, picture.A}[i%4]
	}
	if err := png.Encode(&pix, img); err != nil {
		return nil, err
	}
	pages := http.NewServeMux()
	pages.HandleFunc("GET /robots.txt", http.NotFound)
	pages.HandleFunc("GET /pic.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(pix.Bytes())
	})
	pages.HandleFunc("GET /", s.page)
	for range walkSites {
		host, err := serveOn(pages)
		if err != nil {
			return nil, err
		}
		s.hosts = append(s.hosts, host)
	}
	var err error
	if s.named, err = serveOn(pages); err != nil {
		return nil, err
	}
	mute := http.NewServeMux()
	mute.HandleFunc("GET /robots.txt", http.NotFound)
	mute.HandleFunc("GET /", s.silence)
	if s.mute, err = serveOn(mute); err != nil {
		return nil, err
	}
	search := http.NewServeMux()
	search.HandleFunc("GET /robots.txt", http.NotFound)
	search.HandleFunc("GET /s", s.search)
	s.engine, err = serveOn(search)
	return s, err
}

func serveOn(h http.Handler) (host string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = http.Serve(l, h) }() // it ends with the process
	return l.Addr().String(), nil
}

// about is what a page is about.
func about(n int) string {
	return []string{"milk, fresh milk and cheese from cows", "tea, green tea leaves and cups", "trains and the times when they leave"}[n%3]
}

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	time.Sleep(walkSlow)
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/p/"))
	if r.URL.Path != "/" && (err != nil || n >= walkPages) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><title>Page %d</title><h1>Page %d</h1><img src="/pic.png" alt="a picture"><p>This page is about %s.`, n, n, about(n))
	for _, to := range []int{2*n + 1, 2*n + 2, n + 7} {
		if to < walkPages {
			fmt.Fprintf(w, ` <a href="/p/%d">about %s%s</a>`, to, about(to), strings.Repeat("withoutend", to%2*200)) // a title or a link may be of any length
		}
	}
	for _, h := range s.hosts {
		fmt.Fprintf(w, ` <a href="http://%s/">a neighbour</a>`, h)
	}
}

// silence is the site that answers nobody until it speaks.
func (s *site) silence(w http.ResponseWriter, r *http.Request) {
	if !s.speaks.Load() {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, `<title>It speaks</title>`)
}

func (s *site) search(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	if !s.healed.Load() {
		fmt.Fprint(w, `<div id="captcha">are you a robot?</div>`)
		return
	}
	fmt.Fprint(w, `<p id="n">6 results</p>`)
	for i := range 6 {
		fmt.Fprintf(w, `<div class="r"><a href="http://%s/p/%d">%s</a></div>`, s.named, 3*i, about(0))
	}
}
