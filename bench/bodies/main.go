// Command bodies shows what large bodies cost: time against curl and wget, and the peak memory of a crawl.
//
//	go run ./bench/bodies -argosy ./argosy [-size 2100] [-sites 50] [-only noise|text|many|html|links|forms|…]
//
// It serves bodies on a loopback address: noise, which does not compress (to be had in at most twice the time of
// curl -o FILE); text, which does (at most half the time of wget --warc-file); -sites sites with 100 MB each, which
// are under way at once; an HTML page as large as is read for links; and pages that consist of links, forms, items of feeds
// and the like (see pages). Each crawl is to stay under 300 MiB, its ledger, index
// and archive are to agree (argosy verify), and every body is to be there with its digest. What is not installed is left
// out. Files are written below the working directory and removed; -size megabytes are on the disk twice at most.
package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const mib = 1 << 20

var (
	argosy = flag.String("argosy", "./argosy", "the binary")
	size   = flag.Int64("size", 2100, "megabytes of the large bodies")
	sites  = flag.Int("sites", 50, "sites with 100 MiB each, under way at once")
	only   = flag.String("only", "", "noise, text, many, html, or a page: "+strings.Join(slices.Sorted(maps.Keys(pages)), ", "))
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bodies:", err)
		os.Exit(1)
	}
}

// noise and text are what bodies are made of, again and again with a number at the beginning of each piece.
var noise, text = func() (noise, text []byte) {
	noise = make([]byte, mib)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	rng := rand.New(rand.NewPCG(1, 2))
	var words []string
	for range 5000 {
		w := make([]byte, 2+rng.IntN(9))
		for i := range w {
			w[i] = 'a' + byte(rng.IntN(26))
		}
		words = append(words, string(w))
	}
	for len(text) < mib {
		text = append(append(text, words[int(float64(len(words))*rng.Float64()*rng.Float64())]...), ' ')
	}
	return noise, text[:mib]
}()

// page is a document of one thing again and again.
type page struct{ mime, begin, each, end string }

// pages are what consists of links. In each %d stands for a number, of which there are numbers: what a crawl keeps of URLs is not what is
// measured.
var pages = map[string]page{
	"links":   {"text/html", "<!DOCTYPE html><title>Links</title>", "<a href=/a/%d>x</a>\n", ""},
	"escaped": {"text/html", "<!DOCTYPE html><title>Links</title>", "<a href='/a?b=1&amp;c=%d'>x</a>\n", ""},
	"forms":   {"text/html", "<!DOCTYPE html><title>Forms</title>", "<form action=/a/%d></form>\n", ""},
	"buttons": {"text/html", "<!DOCTYPE html><title>Forms</title>", "<form action=/a><input type=hidden name=n value=%d><button name=go>x</button></form>\n", ""},
	"frames":  {"text/html", "<!DOCTYPE html><title>Frames</title>", "<iframe srcdoc='<a href=/a/%d>x</a>'></iframe>\n", ""},
	"frame":   {"text/html", "<!DOCTYPE html><title>Frame</title><iframe srcdoc=\"", "<a href=/a/%d>x</a>\n", "\"></iframe>"},
	"svg":     {"text/html", "<!DOCTYPE html><title>Drawing</title><svg>", "<a href='/a/%d'/>\n", "</svg>"},
	"tree":    {"text/html", "<!DOCTYPE html><title>Drawing</title><p><table><svg><p></table>", "<a href='/a/%d'>x</a>\n", ""},
	"rss":     {"application/rss+xml", "<rss version='2.0'><channel>", "<item><link>/a/%d</link></item>\n", "</channel></rss>"},
	"atom":    {"application/atom+xml", "<feed xmlns='http://www.w3.org/2005/Atom'>", "<entry><link href='/a/%d'/></entry>\n", "</feed>"},
	"texts": {"application/rss+xml", "<rss version='2.0'><channel>", "<item><description>&lt;p&gt;What they say of it. &lt;a href='/a/%d'&gt;x&lt;/a&gt;</description></item>\n",
		"</channel></rss>"},
	"xhtml": {"application/xhtml+xml", "<html xmlns='http://www.w3.org/1999/xhtml'><body>", "<a href='/a/%d'>x</a>\n", "</body></html>"},
	"utf16": {"text/html; charset=utf-16le", "<!DOCTYPE html><title>Links</title>", "<a href=/a/%d>x</a>\n", ""},
}

const (
	numbers = 20_000
	pageMiB = 100
)

// write writes a page of so many megabytes, about.
func (p page) write(w io.Writer, megabytes int) error {
	var piece bytes.Buffer
	for n := range numbers {
		fmt.Fprintf(&piece, p.each, n)
	}
	encoded := func(b []byte) []byte { return b }
	if strings.HasSuffix(p.mime, "utf-16le") {
		encoded = func(b []byte) (wide []byte) {
			for _, c := range b {
				wide = append(wide, c, 0)
			}
			return wide
		}
	}
	each := encoded(piece.Bytes())
	if _, err := w.Write(encoded([]byte(p.begin))); err != nil {
		return err
	}
	for n := 0; n < megabytes*mib; n += len(each) {
		if _, err := w.Write(each); err != nil {
			return err
		}
	}
	_, err := w.Write(encoded([]byte(p.end)))
	return err
}

// write writes so many megabytes of a kind.
func write(w io.Writer, of []byte, megabytes int64, salt string) error {
	piece := bytes.Clone(of)
	for i := range megabytes {
		copy(piece, fmt.Sprintf("%s %010d ", salt, i))
		if of[0] == noise[0] { // pieces of their own, or a compressor with a large window would find them again
			for j := 32; j+8 < len(piece); j += 64 {
				piece[j] ^= byte(i)
			}
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func serve(l net.Listener) {
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, n := strings.Trim(r.URL.Path, "/"), *size
		if p, ok := pages[kind]; ok {
			w.Header().Set("Content-Type", p.mime)
			_ = p.write(w, pageMiB)
			return
		}
		if strings.HasPrefix(r.Host, "many") {
			kind, n = "noise", 100
		}
		of := noise
		switch kind {
		case "text":
			of = text
			w.Header().Set("Content-Type", "text/plain")
		case "html":
			of, n = text, 127
			w.Header().Set("Content-Type", "text/html")
		case "noise":
			w.Header().Set("Content-Type", "application/octet-stream")
		default:
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", strconv.FormatInt(n*mib, 10))
		_ = write(w, of, n, r.Host)
	}))
}

// used is what a process took.
type used struct {
	wall, cpu time.Duration
	rss       int64 // MiB at its peak
}

func (u used) String() string {
	return fmt.Sprintf("%6.1f s, CPU %5.1f s, peak %4d MiB", u.wall.Seconds(), u.cpu.Seconds(), u.rss)
}

func command(dir, name string, args ...string) (used, []byte, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	start := time.Now()
	if err := c.Run(); err != nil {
		return used{}, out.Bytes(), fmt.Errorf("%s: %w: %s", name, err, errs.String())
	}
	ru := c.ProcessState.SysUsage().(*syscall.Rusage)
	return used{time.Since(start), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), ru.Maxrss >> 10}, out.Bytes(), nil
}

// digests returns the digests that an archive must name.
func digests(of []byte, megabytes int64, hosts []string) map[string]bool {
	want := map[string]bool{}
	for _, h := range hosts {
		sum := sha1.New()
		_ = write(sum, of, megabytes, h)
		want["sha1:"+base32.StdEncoding.EncodeToString(sum.Sum(nil))] = true
	}
	return want
}

// crawl crawls seeds, checks what it has left and says what it took.
func crawl(dir string, want map[string]bool, seeds ...string) (used, error) {
	out := filepath.Join(dir, "out")
	args := append([]string{"crawl", "-o", out, "--allow-private", "--resolve", "*=127.0.0.1", "--delay", "0", "--ignore-robots", "--quiet", "--json", "--max-body", "3G", "--scope", "site", "--concurrency", "128", "--per-ip", "128"}, seeds...)
	u, _, err := command(dir, *argosy, args...)
	if err != nil {
		return u, err
	}
	defer os.RemoveAll(out)
	v, _, err := command(dir, *argosy, "verify", "-o", out)
	if err != nil {
		return u, err
	}
	index, err := os.ReadFile(filepath.Join(out, "index.cdxj"))
	if err != nil {
		return u, err
	}
	for line := range bytes.Lines(index) {
		var c struct{ Digest string }
		if i := bytes.IndexByte(line, '{'); i < 0 || json.Unmarshal(line[i:], &c) != nil {
			return u, fmt.Errorf("index: %s", line)
		}
		delete(want, c.Digest)
	}
	if len(want) > 0 {
		return u, fmt.Errorf("%d bodies are not in the index with their digests", len(want))
	}
	var bytesOf int64
	files, err := filepath.Glob(filepath.Join(out, "warc", "*"))
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && !st.IsDir() {
			bytesOf += st.Size()
		}
	}
	fmt.Printf("  argosy  %v; archives of %d MiB in %d files; verify: %.1f s\n", u, bytesOf/mib, len(files), v.wall.Seconds())
	if u.rss >= 300 {
		err = fmt.Errorf("%d MiB at the peak: more than 300", u.rss)
	}
	return u, err
}

// peer runs another program, if it is installed, and removes what it has written.
func peer(dir, name string, args ...string) (used, bool) {
	if _, err := exec.LookPath(name); err != nil {
		fmt.Printf("  %s is not installed\n", name)
		return used{}, false
	}
	sub, err := os.MkdirTemp(dir, "peer-*")
	if err != nil {
		return used{}, false
	}
	defer os.RemoveAll(sub)
	u, _, err := command(sub, name, args...)
	if err != nil {
		fmt.Printf("  %v\n", err)
		return used{}, false
	}
	fmt.Printf("  %-7s %v\n", name, u)
	return u, true
}

func run() error {
	path, err := filepath.Abs(*argosy)
	if err != nil {
		return err
	}
	*argosy = path
	dir, err := os.MkdirTemp(".", "bodies-*")
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go serve(l)
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	large := "http://large.test:" + port
	resolve := "large.test:" + port + ":127.0.0.1"
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"noise", func() error {
			fmt.Printf("%d MiB that do not compress\n", *size)
			peerTook, ok := peer(dir, "curl", "-s", "--resolve", resolve, "-o", "file", large+"/noise")
			u, err := crawl(dir, digests(noise, *size, []string{"large.test:" + port}), large+"/noise")
			ratio("curl", u, peerTook, ok)
			return err
		}},
		{"text", func() error {
			fmt.Printf("%d MiB of text\n", *size)
			peerTook, ok := peer(dir, "wget", "-q", "--warc-file=w", "-O", "/dev/null", "--header", "Host: large.test:"+port, "http://127.0.0.1:"+port+"/text")
			u, err := crawl(dir, digests(text, *size, []string{"large.test:" + port}), large+"/text")
			ratio("wget", u, peerTook, ok)
			return err
		}},
		{"many", func() error {
			fmt.Printf("%d sites with 100 MiB each, that do not compress\n", *sites)
			var seeds, hosts, urls []string
			for i := range *sites {
				h := fmt.Sprintf("many%d.test:%s", i, port)
				hosts, seeds = append(hosts, h), append(seeds, "http://"+h+"/noise")
				urls = append(urls, "--resolve", h+":127.0.0.1", "-o", fmt.Sprint("file", i), "http://"+h+"/noise")
			}
			peerTook, ok := peer(dir, "curl", append([]string{"-s", "--parallel", "--parallel-max", strconv.Itoa(*sites)}, urls...)...)
			u, err := crawl(dir, digests(noise, 100, hosts), seeds...)
			ratio("curl", u, peerTook, ok)
			return err
		}},
		{"html", func() error {
			fmt.Println("127 MiB of HTML")
			_, err := crawl(dir, digests(text, 127, []string{"large.test:" + port}), large+"/html")
			return err
		}},
		{"pages", func() error { return crawlPages(dir, large) }},
	} {
		if _, page := pages[*only]; *only != "" && *only != part.name && !(page && part.name == "pages") {
			continue
		}
		if err := part.do(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// crawlPages crawls one page of each kind, and nothing that it names.
func crawlPages(dir, large string) (err error) {
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if *only != "" && *only != name && *only != "pages" {
			continue
		}
		p := pages[name]
		fmt.Printf("%d MiB of %q\n", pageMiB, fmt.Sprintf(p.each, 1))
		sum := sha1.New()
		_ = p.write(sum, pageMiB)
		want := map[string]bool{"sha1:" + base32.StdEncoding.EncodeToString(sum.Sum(nil)): true}
		if _, one := crawl(dir, want, large+"/"+name, "--max-pages", "1"); one != nil { // the others are measured all the same
			err = errors.Join(err, fmt.Errorf("%s: %w", name, one))
		}
	}
	return err
}

func ratio(name string, u, peer used, ok bool) {
	if ok && u.wall > 0 {
		fmt.Printf("  %.2f of %s's time, %.2f of its CPU\n", u.wall.Seconds()/peer.wall.Seconds(), name, u.cpu.Seconds()/peer.cpu.Seconds())
	}
}
