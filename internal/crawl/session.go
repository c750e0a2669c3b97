package crawl

import "strings"

// sessionParams are query parameters that name a visit and not a resource.
var sessionParams = map[string]bool{
	"phpsessid": true, "jsessionid": true, "aspsessionid": true, "sessionid": true, "session_id": true,
	"sid": true, "cfid": true, "cftoken": true, "zenid": true, "oscsid": true,
	"utm_source": true, "utm_medium": true, "utm_campaign": true, "utm_term": true, "utm_content": true,
	"fbclid": true, "gclid": true,
}

// StripSession returns u without session and campaign parameters: ";jsessionid=…" at the end of the path and the
// well-known query parameters.
func (u URL) StripSession() URL {
	path, query := u.Path(), u.Query()
	if i := strings.LastIndexByte(path, ';'); i >= 0 {
		if low := strings.ToLower(path[i+1:]); strings.HasPrefix(low, "jsessionid=") || strings.HasPrefix(low, "phpsessid=") {
			path = path[:i]
		}
	}
	if len(query) > 1 {
		var kept []string
		for p := range strings.SplitSeq(query[1:], "&") {
			name, _, _ := strings.Cut(p, "=")
			if !sessionParams[strings.ToLower(name)] {
				kept = append(kept, p)
			}
		}
		query = ""
		if len(kept) > 0 {
			query = "?" + strings.Join(kept, "&")
		}
	}
	if len(path)+len(query) == len(u.RequestURI()) {
		return u
	}
	return index(u.Origin() + path + query)
}
