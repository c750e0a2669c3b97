package topic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

func words(t testing.TB, about, language string) *Judge {
	t.Helper()
	topic, err := Words(about, language)
	if err != nil {
		t.Fatal(err)
	}
	return NewJudge(topic)
}

// filler is a text of other words, by a seed.
func filler(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%s ", string(rune('a'+rng.IntN(20)))+string(rune('a'+rng.IntN(20))))
	}
	return b.String()
}

func TestPagesByWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	body := func(n int, parts ...string) string {
		text := filler(rng, n)
		for _, p := range parts {
			at := rng.IntN(len(text))
			at -= len(text[:at]) - strings.LastIndexByte(text[:at], ' ') - 1
			text = text[:at] + p + " " + text[at:]
		}
		return text
	}
	many := func(s string, n int) []string { return slices.Repeat([]string{s}, n) }
	for _, c := range []struct {
		name, about, page string
		on                bool
	}{
		{"title, heading and text", "asynchronous iterators", `<title>Asynchronous iterators</title><h1>Asynchronous Iterators</h1>` + body(400, many("asynchronous iterator", 3)...), true},
		{"text alone", "asynchronous iterators", body(400, many("an asynchronous iterator", 6)...), true},
		{"mentioned once in a long text", "asynchronous iterators", body(3000, "asynchronous iterator"), false},
		{"one word of two, often", "asynchronous iterators", `<title>Iterators</title>` + body(400, many("iterator", 8)...), false},
		{"other forms of the words", "asynchronous iterators", `<title>Iterator, asynchronous</title>` + body(300, many("iterators that are asynchronous", 5)...), true},
		{"navigation alone", "asynchronous iterators", `<nav>` + strings.Repeat(`<a href=x>asynchronous iterators</a> `, 5) + `</nav>` + body(400), false},
		{"in a script", "asynchronous iterators", `<script>` + strings.Repeat("asynchronous iterators ", 50) + `</script>` + body(400), false},
		{"in a comment", "asynchronous iterators", `<!-- ` + strings.Repeat("asynchronous iterators ", 50) + ` -->` + body(400), false},
		{"nothing but the words, ten thousand times", "asynchronous iterators", strings.Repeat("asynchronous iterators ", 10_000), false},
		{"ten thousand times among as many others", "asynchronous iterators", strings.Repeat("asynchronous iterators wa wb ", 10_000), false},
		{"the same in title and headings", "asynchronous iterators", `<title>` + strings.Repeat("asynchronous iterators ", 1000) + `</title><h1>` + strings.Repeat("asynchronous iterators ", 9000) + `</h1>` + body(300), false},
		{"title, heading and anchors, and a text about something else", "asynchronous iterators", `<title>Asynchronous iterators</title><h1>Asynchronous iterators</h1>` + strings.Repeat(`<p>`+filler(rng, 20)+`<a href=x>asynchronous iterators</a></p>`, 12), false},
		{"forty headings over a text about something else", "asynchronous iterators", `<title>Asynchronous iterators</title>` + strings.Repeat(`<h2>Asynchronous iterators</h2><p>`+filler(rng, 30)+`</p>`, 40), false},
		{"anchors only, two hundred", "asynchronous iterators", strings.Repeat(`<p>`+filler(rng, 10)+`<a href=x>asynchronous iterators</a></p>`, 200), false},
		{"nothing but the same anchor", "asynchronous iterators", strings.Repeat(`<p><a href=x>asynchronous iterators</a></p>`, 12), false},
		{"navigation alone, ten thousand times, and no text", "asynchronous iterators", `<nav>` + strings.Repeat("asynchronous iterators ", 10_000) + `</nav>`, false},
		{"title and heading over a text that names it once", "asynchronous iterators", `<title>Asynchronous iterators</title><h1>Asynchronous iterators</h1>` + filler(rng, 100) + "asynchronous iterator " + filler(rng, 100), true},
		{"title and heading over a few words", "asynchronous iterators", `<title>Asynchronous iterators</title><h1>Asynchronous iterators</h1>` + filler(rng, 20), true},
		{"a list of links about it", "asynchronous iterators", `<title>Asynchronous iterators</title>` + strings.Repeat(`<li><a href=x>`+filler(rng, 3)+`asynchronous iterators</a>`, 8), true},
		{"Chinese", "光明牛奶", `<title>光明牛奶</title><p>光明乳业生产的牛奶，光明牛奶质量很好。</p>`, true},
		{"Chinese, something else", "光明牛奶", `<title>汽车</title><p>这辆汽车的发动机性能很好，价格也不贵。</p>`, false},
		{"Japanese", "非同期イテレータ", `<title>非同期イテレータ</title><p>非同期イテレータは、非同期に値を返すイテレータです。</p>`, true},
		{"Korean", "비동기 반복자", `<title>비동기 반복자</title><p>비동기 반복자는 값을 비동기적으로 반환하는 반복자입니다.</p>`, true},
		{"Russian, other cases", "асинхронные итераторы", `<title>Асинхронный итератор</title><p>Об асинхронных итераторах: итератор, асинхронно.</p>` + body(100), true},
		{"a language without a stemmer", "sähköposti palvelin", `<title>Sähköposti</title><p>palvelin sähköposti palvelin sähköposti palvelin</p>`, true},
		{"nothing", "asynchronous iterators", ``, false},
		{"broken markup", "asynchronous iterators", `<title>asynchronous iterators</title><h1<p>asynchronous <b iterators</<>`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := words(t, c.about, "")
			if s := j.Page([]byte(c.page)); s >= j.Topic.Threshold != c.on {
				t.Errorf("score %.3f, on topic: want %v; %+v", s, c.on, j.Explain([]byte(c.page), true))
			}
		})
	}
}

// The more of a topic's words a page has the higher its score, as long as it is written for people; the parts add up to the sum.
func TestScoreRises(t *testing.T) {
	j := words(t, "row level security", "en")
	last := 0.0
	for n := range 12 {
		page := []byte(`<p>` + strings.Repeat("other words stand here and there as well today ", 30) + strings.Repeat("row level security. ", n))
		v := j.Explain(page, true)
		if v.Score <= last {
			t.Errorf("%d times: %.4f after %.4f", n, v.Score, last)
		}
		last = v.Score
		total := 0.0
		for _, p := range v.Parts {
			total += p.Adds
		}
		if math.Abs(total-v.Sum) > 1e-9 || v.Score != j.Page(page) {
			t.Errorf("%d times: parts %v, sum %v; %v and %v", n, total, v.Sum, v.Score, j.Page(page))
		}
	}
}

// class draws documents: words by a distribution that all share, and words of the class.
func class(rng *rand.Rand, n int, own []string, share float64) []string {
	var docs []string
	for range n {
		var b strings.Builder
		of := share * (0.3 + 1.4*rng.Float64()) // some say little of it
		for range 150 + rng.IntN(200) {
			if rng.Float64() < of {
				b.WriteString(own[int(float64(len(own))*rng.Float64()*rng.Float64())])
			} else {
				fmt.Fprintf(&b, "common%d", int(800*rng.Float64()*rng.Float64()))
			}
			b.WriteByte(' ')
		}
		docs = append(docs, b.String())
	}
	return docs
}

// The threshold means the same for a topic of words, of a text, of examples and of examples on both sides: where one page in a hundred is
// on the topic, the pages above it are most of those on it and not many others, and no other threshold is much better.
func TestThresholdMeansTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	own := strings.Fields("enzyme protein catalyst substrate inhibitor molecule binding kinetics reaction active cofactor amino acid folding affinity")
	other := strings.Fields("engine turbine piston torque valve exhaust cylinder gear fuel ignition clutch brake axle chassis throttle")
	docs := func(texts []string) (out []*Doc) {
		for _, s := range texts {
			out = append(out, NewDoc([]byte(s), false, "en"))
		}
		return out
	}
	on, off := class(rng, 300, own, 0.2), class(rng, 3000, other, 0.2)
	like, unlike := docs(class(rng, 12, own, 0.2)), docs(class(rng, 40, other, 0.2))
	byWords, err1 := Words("enzyme protein substrate catalyst", "en")
	byText, err2 := Text("a text", class(rng, 1, own, 0.3)[0], "en")
	byLike, err3 := Examples("like", like, nil)
	byBoth, err4 := Examples("both", like, unlike)
	for i, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	for _, c := range []struct {
		name  string
		topic *crawl.Topic
		least float64
	}{{"words", byWords, 0.7}, {"text", byText, 0.7}, {"like", byLike, 0.7}, {"like and unlike", byBoth, 0.9}} {
		j := NewJudge(c.topic)
		var scores [2][]float64
		for side, texts := range [2][]string{off, on} {
			for _, s := range texts {
				scores[side] = append(scores[side], j.Text([]byte(s)))
			}
		}
		best := 0.0
		for c := 0.01; c < 1; c += 0.01 {
			best = max(best, f1(scores, c))
		}
		at := f1(scores, j.Topic.Threshold)
		t.Logf("%s: F1 %.3f at the threshold, %.3f at best", c.name, at, best)
		if at < c.least*best || at < 0.6 {
			t.Errorf("%s: F1 %.3f at the threshold, %.3f at the best one", c.name, at, best)
		}
	}
}

// f1 is the harmonic mean of precision and recall where a hundredth of the pages are on the topic.
func f1(scores [2][]float64, threshold float64) float64 {
	var above [2]float64
	for side := range scores {
		for _, s := range scores[side] {
			if s >= threshold {
				above[side] += 1 / float64(len(scores[side]))
			}
		}
	}
	right, wrong := 0.01*above[1], 0.99*above[0]
	return 2 * right / (0.01 + right + wrong)
}

// What is learned is the same from the same examples, whatever the order of maps.
func TestTrainingIsDeterministic(t *testing.T) {
	make1 := func() string {
		rng := rand.New(rand.NewPCG(3, 3))
		var on, off []*Doc
		for _, s := range class(rng, 10, strings.Fields("alpha beta gamma delta"), 0.2) {
			on = append(on, NewDoc([]byte(s), false, ""))
		}
		for _, s := range class(rng, 10, strings.Fields("rho sigma tau"), 0.2) {
			off = append(off, NewDoc([]byte(s), false, ""))
		}
		topic, err := Examples("x", on, off)
		if err != nil {
			t.Fatal(err)
		}
		b, err := crawl.Marshal(topic)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := make1()
	for range 3 {
		if make1() != first {
			t.Fatal("another topic of the same examples")
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ about, language, want string }{
		{"", "", "no words"}, {"… !?", "", "no words"}, {"a b", "xx", `language "xx"`}, {strings.Repeat("word ", 100), "", "100 words"},
	} {
		if _, err := Words(c.about, c.language); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v", c.about, err)
		}
	}
	if _, err := Examples("x", nil, nil); err == nil {
		t.Error("no examples make a topic")
	}
	if _, err := Text("x", "too short", ""); err == nil {
		t.Error("two words make a topic of a text")
	}
}

// No page, whatever its bytes, makes a score that is not one, or ends the process.
func FuzzPage(f *testing.F) {
	f.Add([]byte("<title>asynchronous iterators</title><p>row level 光明牛奶"))
	f.Add([]byte("<h1<a></h\xff\xfe<script><!--"))
	f.Fuzz(func(t *testing.T, page []byte) {
		j := words(t, "asynchronous iterators 光明牛奶", "en")
		if s := j.Page(page); !(s >= 0 && s <= 1) {
			t.Fatalf("score %v", s)
		}
		if s := j.Short(string(page)); !(s >= 0 && s <= 1.0001) {
			t.Fatalf("share %v", s)
		}
		NewDoc(page, true, "")
	})
}

func BenchmarkPage(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var page strings.Builder
	for range 100 {
		page.WriteString("<div class=section id=x><p>" + filler(rng, 30) + "asynchronous iterators <a href=/x/y.html>an anchor</a></p></div>\n")
	}
	j := words(b, "asynchronous iterators", "en")
	p := []byte(page.String())
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		j.Page(p)
	}
}

// The language of key words is guessed by their letters where no frequent word tells; those that are guessed can be said as well.
func TestLanguageOfWords(t *testing.T) {
	for about, want := range map[string]string{
		"beekeeping honey": "en", "蜂蜜 养蜂": "zh", "養蜂 はちみつ": "ja", "양봉": "ko", "น้ำผึ้ง": "th", "пчеловодство": "ru", "تربية النحل": "none", "μέλισσα": "none",
		"HTTP 缓存": "en", "die Bienen und der Honig": "de", "802.1": "none",
	} {
		got, err := Words(about, "")
		if err != nil || got.Language != want {
			t.Errorf("%s: %+v, %v; want %s", about, got, err, want)
			continue
		}
		if said, err := Words(about, want); err != nil || said.Language != want {
			t.Errorf("%s as %s: %+v, %v", about, want, said, err)
		}
	}
	if _, err := Words("x", "ar"); err == nil || !strings.Contains(err.Error(), "zh") {
		t.Errorf("ar: %v", err)
	}
}

// Signs of vowels that stand in a line of their own are of the word that they stand in.
func TestVowelSignsAreOfTheirWords(t *testing.T) {
	for _, words := range []string{"डेटाबेस सुरक्षा", "ডাটাবেস নিরাপত্তা", "தரவுத்தள பாதுகாப்பு", "ഡാറ്റാബേസ് സുരക്ഷ"} {
		var got []string
		for text, i := []byte(words), 0; ; {
			word, next := cut(text, i, nil)
			if len(word) == 0 {
				break
			}
			got, i = append(got, string(word)), next
		}
		if strings.Join(got, " ") != words {
			t.Errorf("%s is read as %q", words, got)
		}
	}
}
