package agent

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"argosy/internal/crawl"
)

// Marks that may be made take one byte in 16 of what is read, once the first pages are, of long pages as often as of short ones; marks that must be
// made are made.
func TestMarksKeepToTheirBudget(t *testing.T) {
	for _, begin := range []int64{markBudget, 0} {
		m := NewMarks()
		if begin == 0 {
			m.Spend()
		}
		const pages = 50_000
		sizes := [...]int64{4000, 36_000, 4 << 20} // the last one is not read whole
		var read, taken int64
		var marked [len(sizes)]int
		for i := range len(sizes) * pages {
			size := min(sizes[i%len(sizes)], maxMarked)
			if read += size; m.may(crawl.MarkMay, sizes[i%len(sizes)]) {
				marked[i%len(sizes)]++
				taken += size
			}
			if i%10 == 0 && (m.may(crawl.MarkNone, 0) || !m.may(crawl.MarkMust, 0) || !m.may(crawl.MarkTwice, 0)) {
				t.Fatal("a page was marked that nobody asked for, or one under suspicion was not")
			}
		}
		if want := read/markShare + begin; taken < want-want/100 || taken > want+want/100 {
			t.Errorf("%d bytes of %d were marked, want %d", taken, read, want)
		}
		for _, n := range marked {
			if n < marked[0]/2 || n > 2*marked[0] {
				t.Errorf("of as many pages of each size %d were marked", marked)
			}
		}
	}
}

// What is not a page and leads on by its header shows what its bytes are: the same where they are the same, or where their numbers
// differ only. An image that leads nowhere is not read.
func TestMarksOfWhatIsNoPage(t *testing.T) {
	const on = "Link: </next>; rel=next\r\n"
	for _, c := range []struct {
		head, one, two string
		same, alike    bool
	}{
		{"204 No Content\r\n" + on, "", "", true, true},
		{"404 Not Found\r\nContent-Type: text/html\r\n" + on, "", "", true, true},
		{"200 OK\r\nContent-Type: text/plain\r\nRefresh: 0;url=/next\r\n", "page 1 of all", "page 2 of all", false, true},
		{"200 OK\r\nContent-Type: application/json\r\n" + on, "{}", "{}", true, true},
		{"200 OK\r\nContent-Type: application/json\r\n" + on, `{"n":1}`, `{"n":22}`, false, true},
		{"200 OK\r\nContent-Type: image/gif\r\n" + on, "GIF89a 1", "GIF89a 22", false, true},
		{"200 OK\r\nContent-Type: image/gif\r\n" + on, "GIF89a abc", "GIF89a cde", false, false},
		{"200 OK\r\nContent-Type: image/gif\r\n", "GIF89a 1", "GIF89a 22", false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			of := func(body string) *answer {
				h := "HTTP/1.1 " + c.head
				if len(body) > 0 {
					h += fmt.Sprintf("Content-Length: %d\r\n", len(body))
				} else if c.head[0] != '2' {
					h += "Content-Length: 0\r\n"
				}
				return &answer{bytes: with(h+"\r\n", []byte(body))}
			}
			web := answers{"/1": of(c.one), "/2": of(c.two)}
			b, _ := runTargets(t, crawl.Target{Mark: crawl.MarkMay}, []string{"/1", "/2"}, func(*crawl.Job) {}, web.serve)
			one, first := b.of("/1", "/next")
			two, second := b.of("/2", "/next")
			leads := first || second
			if one.Shows == 0 || (one.Shows == two.Shows) != c.same || slices.Equal(one.Sample, two.Sample) != c.alike || leads != (one.Links == 1) {
				t.Errorf("%q with %q and %q: shows %x %x and %x %x, links %d", c.head, c.one, c.two, one.Shows, one.Sample, two.Shows, two.Sample, one.Links)
			}
			if read := len(c.one) > 0 && leads; read != (len(one.Sample) > 0) {
				t.Errorf("%q: a sample of %d", c.head, len(one.Sample))
			}
		})
	}
}

// What a page shows that is asked for twice is what both answers show.
func TestPagesThatAreDrawnAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		serve := func(c net.Conn) {
			defer c.Close()
			for br := bufio.NewReader(c); ; {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				body := `<p>The same words for everybody who comes here.</p><img src="/frame.png">`
				if asked[r.URL.Path]++; r.URL.Path == "/drawn" {
					body += fmt.Sprintf(`<p>%s of a sentence</p><img src="/files/%d.png">`, []string{"One", "Another"}[asked["/drawn"]%2], asked["/drawn"])
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			}
		}
		b, _ := runTargets(t, crawl.Target{Mark: crawl.MarkTwice}, []string{"/drawn", "/same"}, func(j *crawl.Job) { j.Limits.SiteConnections = 1 }, serve)
		drawn, _ := b.of("/drawn", "/")
		same, _ := b.of("/same", "/")
		if asked["/drawn"] != 2 || asked["/same"] != 2 || !drawn.Twice || !same.Twice || !drawn.Changed || same.Changed || len(b.outcomes) != 4 {
			t.Fatalf("asked were %v, reported %d outcomes, twice %v and %v", asked, len(b.outcomes), drawn.Twice, same.Twice)
		}
		if len(same.Pictures) != 1 || !slices.Equal(drawn.Pictures, same.Pictures) || len(drawn.Sample) >= len(same.Sample)+3 || drawn.Shows == 0 {
			t.Errorf("drawn: %d pictures, %d phrases; the same: %d, %d", len(drawn.Pictures), len(drawn.Sample), len(same.Pictures), len(same.Sample))
		}
		for _, o := range b.outcomes {
			if o.State == crawl.Fetched && o.Revisit {
				t.Errorf("%s counts as a duplicate of its own other answer", o.URL)
			}
		}
	})
}

// What both answers say in the same place is kept where it is; nothing is, if they do not say as many numbers.
func TestNumbersOfBothAnswers(t *testing.T) {
	for _, c := range []struct{ one, two, want []uint32 }{
		{[]uint32{873, 103, 15}, []uint32{873, 541, 33}, []uint32{873, crawl.Drawn, crawl.Drawn}},
		{[]uint32{873}, []uint32{873}, []uint32{873}},
		{[]uint32{873, 1}, []uint32{873}, nil},
	} {
		o, second := crawl.Outcome{Shows: 3, Numbers: c.one}, crawl.Outcome{Shows: 5, Numbers: c.two}
		Both(&o, &second)
		if !slices.Equal(o.Numbers, c.want) {
			t.Errorf("%v and %v: %v, want %v", c.one, c.two, o.Numbers, c.want)
		}
	}
}
