package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

var writers = map[int]*gzip.Writer{} // by level

// pack makes a gzip file. Levels are those of package flate; flush ends a block every so many bytes.
func pack(t testing.TB, data []byte, level, flush int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := writers[level]
	if w == nil {
		var err error
		if w, err = gzip.NewWriterLevel(&b, level); err != nil {
			t.Fatal(err)
		}
		writers[level] = w
	}
	w.Reset(&b)
	for len(data) > 0 {
		n := len(data)
		if flush > 0 {
			n = min(n, flush)
		}
		_, _ = w.Write(data[:n])
		data = data[n:]
		if flush > 0 {
			_ = w.Flush()
		}
	}
	_ = w.Close()
	return b.Bytes()
}

// text makes data of one of several kinds.
func text(rng *rand.Rand, n int) []byte {
	out := make([]byte, 0, n)
	kind := rng.IntN(6)
	for len(out) < n {
		switch kind {
		case 0: // noise
			out = append(out, byte(rng.Uint32()))
		case 1: // a run
			out = append(out, bytes.Repeat([]byte{byte(rng.Uint32())}, 1+rng.IntN(3000))...)
		case 2: // repeats at short distances
			out = append(out, bytes.Repeat([]byte("abcdefghijk")[:1+rng.IntN(11)], 1+rng.IntN(300))...)
		case 3: // codes of all lengths: frequencies fall by half
			c := 0
			for rng.IntN(2) == 0 && c < 255 {
				c++
			}
			out = append(out, byte(c))
		case 4: // of markup
			out = append(out, "<a href=\"/"+strings.Repeat("x", rng.IntN(9))+"\">"...)
			out = append(out, byte('a'+rng.IntN(26)), ' ')
		default: // repeats from far
			if len(out) < 100 || rng.IntN(3) == 0 {
				out = append(out, byte(rng.Uint32()), byte(rng.Uint32()))
				break
			}
			from := rng.IntN(len(out))
			out = append(out, out[from:min(len(out), from+1+rng.IntN(400))]...)
		}
	}
	return out[:n]
}

func TestEqualToFlate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var d Decoder
	var dst []byte
	for i := range 1000 {
		n := rng.IntN(2000)
		if i%10 == 0 {
			n = rng.IntN(100_000)
		}
		data := text(rng, n)
		level := []int{flate.HuffmanOnly, 0, 1, 6, 9}[rng.IntN(5)]
		flush := 0
		if rng.IntN(4) == 0 {
			flush = 1 + rng.IntN(n+1)
		}
		file := pack(t, data, level, flush)
		if Size(file) != int64(n) {
			t.Fatalf("case %d: size %d, want %d", i, Size(file), n)
		}
		got, ok := d.Gzip(dst[:0], file)
		if !ok || !bytes.Equal(got, data) {
			t.Fatalf("case %d: level %d, %d bytes: decoded %d, %v", i, level, n, len(got), ok)
		}
		dst = got
	}
}

// stream is what the standard library makes of a file: what it holds, if it is a whole gzip file of one member.
func stream(file []byte) ([]byte, bool) {
	b := bytes.NewReader(file)
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, false
	}
	z.Multistream(false)
	out, err := io.ReadAll(z)
	return out, err == nil && b.Len() == 0
}

// TestBroken changes files: what is decoded all the same is what the standard library decodes.
func TestBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var d Decoder
	decoded := 0
	for i := range 10_000 {
		file := pack(t, text(rng, rng.IntN(600)), []int{flate.HuffmanOnly, 0, 1, 6}[rng.IntN(4)], 0)
		for range 1 + rng.IntN(3) {
			switch at := rng.IntN(len(file)); rng.IntN(4) {
			case 0:
				file[at] ^= 1 << rng.IntN(8)
			case 1:
				file = file[:at+1]
			case 2:
				file = append(file, file[at:]...)
			default:
				file[at] = byte(rng.Uint32())
			}
		}
		if rng.IntN(2) == 0 { // so that not everything is found out by the checksum
			file = sealed(file)
		}
		if got, ok := d.Gzip(nil, file); ok {
			decoded++
			if want, whole := stream(file); !whole || !bytes.Equal(got, want) {
				t.Fatalf("case %d: %x is decoded to %q, want %q", i, file, got, want)
			}
		}
	}
	if decoded == 0 {
		t.Fatal("nothing could be decoded: the test tries nothing")
	}
}

// sealed gives a file the checksum and the size of what it holds, as far as that can be read.
func sealed(file []byte) []byte {
	if len(file) < 18 {
		return file
	}
	out, _ := io.ReadAll(flate.NewReader(bytes.NewReader(file[10:])))
	binary.LittleEndian.PutUint32(file[len(file)-8:], crc32.ChecksumIEEE(out))
	binary.LittleEndian.PutUint32(file[len(file)-4:], uint32(len(out)))
	return file
}

// TestHeader reads the fields that a header may have.
func TestHeader(t *testing.T) {
	data := []byte("what is in it")
	for _, h := range []gzip.Header{{}, {Name: "a name"}, {Comment: "of two words"}, {Extra: []byte("extra")}, {Name: "n", Comment: "c", Extra: []byte{0, 1}}} {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Header = h
		_, _ = w.Write(data)
		_ = w.Close()
		var d Decoder
		if got, ok := d.Gzip(nil, b.Bytes()); !ok || !bytes.Equal(got, data) {
			t.Errorf("%+v: %q, %v", h, got, ok)
		}
	}
}

// TestRefused holds that what is not one whole member is left to others, and that a size is not believed beyond reason.
func TestRefused(t *testing.T) {
	one := pack(t, []byte("one"), 6, 0)
	huge := bytes.Clone(one)
	binary.LittleEndian.PutUint32(huge[len(huge)-4:], 1<<31)
	for name, file := range map[string][]byte{
		"nothing": nil, "a header": one[:10], "cut": one[:len(one)-1], "two members": append(bytes.Clone(one), one...),
		"trailing": append(bytes.Clone(one), 0), "huge": huge,
	} {
		var d Decoder
		if got, ok := d.Gzip(nil, file); ok || cap(got) > 1<<20 {
			t.Errorf("%s: %v, %d bytes", name, ok, cap(got))
		}
	}
}

func FuzzGzip(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 20 {
		f.Add(pack(f, text(rng, 10*i), []int{0, 1, 6}[i%3], 0), i%2 == 0)
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, file []byte, seal bool) {
		if seal {
			file = sealed(bytes.Clone(file))
		}
		got, ok := d.Gzip(nil, file)
		if !ok {
			return
		}
		if want, whole := stream(file); !whole || !bytes.Equal(got, want) {
			t.Fatalf("decoded to %q, want %q", got, want)
		}
	})
}

func BenchmarkGzip(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	var data []byte
	for len(data) < 40_000 {
		data = append(data, text(rng, 300)...)
	}
	file := pack(b, data, 1, 0)
	var d Decoder
	var dst []byte
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		dst, _ = d.Gzip(dst[:0], file)
	}
}
