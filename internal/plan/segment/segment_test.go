package segment

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-ego/gse"
	"github.com/google/go-cmp/cmp"

	"argosy/internal/testkit/seeds"
)

// The products of the paper, as it cuts them.
func TestProducts(t *testing.T) {
	s := New("早餐奶") // a kind of product that is in no dictionary
	for text, want := range map[string]string{
		"光明高钙牛奶": "光明 高钙 牛奶", "蒙牛早餐奶": "蒙牛 早餐奶", "雀巢中老年奶粉": "雀巢 中老年 奶粉",
		"whole milk, 1 litre": "whole milk 1 litre", "": "", "MP3播放器": "mp3 播放器", "\xff牛奶\xff": "牛奶",
	} {
		got, err := s.Words(text)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A text is cut as gse cuts it with all its dictionaries, word for word: 10,000 sentences made of frequent and of rare words, of
// characters at random, of digits and of Latin letters; and those of the files that ARGOSY_CORPUS names, a line a sentence.
func TestLikeGse(t *testing.T) {
	if !seeds.Many() {
		t.Skip("to read gse's dictionary takes longer than all other tests here: what it says is in TestAsBefore; make nightly-seeds asks it")
	}
	peer, err := gse.NewEmbed("zh")
	if err != nil {
		t.Fatal(err)
	}
	extra := []string{"早餐奶", "VIP客户", "牛奶"}
	for _, w := range extra {
		if err := peer.AddToken(w, 1e6, "n"); err != nil {
			t.Fatal(err)
		}
	}
	s := New(append(extra, "早餐奶", "")...)
	if _, err := s.Words("牛"); err != nil {
		t.Fatal(err)
	}
	text := generated(s.sets[0], 10_000)
	for _, dir := range filepath.SplitList(os.Getenv("ARGOSY_CORPUS")) {
		b, err := os.ReadFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, strings.Split(string(b), "\n")...)
	}
	runs, same := 0, 0
	for _, sentence := range text {
		for _, run := range strings.Fields(sentence) {
			got, err := s.Words(run)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "") != strings.ToLower(run) || !han(run) {
				continue // gse is asked about what is cut by the dictionary alone
			}
			runs++
			if want := peer.Cut(run, true); slices.Equal(got, want) {
				same++
			} else {
				t.Logf("%s: %q, gse %q", run, got, want)
			}
		}
	}
	t.Logf("%d of %d cut the same", same, runs)
	if runs < 9_900 || float64(same) < 0.99*float64(runs) {
		t.Errorf("%d of %d cut the same", same, runs)
	}
}

var write = flag.Bool("write", false, "write down how texts are cut, after TestLikeGse has passed with ARGOSY_NIGHTLY=1")

// A few hundred of the texts of TestLikeGse are cut as they were when gse was asked.
func TestAsBefore(t *testing.T) {
	const file = "testdata/cut.txt"
	s := New("早餐奶", "VIP客户", "牛奶")
	if _, err := s.Words("牛"); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, sentence := range generated(s.sets[0], 400) {
		words, err := s.Words(sentence)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, strings.Join(words, "/"))
	}
	if *write {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("another cut:\n%s", d)
	}
}

// generated makes n sentences of 2 to 12 pieces.
func generated(w *words, n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	var frequent []int
	for i, c := range w.count {
		if c > 1000 {
			frequent = append(frequent, i)
		}
	}
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		b.WriteString("的")
		for range 2 + r.IntN(11) {
			switch k := r.IntN(20); {
			case k < 13:
				b.Write(w.word(frequent[r.IntN(len(frequent))], 0))
			case k < 16:
				b.Write(w.word(r.IntN(len(w.ends)), 0))
			case k < 18:
				b.WriteRune(rune(0x4e00 + r.IntN(0x9fa5-0x4e00)))
			case k < 19:
				b.WriteString([]string{"MP3", "2013", "5", "3A", "é"}[r.IntN(5)])
			default:
				rest := w.word(frequent[r.IntN(len(frequent))], 0) // a word without its beginning
				_, size := utf8.DecodeRune(rest)
				b.Write(rest[size:])
			}
		}
		out[i] = b.String()
	}
	return out
}

// Words that a user adds are found whole, also where they are longer or shorter than those of the dictionary, or begin as they do.
func TestOwnWords(t *testing.T) {
	for _, own := range []string{"光明高", "高钙牛奶", "钙牛", "光明高钙牛奶", "鿕鿕鿕"} {
		got, err := New(own).Words("我喝" + own + "了")
		if err != nil || !slices.Contains(got, own) {
			t.Errorf("%s: %q, %v", own, got, err)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	for _, b := range []string{"", "\x05ab", "\x00\x00\x00", "\x01\x00\x01\x01\x01a\x00"} {
		if w, err := unpack([]byte(b)); err == nil {
			t.Errorf("%q: %+v", b, w)
		}
	}
}

// BenchmarkFirstCut is what the dictionary costs a process that needs it.
func BenchmarkFirstCut(b *testing.B) {
	for b.Loop() {
		if _, err := New().Words("牛奶"); err != nil {
			b.Fatal(err)
		}
	}
}
