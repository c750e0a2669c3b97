package engine

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A CSS selector is evaluated for all elements of a document at once, compound by compound from the left: what cascadia does for each
// element anew, looking at all its ancestors and siblings for every combinator, takes time in a power of the page's size, which is a
// stranger's choice. Compounds are cascadia's.

// chain is compound selectors with the combinators between them.
type chain struct {
	of []compound
	by []byte // between of[i] and of[i+1]: a space, >, + or ~
}

// compound is what one element must be.
type compound struct {
	cheap  []cascadia.Sel // looks at the element alone
	within []cascadia.Sel // looks at what is in the element
	beside []cascadia.Sel // looks at its siblings or ancestors
	rel    []relative
}

// relative is :not, :has or :haschild.
type relative struct {
	name string
	of   []chain
}

// readCSS reads a group of selectors.
func readCSS(text string) ([]chain, error) {
	whole, err := cascadia.ParseGroup(text)
	if err != nil {
		return nil, err
	}
	var out []chain
	for i, one := range cut(text, ",") {
		c, says, err := readChain(one)
		if err != nil {
			return nil, err
		}
		if i >= len(whole) || says != whole[i].String() { // it was not cut where cascadia cuts it
			return nil, fmt.Errorf("%q: not understood", strings.TrimSpace(one))
		}
		out = append(out, c)
	}
	return out, nil
}

// readChain reads a selector without commas; says is how cascadia writes it.
func readChain(text string) (c chain, says string, err error) {
	for rest, by := strings.TrimSpace(text), byte(0); ; {
		n := 0
		for n < len(rest) && !strings.ContainsRune(" \t\r\n\f>+~", rune(rest[n])) {
			n = skip(rest, n)
		}
		one, said, err := readCompound(rest[:n])
		if err != nil {
			return c, "", err
		}
		if by != 0 {
			c.by, said = append(c.by, by), says+" "+string(by)+" "+said
		}
		c.of, says = append(c.of, one), said
		if rest = strings.TrimLeft(rest[n:], " \t\r\n\f"); rest == "" {
			return c, says, nil
		}
		if by = ' '; strings.IndexByte(">+~", rest[0]) >= 0 {
			by, rest = rest[0], strings.TrimLeft(rest[1:], " \t\r\n\f")
		}
	}
}

// readCompound reads a selector without combinators.
func readCompound(text string) (c compound, says string, err error) {
	all := pieces(text)
	for _, piece := range all {
		sel, err := cascadia.Parse(piece)
		if err != nil {
			return c, "", err
		}
		said := sel.String()
		if said != "*" || len(all) == 1 {
			says += said
		}
		name, _, _ := strings.Cut(strings.ToLower(piece), "(")
		switch {
		case name == ":not", name == ":has", name == ":haschild":
			of, err := readCSS(piece[len(name)+1 : len(piece)-1])
			if err != nil {
				return c, "", err
			}
			c.rel = append(c.rel, relative{name[1:], of})
		case strings.HasPrefix(name, ":matches"), strings.Contains(said, "#="):
			return c, "", errors.New("expressions in selectors are not read: use match, or a regex")
		case strings.HasPrefix(name, ":contains"), name == ":empty":
			c.within = append(c.within, sel)
		case piece[0] == ':':
			c.beside = append(c.beside, sel)
		default:
			c.cheap = append(c.cheap, sel)
		}
	}
	return c, says, nil
}

// pieces cuts a compound into its pseudo-classes and what is between them.
func pieces(text string) (out []string) {
	begin := 0
	for i := 0; i < len(text); {
		if text[i] != ':' {
			i = skip(text, i)
			continue
		}
		if i > begin {
			out = append(out, text[begin:i])
		}
		begin, i = i, i+1
		for i < len(text) && strings.IndexByte("([.#:", text[i]) < 0 {
			i++
		}
		if i < len(text) && text[i] == '(' {
			i = skip(text, i)
		}
		out, begin = append(out, text[begin:i]), i
	}
	if begin < len(text) {
		out = append(out, text[begin:])
	}
	return out
}

// cut cuts a selector at a separator, but not within quotes, brackets and parentheses.
func cut(text, at string) (out []string) {
	begin := 0
	for i := 0; i < len(text); {
		if text[i] == at[0] {
			out, begin = append(out, text[begin:i]), i+1
		}
		i = skip(text, i)
	}
	return append(out, text[begin:])
}

// skip returns where the next thing of a selector begins: what is in quotes, brackets or parentheses is one.
func skip(s string, i int) int {
	closer := map[byte]byte{'(': ')', '[': ']', '"': '"', '\'': '\''}[s[i]]
	switch {
	case s[i] == '\\':
		return min(i+2, len(s))
	case closer == 0:
		return i + 1
	}
	quoted := closer == s[i]
	for i++; i < len(s) && s[i] != closer; {
		if quoted && s[i] != '\\' {
			i++
		} else {
			i = skip(s, i)
		}
	}
	return min(i+1, len(s))
}

// outline is a tree as a list: a node stands before what is in it.
type outline struct {
	nodes  []*html.Node
	at     map[*html.Node]int32
	parent []int32
	prev   []int32 // the sibling before it that is neither text nor a comment; -1: none
	last   []int32 // the last that is in it
	weight []int32 // steps that a look at it takes: its attributes may be many and long
}

// lined returns the outline of a document.
func (d *document) lined() *outline {
	if d.outline == nil {
		d.outline = &outline{at: map[*html.Node]int32{}}
		d.outline.add(d.tree, -1, -1)
		d.spend(len(d.outline.nodes))
	}
	return d.outline
}

func (o *outline) add(n *html.Node, parent, prev int32) {
	at := int32(len(o.nodes))
	weight := int32(1 + len(n.Attr))
	for _, a := range n.Attr {
		weight += int32(len(a.Val) / 64)
	}
	o.nodes, o.parent, o.prev, o.weight, o.last = append(o.nodes, n), append(o.parent, parent), append(o.prev, prev), append(o.weight, weight), append(o.last, at)
	o.at[n] = at
	before := int32(-1)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		here := int32(len(o.nodes))
		o.add(c, at, before)
		if c.Type != html.TextNode && c.Type != html.CommentNode {
			before = here
		}
	}
	o.last[at] = int32(len(o.nodes)) - 1
}

// query returns what a CSS selector finds within a node, at most MaxResults and one more.
func (d *document) query(s *selector, within *html.Node) (out []found) {
	o := d.lined()
	hits, ok := d.hits[s]
	if !ok {
		for i, is := range d.any(s.css) {
			if is {
				hits = append(hits, int32(i))
			}
		}
		if d.hits == nil {
			d.hits = map[*selector][]int32{}
		}
		d.hits[s] = hits
	}
	at := o.at[within]
	begin := sort.Search(len(hits), func(i int) bool { return hits[i] > at })
	for _, i := range hits[begin:] {
		if i > o.last[at] || len(out) > MaxResults {
			break
		}
		out = append(out, found{node: o.nodes[i]})
	}
	return out
}

// any says of each node whether one of several selectors matches it.
func (d *document) any(of []chain) []bool {
	out := make([]bool, len(d.outline.nodes))
	for i := range of {
		for k, is := range d.chain(&of[i]) {
			out[k] = out[k] || is
		}
	}
	return out
}

func (d *document) chain(c *chain) []bool {
	o := d.outline
	is := d.compound(&c.of[0])
	for k, by := range c.by {
		right := d.compound(&c.of[k+1])
		d.spend(len(o.nodes))
		beyond := make([]bool, len(o.nodes)) // what the combinator leads to is matched
		for i := range o.nodes {
			to := o.parent[i]
			if by == '+' || by == '~' {
				to = o.prev[i]
			}
			beyond[i] = to >= 0 && (is[to] || (by == ' ' || by == '~') && beyond[to])
		}
		for i := range right {
			right[i] = right[i] && beyond[i]
		}
		is = right
	}
	return is
}

func (d *document) compound(c *compound) []bool {
	o := d.outline
	out := make([]bool, len(o.nodes))
	rel := make([][]bool, len(c.rel))
	for k := range c.rel {
		rel[k] = d.relative(&c.rel[k])
	}
	children := map[int32]int{}
	if len(c.beside) > 0 {
		for _, p := range o.parent {
			children[p]++
		}
	}
	for i, n := range o.nodes {
		d.spend(1 + int(o.weight[i])*len(c.cheap))
		ok := n.Type == html.ElementNode
		for k := 0; ok && k < len(c.cheap); k++ {
			ok = c.cheap[k].Match(n)
		}
		for k := 0; ok && k < len(rel); k++ {
			ok = rel[k][i]
		}
		for k := 0; ok && k < len(c.beside); k++ {
			d.spend(children[o.parent[i]]/4 + 8) // its siblings, or its ancestors, which are few
			ok = c.beside[k].Match(n)
		}
		for k := 0; ok && k < len(c.within); k++ {
			d.spend(int(o.last[i]) - i + d.length(i)/16)
			ok = c.within[k].Match(n)
		}
		out[i] = ok
	}
	return out
}

// length is how much text is in a node, in bytes.
func (d *document) length(at int) int {
	o := d.outline
	if d.texts == nil {
		d.texts = make([]int, len(o.nodes)+1) // before each node
		for i, n := range o.nodes {
			d.texts[i+1] = d.texts[i]
			if n.Type == html.TextNode {
				d.texts[i+1] += len(n.Data)
			}
		}
	}
	return d.texts[o.last[at]+1] - d.texts[at]
}

func (d *document) relative(r *relative) []bool {
	o := d.outline
	is := d.any(r.of)
	d.spend(len(is))
	out := make([]bool, len(is))
	before := make([]int32, len(is)+1) // how many there are before each
	for i := range is {
		before[i+1] = before[i]
		if is[i] {
			before[i+1]++
			if p := o.parent[i]; p >= 0 && r.name == "haschild" {
				out[p] = true
			}
		}
	}
	for i := range is {
		switch r.name {
		case "not":
			out[i] = !is[i]
		case "has":
			out[i] = before[o.last[i]+1] > before[i+1]
		}
	}
	return out
}
