package yield

import (
	"slices"
	"strings"

	"argosy/internal/crawl"
)

// A URL taken apart, and what can be told of it by itself.

// param is a parameter of a query or of a segment.
type param struct {
	name, value, written string // of a query the name is in lower case, as written it is as the URL has it
	low                  string // its value in lower case, encoded once
}

// pieces are a URL taken apart.
type pieces struct {
	segs   []string // of the path, without their parameters,
	low    []string // and in lower case, encoded once: templates do not tell the case of letters apart, nor how often something is encoded
	upper  bool     // their case is something else,
	named  bool     // and so is that of names of parameters,
	valued bool     // or of their values
	again  bool     // something is encoded more than once
	inner  []innerParam
	params []param
	sorted []param // by their names: for patterns alone
	sep    byte    // between the parameters of the query
	query  bool    // there is one, it may be empty
}

type innerParam struct {
	seg int
	param
}

// split takes a URL apart.
func (p *pieces) split(u crawl.URL) {
	p.segs, p.low, p.inner, p.params, p.upper = p.segs[:0], p.low[:0], p.inner[:0], p.params[:0], false
	p.named, p.valued, p.again = false, false, false
	for s := range strings.SplitSeq(u.Path()[1:], "/") {
		s, rest, more := strings.Cut(s, ";")
		for more {
			var one string
			one, rest, more = strings.Cut(rest, ";")
			name, value, _ := strings.Cut(one, "=")
			p.inner = append(p.inner, innerParam{len(p.segs), param{name, value, name, value}})
		}
		one := once(s)
		low := lower(one)
		p.upper, p.again = p.upper || low != one, p.again || one != s
		p.segs, p.low = append(p.segs, s), append(p.low, low)
	}
	q := u.Query()
	p.sep, p.query = '&', q != ""
	if len(q) < 2 {
		return
	}
	q = q[1:]
	if strings.IndexByte(q, '&') < 0 && strings.IndexByte(q, ';') >= 0 {
		p.sep = ';'
	}
	for len(q) > 0 {
		one := q
		if i := strings.IndexByte(q, p.sep); i >= 0 {
			one, q = q[:i], q[i+1:]
		} else {
			q = ""
		}
		name, value, _ := strings.Cut(one, "=")
		plain := once(value)
		q := param{lower(name), value, name, lower(plain)}
		p.named, p.valued, p.again = p.named || q.name != name, p.valued || q.low != plain, p.again || plain != value
		p.params = append(p.params, q)
	}
}

// dated reports whether all that varies in a URL can be a date: a year with a month or a day, or seconds since 1970. A session may stand beside it, but
// for a path's end, which names what is there.
func (p *pieces) dated() bool {
	year, small, other, is := 0, 0, 0, 0
	look := func(s string) {
		v, n := 0, 0
		flush := func() {
			switch {
			case n == 0:
			case n == 4 && v >= 1900 && v < 2200 && v == is: // it is there twice: month=5&year=2020&day=2020-5-2
			case n == 4 && v >= 1900 && v < 2200:
				year, is = year+1, v
			case n == 8 && v >= 1900_01_01 && v < 2200_00_00 && v/100%100 <= 12 && v%100 <= 31:
				year, small = year+1, small+2
			case n == 6 && v >= 1900_01 && v < 2200_00 && v%100 <= 12:
				year, small = year+1, small+1
			case n <= 2 && v <= 53:
				small++
			case n == 10 && v >= 900_000_000 && v < 5_000_000_000:
				year, small = year+1, small+1
			default:
				other++
			}
			v, n = 0, 0
		}
		for i := 0; i < len(s); i++ {
			if s[i] < '0' || s[i] > '9' {
				flush()
				continue
			}
			if n++; n <= 10 {
				v = v*10 + int(s[i]-'0')
			}
		}
		flush()
	}
	for i, s := range p.segs {
		if i >= p.lead() || !session(s) {
			look(s)
		}
	}
	for _, q := range p.inner {
		if !session(q.value) {
			look(q.value)
		}
	}
	for _, q := range p.params {
		if !session(q.value) {
			look(q.value)
		}
	}
	return year == 1 && small >= 1 && small <= 5 && other == 0
}

// session reports whether a value looks random and is not a number, which may be a moment.
func session(s string) bool {
	return classify(s) == opaque && strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}

// long reports whether a parameter is a number of so many digits that it may be drawn.
func (q param) long() bool { return len(q.value) >= 6 && classify(q.value) == number }

// draws reports whether several parameters of a URL may be drawn together, of which one is a number: a visitor's id and token.
func (p *pieces) draws() bool {
	random, long := 0, 0
	for _, q := range p.params {
		if q.long() {
			long++
		} else if classify(q.value) == opaque {
			random++
		}
	}
	return long > 0 && long+random > 1
}

// words reports whether a URL has words alone: no digit in its path, nor in what its parameters are set to.
func (p *pieces) words() bool {
	return !slices.ContainsFunc(p.segs, func(s string) bool { return classify(s) != word }) &&
		!slices.ContainsFunc(p.inner, func(q innerParam) bool { return classify(q.value) != word }) &&
		!slices.ContainsFunc(p.params, func(q param) bool { return classify(q.value) != word })
}

// plain reports whether nothing in a URL looks random, and each value of a parameter is a word, a number or a date.
func (p *pieces) plain() bool {
	return !slices.ContainsFunc(p.segs, func(s string) bool { return classify(s) == opaque }) &&
		!slices.ContainsFunc(p.params, func(q param) bool { return classify(q.value) == opaque || classify(q.value) == mixed && !p.dated() }) && len(p.inner) == 0
}

// values calls fn for everything that varies in a URL.
func (p *pieces) values(fn func(string)) {
	for _, s := range p.segs {
		if classify(s) != word {
			fn(s)
		}
	}
	for _, q := range p.inner {
		fn(q.value)
	}
	for _, q := range p.params {
		fn(q.value)
	}
}

// Refines reports whether a URL repeats all that varies in another, which has led to it, and adds something: a day's has
// the month's numbers. Only then an answer needs to say whether it links back.
func Refines(child, parent crawl.URL) bool {
	var c, p pieces
	c.split(child)
	p.split(parent)
	had, have := map[string]int{}, map[string]int{}
	n, more := 0, 0
	p.values(func(s string) { had[s]++; n++ })
	c.values(func(s string) { have[s]++; more++ })
	for s, k := range had {
		if have[s] < k {
			return false
		}
	}
	return n > 0 && more > n
}
