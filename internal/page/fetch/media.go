package fetch

import (
	"net/http"
	"strings"
)

// maxMedia bounds a media type, in bytes.
const maxMedia = 200

// Type returns what the Content-Type fields of a response say, as one field: each of several is one more element of it.
func (r *Response) Type() string { return strings.Join(r.Values("Content-Type"), ", ") }

// Media returns the media type of a response in lower case, without parameters; for one that says nothing, or what is not a media type
// (MIME Sniffing Standard, section 5.1 and 7), what its bytes look like. Where the semicolon before a parameter is forgotten, as in
// "text/html charset=utf-8", the type ends at the white space, as in browsers.
func (r *Response) Media() string {
	said := ""
	for one := range strings.SplitSeq(r.Type(), ",") { // of several the last counts (Fetch Standard, 2.2.2)
		one, _, _ = strings.Cut(one, ";")
		one = strings.ToLower(strings.TrimSpace(one))
		if i := strings.IndexAny(one, " \t("); i >= 0 {
			one = one[:i]
		}
		if said == "" || strings.Contains(one, "/") && one != "*/*" {
			said = one
		}
	}
	kind, sub, _ := strings.Cut(said, "/")
	if kind != "" && sub != "" && said != "unknown/unknown" && said != "application/unknown" && said != "*/*" || r.Size == 0 || r.Coded() {
		return strings.ToValidUTF8(said[:min(len(said), maxMedia)], "")
	}
	v, _, _ := strings.Cut(http.DetectContentType(r.Start()), ";")
	return v
}
