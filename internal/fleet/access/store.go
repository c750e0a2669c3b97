package access

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Stores says where nodes' archives may lie.
type Stores struct{ rules []storeRule }

type storeRule struct {
	kind     string // "dir" or "s3"
	place    string // what a directory's path, or BUCKET/PREFIX, begins with; empty: anything
	endpoint string // of S3; empty: Amazon's, or the one in the coordinator's environment
}

// DefaultStores are directories, and S3 where the store names no endpoint.
var DefaultStores = []string{"dir", "s3"}

// NewStores reads what the operator allows: dir, dir:PATH, s3, s3://BUCKET[/PREFIX] and s3://BUCKET[/PREFIX]?endpoint=URL, where *
// stands for any bucket.
func NewStores(allowed []string) (*Stores, error) {
	if len(allowed) == 0 {
		allowed = DefaultStores
	}
	s := &Stores{}
	for _, a := range allowed {
		r, err := parseStore(a)
		if err != nil {
			return nil, fmt.Errorf("%q: %w; allowed are dir, dir:PATH, s3, s3://BUCKET[/PREFIX][?endpoint=URL], with * for any bucket", a, err)
		}
		s.rules = append(s.rules, r)
	}
	return s, nil
}

func parseStore(a string) (storeRule, error) {
	if a == "dir" || a == "s3" {
		return storeRule{kind: a}, nil
	}
	if path, ok := strings.CutPrefix(a, "dir:"); ok {
		if !strings.HasPrefix(path, "/") || path != clean(path) {
			return storeRule{}, fmt.Errorf("the path is not absolute and plain")
		}
		return storeRule{kind: "dir", place: path}, nil
	}
	u, err := url.Parse(a)
	switch {
	case err != nil || u.Scheme != "s3" || u.Host == "":
		return storeRule{}, fmt.Errorf("not a store")
	case u.User != nil || u.Fragment != "":
		return storeRule{}, fmt.Errorf("no credentials and no fragment belong there")
	}
	r := storeRule{kind: "s3", endpoint: u.Query().Get("endpoint")}
	if u.Host != "*" {
		r.place = u.Host + strings.TrimSuffix(u.Path, "/")
	}
	if r.endpoint != "" {
		if e, err := url.Parse(r.endpoint); err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
			return storeRule{}, fmt.Errorf("the endpoint is not http://HOST or https://HOST")
		}
		r.endpoint = endpoint(r.endpoint)
	}
	return r, nil
}

// StoreRule is what the operator would say to allow a store; empty: nothing allows it.
func StoreRule(store string) string {
	rule := store
	if path, ok := strings.CutPrefix(store, "file://"); ok {
		rule = "dir:" + path
	}
	if s, err := NewStores([]string{rule}); err != nil || !s.Allow(store) {
		return ""
	}
	return rule
}

// Allow reports whether archives may lie in a store, named by its URL.
func (s *Stores) Allow(store string) bool {
	u, err := url.Parse(store)
	if err != nil || u.User != nil || u.Fragment != "" {
		return false
	}
	var is storeRule
	switch u.Scheme {
	case "file":
		if u.Host != "" || u.Path != clean(u.Path) || u.RawQuery != "" {
			return false
		}
		is = storeRule{kind: "dir", place: u.Path}
	case "s3":
		q, err := url.ParseQuery(u.RawQuery)
		if err != nil || len(q["endpoint"]) > 1 || u.Host == "" {
			return false
		}
		is = storeRule{kind: "s3", place: u.Host + u.Path, endpoint: endpoint(q.Get("endpoint"))}
	default:
		return false
	}
	return slices.ContainsFunc(s.rules, func(r storeRule) bool {
		under := r.place == "" || is.place == r.place || strings.HasPrefix(is.place, strings.TrimSuffix(r.place, "/")+"/")
		return r.kind == is.kind && r.endpoint == is.endpoint && under
	})
}

// String lists what is allowed.
func (s *Stores) String() string {
	var out []string
	for _, r := range s.rules {
		switch {
		case r.kind == "dir" && r.place == "":
			out = append(out, "any directory")
		case r.kind == "dir":
			out = append(out, "directories under "+r.place)
		default:
			t, at := "s3://"+r.place, "without an endpoint"
			if r.place == "" {
				t = "any bucket"
			}
			if r.endpoint != "" {
				at = "at " + r.endpoint
			}
			out = append(out, t+" "+at)
		}
	}
	return strings.Join(out, ", ")
}

// endpoint writes an endpoint as one is compared.
func endpoint(s string) string { return strings.ToLower(strings.TrimSuffix(s, "/")) }

// clean reports an absolute path without dots and doubled slashes, or something else than was given.
func clean(p string) string {
	var out []string
	for _, w := range strings.Split(p, "/")[1:] {
		if w == "." || w == ".." || w == "" && p != "/" {
			return ""
		}
		out = append(out, w)
	}
	return "/" + strings.Join(out, "/")
}
