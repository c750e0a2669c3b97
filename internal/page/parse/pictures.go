package parse

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// MaxPictures is how many of a page's pictures Phrases keeps: more than most pages show, so that a new one among those of a site's frame is
// not missed.
const MaxPictures = 32

// A page shows pictures in many ways: by img, picture, video, object and their kin, in styles, and by attributes that a script reads once
// they are to be seen. Each is known by its address, without what counts time.

// shown takes in what a start tag, without its "<", shows: its words, which are seen where the picture is not, or beside it, and the pictures
// themselves.
func (r *reader) shown(of element, tag []byte) {
	source := of&isShown != 0
	if of&isImage != 0 {
		for _, name := range [...]string{"alt", "title"} {
			if text := attributeOf(tag, name); len(text) > 0 {
				r.words(text, 0)
				r.endValue()
			}
		}
		if w, h := string(attributeOf(tag, "width")), string(attributeOf(tag, "height")); w == "0" || w == "1" || h == "0" || h == "1" {
			r.exact(xxh3.Hash(timeless(attributeOf(tag, "src"))))
			return // it counts readers
		}
	}
	eachAttribute(tag, func(name, value []byte) {
		switch {
		case foldEqual(name, "style"):
			r.styled(value)
		case foldEqual(name, "background"), foldEqual(name, "poster"):
			r.picture(value)
		case foldEqual(name, "value"):
			r.sentence(value)
		case of&isDrawn != 0 && (foldEqual(name, "d") || foldEqual(name, "points")):
			r.picture(value)
		case !source && !pictureFile(value), of&isFrame != 0 && !bytes.Contains(value, []byte("//")): // a frame of the site's own is a page of its own
		case hasSuffixFold(name, "srcset"):
			for i, ref := range Srcset(value) {
				if i == 0 || of&isImage == 0 { // the others are the same, larger
					r.picture(ref)
				}
			}
		case hasSuffixFold(name, "src"), source && (foldEqual(name, "data") || foldEqual(name, "href") || foldEqual(name, "xlink:href")):
			r.picture(value)
		case len(name) > 5 && foldEqual(name[:5], "data-") && pictureFile(value):
			r.picture(value)
		}
	})
}

// mayShow reports whether "data-" or "url(" stands in the tag of b from i to end: it may show a picture although its element does not.
func (r *reader) mayShow(b []byte, i, end int) bool {
	if r.lazy < i {
		r.lazy = indexByLast(b, i, "data-")
	}
	if r.styles < i {
		r.styles = indexByLast(b, i, "url(")
	}
	return r.lazy+len("data-") <= end || r.styles+len("url(") <= end
}

// indexByLast returns where a text stands in b from i on, len(b) if it does not. Its last byte is the rarest of it.
func indexByLast(b []byte, i int, text string) int {
	last := len(text) - 1
	for at := i + last; at < len(b); at++ {
		j := bytes.IndexByte(b[at:], text[last])
		if j < 0 {
			break
		}
		if at += j; string(b[at-last:at]) == text[:last] {
			return at - last
		}
	}
	return len(b)
}

// styled takes in the pictures of a style: in a style attribute, or of a style sheet in the page.
func (r *reader) styled(css []byte) {
	for {
		i := bytes.Index(css, []byte("url("))
		if i < 0 {
			return
		}
		css = bytes.TrimLeft(css[i+4:], " \t\n\r\f")
		end := ")"
		switch {
		case bytes.HasPrefix(css, []byte("&quot;")):
			css, end = css[6:], "&"
		case len(css) > 0 && (css[0] == '"' || css[0] == '\''):
			css, end = css[1:], string(css[:1])
		}
		j := bytes.IndexAny(css, end)
		if j < 0 {
			return
		}
		r.picture(css[:j])
		css = css[j:]
	}
}

// picture takes in a picture by its address.
func (r *reader) picture(ref []byte) {
	if ref = timeless(trimSpace(ref)); len(ref) == 0 {
		return
	}
	h := xxh3.Hash(ref)
	if isRelative(ref) && firstDigit(ref, 0) < len(ref) {
		h ^= r.dir // each album has a picture 1.jpg
	}
	r.exact(h)
	mark := uint32(h>>32) | 1
	if r.namedBy(ref) {
		mark &^= 1
	}
	r.pictures = least(r.pictures, mark, MaxPictures)
}

// isRelative reports whether an address is of what lies beside the page.
func isRelative(ref []byte) bool {
	return ref[0] != '/' && ref[0] != '?' && !bytes.Contains(ref, []byte(":")) // of another site without its host it begins with a slash
}

// directory returns a mark of where a page lies: of the different words of its path but the last, without what is random to the eye, so that
// paths that repeat names, and sessions in them, lie where they lay before.
func directory(path []byte) (mark uint64) {
	path = path[:bytes.LastIndexByte(path, '/')+1]
	var had []uint64
	for i := 0; i < len(path); {
		if textOf[path[i]] != inWord {
			i++
			continue
		}
		exact, _, next, _ := wordAt(path, i)
		if exact != digitsWord && !slices.Contains(had, exact) {
			had = append(had, exact)
			mark += mix(exact, wordSeed)
		}
		i = next
	}
	return mark
}

// namedBy reports whether the numbers in a picture's address are all in the page's own address, or in those that it links to, as those of a
// chart for each day are.
func (r *reader) namedBy(ref []byte) (all bool) {
	if len(ref) > 4096 { // its bytes are the picture
		return false
	}
	for end := 0; ; {
		i := firstDigit(ref, end)
		if i == len(ref) {
			return all
		}
		for i > end && textOf[ref[i-1]] == inWord {
			i--
		}
		exact, alike, next, _ := wordAt(ref, i)
		if exact == digitsWord { // random to the eye
			exact, alike = xxh3.Hash(ref[i:next]), digitsWord
		}
		if !r.isOwn(alike) || alike == digitsWord && !r.isOwn(exact) {
			return false
		}
		all, end = true, next
	}
}

// firstDigit returns where the first digit of b stands from i on, or len(b).
func firstDigit(b []byte, i int) int {
	for ; i < len(b); i += 8 {
		if at := between(eight(b, i), '0', '9'); at != 0 {
			return i + bits.TrailingZeros64(at)/8
		}
	}
	return len(b)
}

// timeless returns a picture's address without its scheme and host, which may be any of many, its fragment, and the parameters that say when
// the page was made or the picture changed: ten digits that begin with 1, or thirteen.
func timeless(ref []byte) []byte {
	if bytes.HasPrefix(ref, []byte("data:")) {
		return ref
	}
	if i := bytes.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	if i := bytes.Index(ref, []byte("//")); i >= 0 && i <= len("https:") {
		ref = ref[i+2:]
		ref = ref[max(0, bytes.IndexByte(ref, '/')):]
	}
	path, query, ok := bytes.Cut(ref, []byte("?"))
	if !ok {
		return ref
	}
	out := path[:len(path):len(path)]
	for param := range bytes.SplitSeq(query, []byte("&")) {
		value := param[bytes.IndexByte(param, '=')+1:]
		if (len(value) == 10 || len(value) == 13) && value[0] == '1' && len(bytes.Trim(value, "0123456789")) == 0 {
			continue
		}
		out = append(append(out, '&'), param...)
	}
	return out
}

// pictureFile reports whether a value is the address of a picture by the ending of its path.
func pictureFile(value []byte) bool {
	if i := bytes.IndexAny(value, "?#"); i >= 0 {
		value = value[:i]
	}
	i := bytes.LastIndexByte(value, '.')
	if i < 0 || len(value)-i > 5 || bytes.ContainsAny(value, "{<\"") {
		return false
	}
	switch string(bytes.ToLower(value[i+1:])) {
	case "jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "bmp", "jxl", "mp4", "webm":
		return true
	}
	return false
}

// hasSuffixFold reports whether a name ends in one of lower case.
func hasSuffixFold(name []byte, end string) bool {
	return len(name) >= len(end) && foldEqual(name[len(name)-len(end):], end)
}

// eachAttribute gives the attributes of a tag, without its "<", as they stand in it.
func eachAttribute(tag []byte, give func(name, value []byte)) {
	i := bytes.IndexAny(tag, " \t\n\f\r/>")
	for i >= 0 && i < len(tag) {
		for i < len(tag) && (tag[i] <= ' ' || tag[i] == '/' || tag[i] == '>') {
			i++
		}
		start := i
		for i < len(tag) && tag[i] > ' ' && tag[i] != '=' && tag[i] != '>' && tag[i] != '/' {
			i++
		}
		name := tag[start:i]
		for i < len(tag) && tag[i] <= ' ' {
			i++
		}
		if i >= len(tag) || tag[i] != '=' {
			if len(name) == 0 {
				i++
			}
			continue
		}
		i++
		for i < len(tag) && tag[i] <= ' ' {
			i++
		}
		value := tag[min(i, len(tag)):]
		if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
			value = value[1 : 1+indexFrom(value[1:], value[:1], 0)]
			i++
		} else {
			j := 0
			for j < len(value) && value[j] != '>' && class[value[j]]&white == 0 {
				j++
			}
			value = value[:j]
		}
		give(name, value)
		i += len(value) + 1
	}
}
