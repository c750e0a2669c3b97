package engine

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"

	"argosy/internal/page/parse"
)

// errLarge says that an answer is larger than any result page.
var errLarge = errors.New("larger than what is read of a page (docs/engines.md, Limits)")

// document is an answer, as its format asks: a tree or a value beside the source.
type document struct {
	source string // in UTF-8
	tree   *html.Node
	value  any
	steps  int  // that are left
	cut    bool // a selector found more than is read

	outline *outline              // of the tree, once a CSS selector asks for it
	hits    map[*selector][]int32 // what CSS selectors have found in it
	texts   []int                 // how much text stands before each node
}

// afford takes steps; false: there are none left.
func (d *document) afford(n int) bool {
	d.steps -= n
	return d.steps >= 0
}

// spend takes steps; it panics with errSteps where there are none left.
func (d *document) spend(n int) {
	if !d.afford(n) {
		panic(errSteps)
	}
}

// open reads an answer.
func open(format string, body []byte, contentType string) (*document, error) {
	if len(body) > MaxAnswer {
		return nil, errLarge
	}
	d := &document{steps: maxSteps}
	var err error
	switch format {
	case "json":
		d.source = parse.Decode(body, parse.Charset(body, contentType, nil))
		d.value, err = readJSON(d.source)
	case "xml":
		d.source = parse.Decode(body, parse.Charset(body, contentType, declaredXML(body)))
		d.tree, err = readXML(d.source)
	default:
		var p parse.Page
		_, name := parse.ReadEncoded(parse.HTML, body, contentType, parse.Options{}, &p)
		d.source = parse.Decode(body, name)
		d.tree, err = readHTML(d.source)
	}
	return d, err
}

// declaredXML returns the encoding that an XML declaration names.
func declaredXML(body []byte) []byte {
	head := body[:min(len(body), 200)]
	if i := bytes.Index(head, []byte("?>")); i > 0 && bytes.HasPrefix(head, []byte("<?xml")) {
		if _, after, ok := bytes.Cut(head[:i], []byte("encoding=")); ok && len(after) > 2 {
			if j := bytes.IndexByte(after[1:], after[0]); j > 0 {
				return after[1 : 1+j]
			}
		}
	}
	return nil
}

func readJSON(source string) (v any, err error) {
	dec := json.NewDecoder(strings.NewReader(source))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	left := maxNodes
	if !small(v, maxDepth, &left) {
		return nil, errLarge
	}
	return v, nil
}

// small counts the values within v.
func small(v any, deep int, left *int) bool {
	if *left--; *left < 0 || deep == 0 {
		return false
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !small(e, deep-1, left) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !small(e, deep-1, left) {
				return false
			}
		}
	}
	return true
}

// readHTML makes a tree as browsers without scripts do.
func readHTML(source string) (*html.Node, error) {
	if !plain(source) {
		return nil, errLarge
	}
	tree, err := html.ParseWithOptions(strings.NewReader(source), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, fmt.Errorf("not HTML that can be read: %w", err)
	}
	if nodes := 0; !narrow(tree, &nodes) {
		return nil, errLarge
	}
	return tree, nil
}

// formatting are the elements that a tree builder opens again and again until they are closed, and borders those within which an end tag
// may close none of those outside (WHATWG HTML, section 13.2.4.3).
var (
	formatting = map[string]bool{"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true, "small": true, "strike": true, "strong": true, "tt": true, "u": true}
	borders    = map[string]bool{"td": true, "th": true, "caption": true, "object": true, "applet": true, "marquee": true, "template": true, "select": true, "svg": true, "math": true, "frameset": true}
)

// fewAttributes is how many of an element are not counted.
const fewAttributes = 8

// plain reports whether the tree of a page is small: each tag may open all formatting elements again that are open, with all their
// attributes, so that a page of megabytes could have a tree of gigabytes. It counts more of them as open than there are, never fewer.
func plain(source string) bool {
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(MaxAnswer)
	open, floor := map[string][]int{}, map[string]int{} // what those of a name weigh, the last opened last
	tags, total, most := 0, 0, 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return tags*(1+most/8) <= 4*maxNodes
		case html.StartTagToken, html.SelfClosingTagToken:
			tags++
			b, more := z.TagName()
			switch name := string(b); {
			case formatting[name]:
				weight := 1 - fewAttributes
				for ; more; weight++ {
					_, _, more = z.TagAttr()
				}
				open[name] = append(open[name], max(weight, 1))
				total += max(weight, 1)
				most = max(most, total)
			case borders[name]:
				for k, list := range open {
					floor[k] = len(list)
				}
			}
		case html.EndTagToken:
			tags++
			b, _ := z.TagName()
			switch name := string(b); {
			case formatting[name] && len(open[name]) > floor[name]:
				last := len(open[name]) - 1
				total -= open[name][last]
				open[name] = open[name][:last]
			case borders[name]:
				clear(floor)
			}
		}
	}
}

// narrow reports whether a tree is within the limits of nodes and children: selectors take up to the square of the latter.
func narrow(n *html.Node, nodes *int) bool {
	children := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		*nodes++
		if children++; children > maxChildren || *nodes > maxNodes || !narrow(c, nodes) {
			return false
		}
	}
	return true
}

// readXML makes a tree of XML in the types of HTML's: names as they are written, their prefix as the namespace.
func readXML(source string) (*html.Node, error) {
	dec := xml.NewDecoder(strings.NewReader(source))
	dec.Strict, dec.Entity = false, xml.HTMLEntity
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded already
	root := &html.Node{Type: html.DocumentNode}
	at, deep, nodes := root, 0, 0
	for {
		token, err := dec.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not XML: %w", err)
		}
		if nodes++; nodes > maxNodes {
			return nil, errLarge
		}
		switch t := token.(type) {
		case xml.StartElement:
			n := &html.Node{Type: html.ElementNode, Data: t.Name.Local, Namespace: t.Name.Space}
			for _, a := range t.Attr {
				n.Attr = append(n.Attr, html.Attribute{Namespace: a.Name.Space, Key: a.Name.Local, Val: a.Value})
			}
			at.AppendChild(n)
			if deep++; deep > maxDepth {
				return nil, errLarge
			}
			at = n
		case xml.EndElement:
			if at == root || at.Data != t.Name.Local {
				return nil, fmt.Errorf("not XML: an end tag of %q without its start", t.Name.Local)
			}
			at, deep = at.Parent, deep-1
		case xml.CharData:
			at.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
		}
	}
	if root.FirstChild == nil || at != root {
		return nil, errors.New("not XML: cut short")
	}
	return root, nil
}

// navigator walks a tree for XPath and counts its steps.
type navigator struct {
	doc  *document
	root *html.Node
	at   *html.Node
	attr int // of at; -1: the node itself
}

// errSteps ends what takes too long.
var errSteps = errors.New("takes too many steps on this answer")

// step is one of an XPath expression; it takes as long as some of others.
func (n *navigator) step() { n.doc.spend(4) }

func (n *navigator) NodeType() xpath.NodeType {
	switch {
	case n.attr >= 0:
		return xpath.AttributeNode
	case n.at.Type == html.TextNode:
		return xpath.TextNode
	case n.at.Type == html.CommentNode, n.at.Type == html.DoctypeNode:
		return xpath.CommentNode
	case n.at.Type == html.DocumentNode:
		return xpath.RootNode
	}
	return xpath.ElementNode
}

func (n *navigator) LocalName() string {
	if n.attr >= 0 {
		return n.at.Attr[n.attr].Key
	}
	return n.at.Data
}

func (n *navigator) Prefix() string {
	if n.attr >= 0 {
		return n.at.Attr[n.attr].Namespace
	}
	return n.at.Namespace
}

func (n *navigator) Value() string {
	if n.attr >= 0 {
		return n.at.Attr[n.attr].Val
	}
	var b strings.Builder
	n.doc.text(&b, n.at)
	return b.String()
}

// text writes the text below a node; every node is a step.
func (d *document) text(b *strings.Builder, n *html.Node) {
	d.spend(4)
	if n.Type == html.TextNode || n.Type == html.CommentNode {
		d.spend(len(n.Data) / 4)
		b.WriteString(n.Data)
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.CommentNode {
			d.text(b, c)
		}
	}
}

func (n *navigator) Copy() xpath.NodeNavigator {
	n.step()
	c := *n
	return &c
}

func (n *navigator) MoveToRoot() { n.at, n.attr = n.root, -1 }

func (n *navigator) MoveToParent() bool {
	n.step()
	if n.attr >= 0 {
		n.attr = -1
		return true
	}
	return n.to(n.at.Parent)
}

func (n *navigator) to(at *html.Node) bool {
	if at == nil {
		return false
	}
	n.at = at
	return true
}

func (n *navigator) MoveToNextAttribute() bool {
	n.step()
	if n.attr+1 >= len(n.at.Attr) {
		return false
	}
	n.attr++
	return true
}

func (n *navigator) MoveToChild() bool {
	n.step()
	return n.attr < 0 && n.to(n.at.FirstChild)
}

func (n *navigator) MoveToFirst() bool {
	n.step()
	if n.attr >= 0 || n.at.PrevSibling == nil {
		return false
	}
	if n.at.Parent != nil {
		return n.to(n.at.Parent.FirstChild)
	}
	return false
}

func (n *navigator) MoveToNext() bool {
	n.step()
	return n.attr < 0 && n.to(n.at.NextSibling)
}

func (n *navigator) MoveToPrevious() bool {
	n.step()
	return n.attr < 0 && n.to(n.at.PrevSibling)
}

func (n *navigator) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*navigator)
	if !ok || o.root != n.root {
		return false
	}
	n.at, n.attr = o.at, o.attr
	return true
}
