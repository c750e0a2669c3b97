package main

import (
	"fmt"
	"net/url"
	"strings"
)

// Webs in scripts without spaces between words, where a sentence is one word to the eye.

var (
	hanzi = []rune("的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏兴")
	kana  = []rune("あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんアイウエオカキクケコサシスセソ")
)

// written returns n characters; the same key gives the same.
func written(of []rune, key string, n int) string {
	r := rng("written/" + key)
	var b strings.Builder
	for range n {
		b.WriteRune(of[r.IntN(len(of))])
	}
	return b.String()
}

// weibo is a blog whose posts are a paragraph each, under addresses with a year and two numbers, one naming the next.
func weibo(n int) *part {
	at := func(i int) string { return fmt.Sprintf("%d/%02d/%d.html", 2015+i/200, 1+i%12, 1000+i) }
	known := map[string]int{}
	for i := range n {
		known[at(i)] = i
	}
	return made("/weibo/", []link{{"/weibo/" + at(0), "博客", "weibo0"}}, ids("weibo", n), nil, func(s *site, rest string, q url.Values) *answer {
		i, ok := known[rest]
		if !ok || len(q) > 0 {
			return nil
		}
		pg := s.page(written(hanzi, fmt.Sprint("title", i), 8) + " - 我的博客")
		pg.text("%s。", written(hanzi, fmt.Sprint("post", i), 150))
		if i > 0 {
			pg.link("/weibo/"+at(i-1), "上一篇", fmt.Sprint("weibo", i-1))
		}
		if i+1 < n {
			pg.link("/weibo/"+at(i+1), "下一篇", fmt.Sprint("weibo", i+1))
		}
		return pg.real(fmt.Sprint("weibo", i))
	})
}

// nikki is a diary whose days are all called the same and say a sentence each.
func nikki(n int) *part {
	return made("/nikki/", []link{{"/nikki/0/0", "日記", "nikki0"}}, ids("nikki", n), nil, func(s *site, rest string, q url.Values) *answer {
		var i, month int
		if !is(rest, "%d/%d", &i, &month) || month != i/30 || i >= n || len(q) > 0 {
			return nil
		}
		pg := s.page("日記")
		pg.text("%s。", written(append(kana, hanzi[:60]...), fmt.Sprint("day", i), 80))
		if i+1 < n {
			pg.link(fmt.Sprintf("/nikki/%d/%d", i+1, (i+1)/30), "次", fmt.Sprint("nikki", i+1))
		}
		return pg.real(fmt.Sprint("nikki", i))
	})
}

// sousuo is a search that finds nothing, says for what, and proposes other words for ever.
func sousuo() *part {
	to := func(word string) string { return "/sousuo?q=" + url.QueryEscape(word) }
	return made("/sousuo", []link{{to("词"), "搜索", ""}}, nil, []trap{{name: "words", endless: true, mark: "/sousuo"}}, func(s *site, rest string, q url.Values) *answer {
		word := q.Get("q")
		if rest != "" || word == "" {
			return nil
		}
		pg := s.page("搜索“" + word + "”的结果")
		pg.text("没有找到与“%s”相关的内容，请换一个词再试。", word)
		for i := range 4 {
			other := written(hanzi, fmt.Sprint(word, i), 2+draw(fmt.Sprint("many", word, i), 4))
			pg.link(to(other), other, "")
		}
		return pg.trap("words", "nothing found")
	})
}

// baike is an encyclopaedia of which every page is one that nobody has written yet, and says so of its own name.
func baike() *part {
	return made("/baike/", []link{{"/baike/" + url.PathEscape("词条"), "百科", ""}}, nil, []trap{{name: "entries", endless: true, mark: "/baike/"}}, func(s *site, rest string, q url.Values) *answer {
		if len(q) > 0 {
			return nil
		}
		pg := s.page(rest + "_百科")
		pg.text("抱歉，词条“%s”还没有人创建，您可以来创建词条%s。", rest, rest)
		for i := range 3 {
			other := written(hanzi, fmt.Sprint(rest, i), 3+draw(fmt.Sprint("more", rest, i), 3))
			pg.link("/baike/"+url.PathEscape(other), other, "")
		}
		return pg.trap("entries", "nobody has written it")
	})
}

// ziti is a blog whose posts are written in numeric references, as programs do that know ASCII alone.
func ziti(n int) *part {
	return made("/ziti/", []link{{"/ziti/0", "Blog", "ziti0"}}, ids("ziti", n), nil, func(s *site, rest string, q url.Values) *answer {
		i := number(rest)
		if i < 0 || i >= n || len(q) > 0 {
			return nil
		}
		pg := s.page("Blog")
		pg.b.WriteString("<p>")
		for _, c := range written(hanzi, fmt.Sprint("ziti", i), 150) {
			fmt.Fprintf(&pg.b, "&#%d;", c)
		}
		pg.b.WriteString("</p>")
		if i+1 < n {
			pg.link(fmt.Sprint("/ziti/", i+1), "Next", fmt.Sprint("ziti", i+1))
		}
		return pg.real(fmt.Sprint("ziti", i))
	})
}

// inScripts returns these webs.
func inScripts() []*web {
	return []*web{
		single("ziti", ziti(5000), library(100)),
		single("weibo", weibo(1200)), single("nikki", nikki(900), library(100)),
		single("sousuo", sousuo(), library(200)), single("baike", baike(), library(200)),
	}
}
