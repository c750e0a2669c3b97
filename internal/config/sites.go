package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"argosy/internal/crawl"
)

// Site is what a job does differently on some sites, as files say it: hosts, headers, include, exclude, and limits by their names.
type Site crawl.SiteRule

// UnmarshalYAML reads a site.
func (s *Site) UnmarshalYAML(n ast.Node) error {
	lines := map[string]int{}
	err := pairs(n, func(name string, line int, value ast.Node) (err error) {
		lines[name] = line
		switch name {
		case "hosts":
			s.Hosts, err = scalars(value)
			for i, h := range s.Hosts {
				s.Hosts[i] = strings.ToLower(h)
			}
		case "include":
			s.Include, err = scalars(value)
		case "exclude":
			s.Exclude, err = scalars(value)
		case "headers":
			err = pairs(value, func(name string, _ int, value ast.Node) error {
				text, err := scalar(value)
				s.Headers = append(s.Headers, crawl.Header{Name: name, Value: text})
				return err
			})
		default:
			var l Limits
			text, err := scalar(value)
			if err == nil && slices.Contains(crawl.SiteLimits, name) {
				err = l.Give(name, text)
			}
			if err != nil {
				return err
			}
			if s.Limits == nil {
				s.Limits = map[string]int64{}
			}
			s.Limits[name] = l[name]
		}
		return err
	})
	if err == nil {
		if err = (*crawl.SiteRule)(s).Check(); err != nil {
			line := n.GetToken().Position.Line // of a key that is missing
			if bad := (*crawl.KeyError)(nil); errors.As(err, &bad) && lines[bad.Key] > 0 {
				line = lines[bad.Key]
			}
			err = &lineError{line, err}
		}
	}
	return err
}

// rules returns sites as a job has them.
func rules(sites []Site) (out []crawl.SiteRule) {
	for _, s := range sites {
		out = append(out, crawl.SiteRule(s))
	}
	return out
}

// ReadSites reads a file that is a list of sites.
func ReadSites(b []byte) ([]Site, error) {
	var out []Site
	err := decode(b, &out)
	return out, err
}

// siteSchema is the schema of a site.
func siteSchema() object {
	list := func(doc string) object {
		return object{"type": "array", "items": object{"type": "string"}, "description": doc}
	}
	props := object{
		"hosts":   list("HOST, HOST:PORT, *.DOMAIN (what is below it) or *"),
		"include": list("fetch of these sites only URLs that match one of these expressions (RE2)"),
		"exclude": list("fetch of these sites no URL that matches one of these expressions"),
		"headers": object{"type": "object", "additionalProperties": object{"type": "string"}, "description": "fields that requests have besides; not for secrets"},
	}
	limits := limitsSchema()["properties"].(object)
	for _, name := range crawl.SiteLimits {
		props[name] = limits[name]
	}
	return object{"type": "object", "properties": props, "required": []string{"hosts"}, "additionalProperties": false}
}
