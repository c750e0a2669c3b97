package frontier

import "argosy/internal/crawl"

// At returns the job's limits on a site.
func (j *Job) At(site string) *crawl.Limits {
	if len(j.Sites) == 0 {
		return &j.Limits
	}
	if j.sites == nil {
		j.sites, j.at = crawl.NewSites(j.Sites), map[string]*crawl.Limits{}
	}
	l := j.at[site]
	if l == nil && len(j.sites.Of(site)) == 0 {
		return &j.Limits
	}
	if l == nil {
		own := j.sites.Limits(j.Limits, site)
		l = &own
		j.at[site] = l
	}
	return l
}

// PaceAt returns the limits that decide when a site is asked.
func (j *Job) PaceAt(site string) crawl.Limits { return j.Pace(*j.At(site)) }

// Headers returns what the job's requests to a site say besides.
func (j *Job) Headers(site string) []crawl.Header {
	j.At(site)
	if j.sites == nil {
		return nil
	}
	return j.sites.Headers(site)
}

// site returns the record of a site, creating it if need be, and marks it changed.
func (x *tx) site(name string) *crawl.Site {
	s := x.f.sites[name]
	if s == nil {
		s = &crawl.Site{Name: name}
		x.f.sites[name] = s
	}
	x.sites[name] = s
	return s
}
