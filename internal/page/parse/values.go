package parse

import (
	"bytes"
	"strings"
)

// Directives are what meta robots or X-Robots-Tag ask for.
type Directives struct {
	NoIndex, NoFollow bool
}

// Robots reads a list of directives.
func Robots(content string) (d Directives) {
	for f := range strings.SplitSeq(strings.ToLower(content), ",") {
		switch strings.TrimSpace(f) {
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		case "none":
			d.NoIndex, d.NoFollow = true, true
		}
	}
	return d
}

// RobotsTag reads an X-Robots-Tag header. Directives that follow another crawler's name ("otherbot: noindex, nofollow") do not concern us,
// up to ours.
func RobotsTag(value, product string) (all Directives) {
	ours := true
	for one := range strings.SplitSeq(value, ",") {
		if name, rest, ok := strings.Cut(one, ":"); ok {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
			default:
				if name != "" && !strings.Contains(name, " ") { // else it is a time of day
					ours, one = name == product, rest
				}
			}
		}
		if d := Robots(one); ours {
			all.NoIndex, all.NoFollow = all.NoIndex || d.NoIndex, all.NoFollow || d.NoFollow
		}
	}
	return all
}

// refreshURL returns the URL of a meta refresh (HTML Standard, 4.2.5.3), empty for the page itself; false if it is not one.
func refreshURL(v []byte) (ref []byte, ok bool) {
	v = bytes.TrimLeft(v, " \t\n\r\f")
	i := 0
	for i < len(v) && (v[i] >= '0' && v[i] <= '9' || v[i] == '.') {
		i++
	}
	if i == 0 {
		return nil, false
	}
	if v = v[i:]; len(v) == 0 {
		return nil, true
	}
	if !bytes.ContainsAny(v[:1], ";, \t\n\r\f") {
		return nil, false
	}
	v = bytes.TrimLeft(v, " \t\n\r\f")
	if len(v) > 0 && (v[0] == ';' || v[0] == ',') {
		v = bytes.TrimLeft(v[1:], " \t\n\r\f")
	}
	if len(v) >= 3 && foldEqual(v[:3], "url") {
		if rest := bytes.TrimLeft(v[3:], " \t\n\r\f"); len(rest) > 0 && rest[0] == '=' {
			v = bytes.TrimLeft(rest[1:], " \t\n\r\f")
		}
	}
	if len(v) > 0 && (v[0] == '"' || v[0] == '\'') {
		q := v[0]
		v = v[1:]
		if j := bytes.IndexByte(v, q); j >= 0 {
			v = v[:j]
		}
	}
	return trimSpace(v), true
}

// Srcset returns the URLs of a srcset (HTML Standard, 4.8.4.2.2): a comma inside a URL does not end it.
func Srcset(v []byte) (refs [][]byte) {
	for {
		v = bytes.TrimLeft(v, " \t\n\r\f,")
		if len(v) == 0 {
			return refs
		}
		i := bytes.IndexAny(v, " \t\n\r\f")
		if i < 0 {
			i = len(v)
		}
		ref := v[:i]
		v = v[i:]
		if trimmed := bytes.TrimRight(ref, ","); len(trimmed) < len(ref) {
			if len(trimmed) > 0 {
				refs = append(refs, trimmed)
			}
			continue
		}
		refs = append(refs, ref)
		depth := 0 // the descriptor ends at a comma outside of parentheses
		j := 0
		for ; j < len(v); j++ {
			if v[j] == '(' {
				depth++
			} else if v[j] == ')' && depth > 0 {
				depth--
			} else if v[j] == ',' && depth == 0 {
				break
			}
		}
		v = v[j:]
	}
}

// relation returns what a link with these relations leads to: Relation for a page, Resource for what a page needs, 0 for
// neither. A link that is a resource by one of its relations is one: an alternate style sheet is not a page.
func relation(rels string) (k Kind) {
	hint := false
	for rel := range strings.FieldsSeq(strings.ToLower(rels)) {
		switch rel {
		case "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image", "mask-icon",
			"fluid-icon", "manifest", "preload", "modulepreload", "image_src", "import":
			return Resource
		case "prefetch", "prerender", "subresource":
			hint = true
		default:
			if pageRelations[rel] {
				k = Relation
			}
		}
	}
	if k == 0 && hint {
		return Resource
	}
	return k
}

// pageRelations are the relations that lead to pages: of HTML (HTML Standard, 4.6.7; HTML 4.01, 6.12; the microformats'
// registry of extensions) and of the registry of RFC 8288.
var pageRelations = names("canonical next prev previous alternate up first last start begin end top home index contents toc",
	"chapter section subsection appendix glossary help author license copyright amphtml shortlink shorturl bookmark search tag",
	"archives about collection item related original parent child sibling replies self via describedby me nofollow",
	"privacy-policy terms-of-service latest-version predecessor-version successor-version version-history convertedfrom")

// LinkHeader returns the links of an HTTP Link header (RFC 8288) that lead to pages, and with resources those that the
// page needs.
func LinkHeader(value string, resources bool) (links []Link) {
	for len(value) > 0 {
		i := strings.IndexByte(value, '<')
		if i < 0 {
			return links
		}
		j := strings.IndexByte(value[i:], '>')
		if j < 0 {
			return links
		}
		ref := strings.TrimSpace(value[i+1 : i+j])
		params, rest := cutUnquoted(value[i+j+1:], ',')
		value = rest
		for params != "" {
			var param string
			param, params = cutUnquoted(params, ';')
			k, v, _ := strings.Cut(param, "=")
			if !strings.EqualFold(strings.TrimSpace(k), "rel") {
				continue
			}
			if kind := relation(strings.Trim(strings.TrimSpace(v), `"`)); kind == Relation || kind == Resource && resources {
				links = append(links, Link{Ref: []byte(ref), Kind: kind})
			}
			break // a second rel does not count (section 3.3)
		}
	}
	return links
}

// RefreshHeader returns the reference of a Refresh header, "" for the page itself; false if it is not one.
func RefreshHeader(value string) (ref string, ok bool) {
	v, ok := refreshURL([]byte(value))
	return string(v), ok
}

// MayRefresh reports whether an HTML document may have an http-equiv that is a refresh: it has none if this says so, and most likely one else.
// It costs little where there is none.
func MayRefresh(doc []byte) bool {
	return mayRefresh(doc, 'q') || mayRefresh(doc, 'Q')
}

// mayRefresh looks at what stands behind the names that end in "equiv", by the rarest letter of these.
func mayRefresh(doc []byte, rarest byte) bool {
	for {
		at := bytes.IndexByte(doc, rarest)
		if at < 0 {
			return false
		}
		doc = doc[at+1:]
		rest, found := foldPrefix(doc, "uiv")
		if !found {
			continue
		}
		rest = bytes.TrimLeft(rest, " \t\n\f\r")
		if len(rest) == 0 || rest[0] != '=' {
			continue
		}
		if _, found = foldPrefix(bytes.TrimLeft(rest[1:], " \t\n\f\r\"'"), "refresh"); found {
			return true
		}
	}
}

// foldPrefix returns what stands behind a prefix in ASCII, whose case does not matter.
func foldPrefix(b []byte, prefix string) (rest []byte, found bool) {
	if len(b) < len(prefix) || !foldEqual(b[:len(prefix)], prefix) {
		return b, false
	}
	return b[len(prefix):], true
}

// cutUnquoted cuts at the first separator that does not stand in a quoted string (RFC 9110, section 5.6.4), or at the first one where such a
// string has no end.
func cutUnquoted(s string, sep byte) (before, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	if quoted {
		before, rest, _ = strings.Cut(s, string(sep))
		return before, rest
	}
	return s, ""
}
