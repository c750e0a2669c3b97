package parse

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// scripts are characters that are written without spaces, and encodings of them.
var scripts = []struct {
	name  string
	chars []rune
	in    []encoding.Encoding
}{
	{"Chinese", []rune("的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论"), []encoding.Encoding{unicode.UTF8, simplifiedchinese.GBK, simplifiedchinese.GB18030}},
	{"Japanese", []rune("あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんアイウエオカキクケコサシスセソ日本人大年一国中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨"), []encoding.Encoding{unicode.UTF8, japanese.ShiftJIS, japanese.EUCJP}},
	{"Thai", []rune("กขคงจฉชซญฐฑณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮะาเแโใไ"), []encoding.Encoding{unicode.UTF8}},
}

// sentence returns n random characters.
func sentence(rng *rand.Rand, of []rune, n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(of[rng.IntN(len(of))])
	}
	return b.String()
}

// missing is how many marks of one sample are not in another.
func missing(of, in []uint32) (n int) {
	for _, m := range of {
		if !slices.Contains(in, m) {
			n++
		}
	}
	return n
}

// A text without spaces is told from another one by its phrases, and from one that differs in a character by a few of them; one in which
// only numbers, or what was asked for, differ has the same. So it is in every encoding.
func TestTextsWithoutSpaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, s := range scripts {
		for _, enc := range s.in {
			raw := func(text string) []byte {
				b, err := enc.NewEncoder().Bytes([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			mark := func(text, asked string) Phrases {
				return Mark(raw("<html><title>T</title><body><p>menu<p>"+text+"<p>end"), "http://a.test/s?q="+url.QueryEscape(string(raw(asked))), nil, false)
			}
			for range 50 {
				text := sentence(rng, s.chars, 60+rng.IntN(100))
				one := mark(text, "")
				other := mark(sentence(rng, s.chars, 100), "")
				if n := missing(other.Sample, one.Sample); n*4 < MaxPhrases*3 {
					t.Errorf("%s: another text has %d phrases that this one has not", s.name, n)
				}
				if enc == japanese.ShiftJIS {
					continue // bytes of its characters are ASCII, and some end a word
				}
				before, behind := sentence(rng, s.chars, 12), sentence(rng, s.chars, 14)
				if x, y := mark(before+"1234"+behind, ""), mark(before+"99"+behind, ""); x.Text == y.Text || !slices.Equal(x.Sample, y.Sample) {
					t.Errorf("%s: texts that differ in a number have other phrases, or are the same", s.name)
				}
				words := [2]string{sentence(rng, s.chars, 3), sentence(rng, s.chars, 5)}
				var says [2]Phrases
				for i, w := range words {
					says[i] = mark(before+w+behind, w)
				}
				if !slices.Equal(says[0].Sample, says[1].Sample) || !slices.Equal(says[0].Names, says[1].Names) {
					t.Errorf("%s: pages that repeat what they were asked for say something else of each", s.name)
				}
			}
		}
	}
}

// What a page is called is told without what stands in its address.
func TestNamesWithoutSpaces(t *testing.T) {
	mark := func(word string) Phrases {
		return Mark([]byte("<title>"+word+"的搜索结果 - 百科</title><h1>搜索"+word+"</h1>"), "http://a.test/s/"+url.PathEscape(word), nil, false)
	}
	if x, y := mark("编程"), mark("自行车"); !slices.Equal(x.Names, y.Names) {
		t.Errorf("names %x and %x of pages that repeat their addresses", x.Names, y.Names)
	}
	other := Mark([]byte("<title>编程的历史 - 百科</title>"), "http://a.test/7", nil, false)
	if x := Mark([]byte("<title>自行车的历史 - 百科</title>"), "http://a.test/8", nil, false); slices.Equal(x.Names, other.Names) {
		t.Error("two titles are one name")
	}
}

// Words of scripts with spaces are words, however long they are.
func TestLongWordsAreWords(t *testing.T) {
	for _, w := range []string{"Donaudampfschifffahrtsgesellschaftskapitän", "достопримечательность", "νεφελοκοκκυγία", "électroencéphalogramme", "sportfélagið"} {
		if unspaced([]byte(w)) {
			t.Errorf("%s is a sentence", w)
		}
	}
}
