package predict

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"argosy/internal/crawl"
)

// random gives a record facts of every kind, in an order that follows from the seed.
func random(rec *Record, seed uint64, facts int) {
	r := rand.New(rand.NewPCG(seed, 7))
	at := int64(1_000_000)
	for range facts {
		at += r.Int64N(60_000)
		n, s := rec.Node(fmt.Sprint("n", r.IntN(5))), rec.Site(fmt.Sprint("s", r.IntN(9)))
		switch r.IntN(6) {
		case 0:
			rec.Crawled(n, s, 1e6*r.Float64(), r.Float64(), r.IntN(2) == 0, at)
		case 1:
			rec.Stored(n, 1e6*r.Float64(), r.Float64())
		case 2:
			rec.Delay(n, s, 100*r.Float64(), at)
		case 3:
			rec.NodeDelay(n, rec.Node(fmt.Sprint("n", r.IntN(5))), 100*r.Float64())
		case 4:
			rec.Took(Kind{fmt.Sprint("p", r.IntN(2)), s, n}, r.Float64(), 3, [3]float64{r.Float64(), 1e6, 1e7}, at)
		default:
			all := float64(1 + r.IntN(9))
			rec.Reported(n, s, Report{Bits: 1e6 * r.Float64(), Seconds: r.Float64(), Good: min(all, float64(r.IntN(9))), All: all}, at)
		}
	}
}

// A record that was written down and read goes on as one that was not: the same facts give the same bytes.
func TestRecordSurvivesEncoding(t *testing.T) {
	for seed := range uint64(30) {
		whole := NewRecord()
		random(whole, seed, 200)
		b, err := whole.Encode()
		if err != nil {
			t.Fatal(err)
		}
		read, err := DecodeRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		random(whole, seed+1000, 200)
		random(read, seed+1000, 200)
		x, err := whole.Encode()
		if err != nil {
			t.Fatal(err)
		}
		y, err := read.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Fatalf("seed %d: the record that was read goes on otherwise", seed)
		}
	}
}

// What is written down is the same however nodes and sites were numbered: a fleet does that when it looks at them first, in any order and before anything was
// measured of them, a replay as it is told of them. What is predicted from it is the same but for the order in which sums are made.
func TestRecordsOfOtherNumbersAreEqual(t *testing.T) {
	told, looked := NewRecord(), NewRecord()
	for i := range 9 {
		looked.Site(fmt.Sprint("s", 8-i))
		looked.Node(fmt.Sprint("n", 8-i)) // half of them never measure anything
	}
	for seed := range uint64(5) {
		random(told, seed, 200)
		random(looked, seed, 200)
		a, err := told.Encode()
		if err != nil {
			t.Fatal(err)
		}
		b, err := looked.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Fatalf("after %d facts: %d and %d bytes, and they differ", 200*(seed+1), len(a), len(b))
		}
	}
	x, y := told.Book(Config{}), looked.Book(Config{})
	x.Fit()
	y.Fit()
	for i := range 5 {
		for j := range 9 {
			node, site := fmt.Sprint("n", i), fmt.Sprint("s", j)
			a, b := x.Rate(x.Node(node), x.Site(site), 1e9), y.Rate(y.Node(node), y.Site(site), 1e9)
			if math.Abs(a.Value/b.Value-1) > 1e-9 || math.Abs(a.Sigma-b.Sigma) > 1e-9 {
				t.Errorf("%s, %s: %+v and %+v", node, site, a, b)
			}
		}
	}
}

// A checkpoint is what was known also of a pair whose leases are forgotten, since it had become faster three times in a row, the last time by a probe
// that its node itself had limited.
func TestLimitedProbesAreWrittenDown(t *testing.T) {
	rec := NewRecord()
	n, s := rec.Node("a"), rec.Site("s")
	for i := range int64(8) {
		bits := 1e6
		if i >= 6 {
			bits = 1e9
		}
		rec.Reported(n, s, Report{Bits: bits, Seconds: 5, Good: 9, All: 9}, i*10_000)
	}
	rec.Crawled(n, s, 1e9, 5, true, 80_000)
	b, err := rec.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeRecord(b)
	if err != nil {
		t.Fatal(err)
	}
	if rec.site[s].pairs[0].rate.leases != 0 {
		t.Fatal("leases are not forgotten")
	}
	if again, err := read.Encode(); err != nil || !bytes.Equal(b, again) {
		t.Errorf("read and written again it differs: %v; %+v, was %+v", err, read.site[0].pairs[0].rate, rec.site[s].pairs[0].rate)
	}
}

// Delays to sites in a record of before they had one unit are measured again; all else of it stays.
func TestMixedDelaysAreForgotten(t *testing.T) {
	rec := NewRecord()
	n, m, s := rec.Node("a"), rec.Node("b"), rec.Site("s")
	rec.Delay(n, s, 20, 1)
	rec.Tried(n, s, true)
	rec.Tried(n, s, false)
	rec.NodeDelay(n, m, 7)
	rec.Reported(n, s, Report{Bits: 1e6, Seconds: 1, Good: 9, All: 9}, 2)
	b, err := rec.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var e encoded
	if err := crawl.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	for version, stays := range map[int]bool{recordVersion: true, mixedDelays: false} {
		e.Version = version
		b, err := crawl.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		read, err := DecodeRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		if read.Timed(n, s) != stays || read.WasTried(n, s, true) != stays {
			t.Errorf("version %d: a delay is known: %v, want %v", version, read.Timed(n, s), stays)
		}
		if _, all := read.Served(n, s, 2); !read.WasTried(n, s, false) || all != 9 || len(read.node[n].delay) != 1 {
			t.Errorf("version %d: what is no delay to a site is not as it was", version)
		}
	}
}

// Two books over one record predict as two books that were taught apart.
func TestBooksShareARecord(t *testing.T) {
	shared := NewRecord()
	one, two := shared.Book(Config{}), shared.Book(Config{DefaultRate: 1e6})
	alone := New(Config{DefaultRate: 1e6})
	for round := range uint64(5) {
		random(shared, round, 100)
		random(alone.Record, round, 100)
		one.Fit()
		two.Fit()
		alone.Fit()
		for n := range 5 {
			for s := range 9 {
				if a, b := two.Rate(n, s, 1e9), alone.Rate(n, s, 1e9); a != b {
					t.Fatalf("round %d: rate of %d, %d: %v, alone %v", round, n, s, a, b)
				}
				if a, b := two.Latency(n, s), alone.Latency(n, s); a != b {
					t.Fatalf("round %d: delay of %d, %d: %v, alone %v", round, n, s, a, b)
				}
			}
		}
	}
}

// Damage is refused, never believed, and never ends the process.
func FuzzDecodeRecord(f *testing.F) {
	rec := NewRecord()
	random(rec, 1, 50)
	b, err := rec.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := DecodeRecord(b)
		if err != nil {
			return
		}
		again, err := rec.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeRecord(again); err != nil {
			t.Fatalf("what was decoded cannot be encoded and decoded: %v", err)
		}
	})
}

// What a probe fetches is known from probes; before there are any, it is as many pages as it asks for.
func TestProbeBits(t *testing.T) {
	rec := NewRecord()
	n, s := rec.Node("n"), rec.Site("s")
	if x := rec.ProbeBits(s, 3); x != 3*defaultPage {
		t.Errorf("%g before anything is known", x)
	}
	rec.Reported(n, s, Report{Bits: 1e6, Seconds: 1, Good: 10, All: 10}, 1)
	if x := rec.ProbeBits(s, 3); x != 3e5 {
		t.Errorf("%g where pages have 1e5", x)
	}
	rec.Crawled(n, s, 4e4, 1, false, 2)
	rec.Crawled(n, rec.Site("t"), 6e4, 1, false, 2)
	if x := rec.ProbeBits(s, 3); x != 5e4 {
		t.Errorf("%g where probes had 4e4 and 6e4", x)
	}
}

// Reading changes nothing: however often and whenever figures are asked for, the record holds the same bytes, and what is predicted is the same.
func TestReadingChangesNothing(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 8))
		read, quiet := New(Config{}), New(Config{})
		for round := range uint64(60) {
			for _, b := range []*Book{read, quiet} {
				random(b.Record, seed*1000+round, 10)
				if round%3 == 0 {
					b.Fit()
				}
			}
			for range r.IntN(12) {
				n, s, at := r.IntN(read.Nodes()), r.IntN(len(read.site)), int64(1e9)
				switch r.IntN(6) {
				case 0:
					read.Rate(n, s, at)
				case 1:
					read.Latency(n, s)
				case 2:
					read.Spots([]int{n}, []int{s})
				case 3:
					read.Probes(s, at, []int32{int32(n)}, 1)
				case 4:
					read.Success(n, s, at)
				default:
					if _, err := read.Encode(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		x, err := read.Encode()
		if err != nil {
			t.Fatal(err)
		}
		y, err := quiet.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Fatalf("seed %d: reading changes the record", seed)
		}
		for n := range read.Nodes() {
			for s := range len(read.site) {
				if a, b := read.Rate(n, s, 1e9), quiet.Rate(n, s, 1e9); a != b {
					t.Fatalf("seed %d: rate of %d, %d: %v where it was read before, else %v", seed, n, s, a, b)
				}
				if a, b := read.Latency(n, s), quiet.Latency(n, s); a != b {
					t.Fatalf("seed %d: delay of %d, %d: %v where it was read before, else %v", seed, n, s, a, b)
				}
			}
		}
	}
}
