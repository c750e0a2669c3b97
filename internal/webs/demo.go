package webs

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Demo returns the web of argosy demo: a dozen small sites, each with a trouble of its own.
func Demo() *Web {
	w := New()
	w.Sites["library.demo"] = library()
	w.Sites["mirror.demo"] = library() // the same pages once more: duplicates
	w.Sites["news.demo"] = news()
	w.Sites["frames.demo"] = frames()
	w.Sites["sitemap.demo"] = sitemap()
	w.Sites["calendar.demo"] = calendar()
	w.Sites["private.demo"] = private()
	w.Sites["slow.demo"] = slow()
	w.Sites["broken.demo"] = broken()
	w.Sites["busy.demo"] = busy()
	w.Sites["world.demo"] = world()
	w.Sites["down.demo"] = down()
	return w
}

// DemoSites says what is special about each site, in the order in which the demo tells it.
var DemoSites = [][2]string{
	{"library.demo", "a tree of 121 pages with navigation on each"},
	{"mirror.demo", "the same tree again; a node that has the bytes already writes revisit records"},
	{"news.demo", "articles behind redirects, and a redirect that never ends"},
	{"frames.demo", "pages that only a frameset leads to"},
	{"sitemap.demo", "pages that only a compressed sitemap names"},
	{"calendar.demo", "a calendar without end: a crawler trap"},
	{"private.demo", "a robots.txt with rules and a Crawl-delay"},
	{"slow.demo", "a server that takes its time"},
	{"broken.demo", "wrong lengths, cut connections, bombs"},
	{"busy.demo", "503 with Retry-After, then well again"},
	{"world.demo", "Shift_JIS, Windows-1251, an IDN link"},
	{"down.demo", "robots.txt answers 500: nothing is fetched"},
}

func robotsTxt(mux *http.ServeMux, text string) {
	mux.HandleFunc("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(text)) })
}

func library() http.Handler {
	mux := http.NewServeMux()
	robotsTxt(mux, "User-agent: *\nAllow: /\n")
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		var shelf, book int
		nav := `<nav><a href="/">Home</a> <a href="/shelf/0/">First</a> <a href="/shelf/9/">Last</a></nav>`
		switch p := r.URL.Path; {
		case p == "/":
			var b strings.Builder
			for i := range 10 {
				fmt.Fprintf(&b, `<li><a href="shelf/%d/">Shelf %d</a></li>`, i, i)
			}
			page(rw, "The library", nav+"<ul>"+b.String()+"</ul>")
		case match(p, "/shelf/%d/book/%d.html", &shelf, &book) && shelf < 10 && book < 11:
			page(rw, fmt.Sprintf("Book %d on shelf %d", book, shelf), nav+`<p><a href="../">Back to the shelf</a></p>`+
				strings.Repeat(fmt.Sprintf("<p>Sentence about book %d and shelf %d.</p>\n", book, shelf), 20))
		case match(p, "/shelf/%d/", &shelf) && shelf < 10:
			var b strings.Builder
			for i := range 11 {
				fmt.Fprintf(&b, `<li><a href="book/%d.html#start">Book %d</a></li>`, i, i)
			}
			page(rw, fmt.Sprintf("Shelf %d", shelf), nav+"<ul>"+b.String()+"</ul>")
		default:
			http.NotFound(rw, r)
		}
	})
	return mux
}

// match reports whether a path is exactly what a format with numbers makes of them.
func match(path, format string, n ...*int) bool {
	args := make([]any, len(n))
	for i := range n {
		args[i] = n[i]
	}
	if _, err := fmt.Sscanf(path, format, args...); err != nil {
		return false
	}
	for i := range n {
		args[i] = *n[i]
		if *n[i] < 0 {
			return false
		}
	}
	return fmt.Sprintf(format, args...) == path
}

func news() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		for i := range 15 {
			fmt.Fprintf(&b, `<p><a href="/go?story=%d">Story %d</a></p>`, i, i)
		}
		page(rw, "News", b.String()+`<a href="/loop">loop</a> <a href="/chain?n=1">chain</a>`)
	})
	mux.HandleFunc("/go", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "/story/"+r.FormValue("story"), http.StatusFound)
	})
	mux.HandleFunc("/story/{n}", func(rw http.ResponseWriter, r *http.Request) {
		page(rw, "Story "+r.PathValue("n"), `<p>It happened.</p><a href="/">more</a>`)
	})
	mux.HandleFunc("/loop", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/chain", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "/chain?n="+r.FormValue("n")+"1", http.StatusFound)
	})
	return mux
}

func frames() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte(`<html><head><title>Frames</title></head><frameset cols="20%,80%"><frame src="menu.html"><frame src="main.html"></frameset></html>`))
	})
	mux.HandleFunc("/menu.html", func(rw http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		for i := range 8 {
			fmt.Fprintf(&b, `<a target=main href="chapter%d.html">Chapter %d</a> `, i, i)
		}
		page(rw, "Menu", b.String())
	})
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) { page(rw, r.URL.Path, "<p>Words.</p>") })
	return mux
}

func sitemap() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(rw http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(rw, "User-agent: *\nDisallow:\nSitemap: http://%s/index.xml\n", r.Host)
	})
	mux.HandleFunc("/index.xml", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/xml")
		_, _ = fmt.Fprintf(rw, `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://%s/pages.xml.gz</loc></sitemap></sitemapindex>`, r.Host)
	})
	mux.HandleFunc("/pages.xml.gz", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/gzip")
		z := gzip.NewWriter(rw)
		_, _ = z.Write([]byte(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`))
		for i := range 20 {
			_, _ = fmt.Fprintf(z, `<url><loc>http://%s/hidden/%d</loc><lastmod>2026-01-%02d</lastmod></url>`, r.Host, i, i+1)
		}
		_, _ = z.Write([]byte("</urlset>"))
		_ = z.Close()
	})
	mux.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		page(rw, "Nothing links anywhere", "<p>Or so it seems.</p>")
	})
	mux.HandleFunc("/hidden/{n}", func(rw http.ResponseWriter, r *http.Request) { page(rw, "Hidden "+r.PathValue("n"), "<p>Found.</p>") })
	return mux
}

func calendar() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		page(rw, "Calendar", `<a href="/month/2026/1">January</a>`)
	})
	mux.HandleFunc("/month/{y}/{m}", func(rw http.ResponseWriter, r *http.Request) {
		var y, m int
		if !match(r.URL.Path, "/month/%d/%d", &y, &m) {
			http.NotFound(rw, r)
			return
		}
		next := y*12 + m
		page(rw, "Calendar", fmt.Sprintf(`<p>Nothing is planned for this month.</p><a href="/month/%d/%d">next month</a>`, next/12, next%12+1))
	})
	return mux
}

func private() http.Handler {
	mux := http.NewServeMux()
	robotsTxt(mux, "User-agent: otherbot\nDisallow: /\n\nUser-agent: *\nDisallow: /members/\nAllow: /members/welcome$\nCrawl-delay: 0.2\n")
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/notes" {
			rw.Header().Set("X-Robots-Tag", "noindex, nofollow")
		}
		page(rw, "Private "+r.URL.Path, `<a href="/members/list">members</a> <a href="/members/welcome">welcome</a> <a href="/notes">notes</a> <a href="/about">about</a>`)
	})
	return mux
}

func slow() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(150 * time.Millisecond)
		page(rw, "Slow "+r.URL.Path, `<a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a>`)
	})
}

// hijack takes the connection and writes to it what HTTP would not.
func hijack(rw http.ResponseWriter, raw string) {
	h, ok := rw.(http.Hijacker)
	if !ok {
		return
	}
	c, _, err := h.Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(raw))
}

func broken() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		page(rw, "Broken", `<a href="/short">short</a> <a href="/cut">cut</a> <a href="/bomb">bomb</a> <a href="/500">500</a> <a href="/fine">fine</a> <a href="/garbage">garbage</a>`)
	})
	mux.HandleFunc("/short", func(rw http.ResponseWriter, _ *http.Request) {
		hijack(rw, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\nonly this")
	})
	mux.HandleFunc("/cut", func(rw http.ResponseWriter, _ *http.Request) { hijack(rw, "HTTP/1.1 200 OK\r\nContent-") })
	mux.HandleFunc("/garbage", func(rw http.ResponseWriter, _ *http.Request) { hijack(rw, "220 smtp.example ready\r\n") })
	mux.HandleFunc("/500", func(rw http.ResponseWriter, _ *http.Request) {
		http.Error(rw, "broken", http.StatusInternalServerError)
	})
	mux.HandleFunc("/bomb", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("Content-Encoding", "gzip")
		_, _ = rw.Write(bomb())
	})
	mux.HandleFunc("/fine", func(rw http.ResponseWriter, _ *http.Request) { page(rw, "Fine", "<p>One page is.</p>") })
	return mux
}

// bomb is 300 MiB of zeros in 300 KiB of gzip.
var bomb = sync.OnceValue(func() []byte { return zipped(300) })

// zipped is so many MiB of zeros as gzip has them (RFC 1952): the first one is compressed, and stands there again and again.
func zipped(mib int) []byte {
	zeros := make([]byte, 1<<20)
	var one bytes.Buffer
	z, _ := flate.NewWriter(&one, flate.DefaultCompression) // fails at levels that there are not
	_, _ = z.Write(zeros)
	_ = z.Flush() // what follows begins at a byte, and refers to nothing before
	out, sum := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, uint32(0)
	for range mib {
		out = append(out, one.Bytes()...)
		sum = crc32.Update(sum, crc32.IEEETable, zeros)
	}
	out = append(out, 3, 0) // an empty block, the last one
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(out, sum), uint32(mib)<<20)
}

func busy() http.Handler {
	var mu sync.Mutex
	left := 2
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now := left > 0 && r.URL.Path != "/robots.txt"
		if now {
			left--
		}
		mu.Unlock()
		if now {
			rw.Header().Set("Retry-After", "1")
			http.Error(rw, "busy", http.StatusServiceUnavailable)
			return
		}
		page(rw, "Busy "+r.URL.Path, `<a href="/one">one</a> <a href="/two">two</a>`)
	})
}

func world() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		page(rw, "World", `<a href="/ja">ja</a> <a href="/ru">ru</a> <a href="/größe">größe</a> <a href="http://bücher.demo/">elsewhere</a>`)
	})
	mux.HandleFunc("/ja", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=Shift_JIS")
		_, _ = rw.Write([]byte("<title>\x93\xfa\x96\x7b</title><p>\x93\xfa\x96\x7b</p>")) // 日本
	})
	mux.HandleFunc("/ru", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<meta charset=windows-1251><title>\xcc\xee\xf1\xea\xe2\xe0</title>")) // Москва
	})
	mux.HandleFunc("/größe", func(rw http.ResponseWriter, _ *http.Request) { page(rw, "Größe", "<p>Umlaute.</p>") })
	return mux
}

func down() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "down", http.StatusInternalServerError) })
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { page(rw, "Never seen", "") })
	return mux
}

// hostPort joins a site's name and a port.
func hostPort(host, port string) string { return net.JoinHostPort(host, port) }

// Seeds returns the root of every site of the demo, served on a port.
func Seeds(port string) (out []string) {
	for _, s := range DemoSites {
		out = append(out, "http://"+hostPort(s[0], port)+"/")
	}
	return out
}
