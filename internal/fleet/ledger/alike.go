package ledger

import (
	"context"
	"strings"
)

const (
	// LossSame is why URLs may be lost that were answered with the same page, byte for byte.
	LossSame = "same-page"
	// LossTitled is why URLs may be lost that have one title and name hardly anything.
	LossTitled = "same-title"
	// LossLed is why URLs may be lost that lead to one page of their site.
	LossLed = "led-away"
	// LossAlone is why a site may be lost whose only page, a seed, names nothing.
	LossAlone = "names-none"
)

// URLs of a site that were answered alike are worth telling of where there are at least so many of them, and one in so many of what was had of the site.
const (
	fewAlike   = 8
	alikeShare = 10
	titleShare = 2 // where they only have a title in common
	titleLinks = 8 // and so many links each at most
)

// Alike are URLs of a site that were answered alike.
type Alike struct {
	Site    string `json:"site"`
	Why     string `json:"why"` // LossSame, LossTitled, LossLed
	URLs    int64  `json:"urls"`
	Example string `json:"example"`
	To      string `json:"to,omitempty"` // where they lead, without a query
}

// maxLed bounds of how many places, to which URLs of a site lead, those are counted that do.
const maxLed = 10_000

// Alikes calls fn for URLs of a site that were answered alike: with the same page, or one of the same title that names hardly anything, or by a redirect to one
// place, and where nothing else is known to be wrong with them. There are many, for a site of which had says how many URLs were had.
func (l *Ledger) Alikes(ctx context.Context, job uint32, had func(site string) int64, fn func(Alike)) error {
	tells := func(v *Alike) {
		if v.URLs >= fewAlike && v.URLs*alikeShare >= had(v.Site) {
			fn(*v)
		}
	}
	told := map[string]bool{}
	alike := func(why string, share int64) func(scanner) error {
		return func(rows scanner) error {
			v := Alike{Why: why}
			var what string
			err := rows.Scan(&v.Site, &what, &v.URLs, &v.Example)
			if err == nil && v.URLs*share >= had(v.Site) && !told[v.Site] {
				told[v.Site] = why == LossSame
				tells(&v)
			}
			return err
		}
	}
	const page = ` FROM pages WHERE job = ? AND state = 'fetched' AND status = 200 AND html <> 0 AND reason IS NULL`
	if err := l.eachRow(ctx, alike(LossSame, alikeShare), `SELECT site, digest, count(*), min(url)`+page+` AND bytes > 0
GROUP BY site, digest HAVING count(*) >= ? ORDER BY site, digest`, int64(job), fewAlike); err != nil {
		return err
	}
	if err := l.eachRow(ctx, alike(LossTitled, titleShare), `SELECT site, title, count(*), min(url)`+page+` AND title <> '' AND coalesce(links, 0) <= ?
GROUP BY site, title HAVING count(*) >= ? ORDER BY site, title`, int64(job), titleLinks, fewAlike); err != nil {
		return err
	}
	site, to := "", map[string]*Alike{}
	tell := func() {
		for _, v := range to {
			tells(v)
		}
	}
	led := func(rows scanner) error {
		v := Alike{Why: LossLed}
		if err := rows.Scan(&v.Site, &v.To, &v.URLs, &v.Example); err != nil {
			return err
		}
		if v.Site != site {
			tell()
			site, to = v.Site, map[string]*Alike{}
		}
		v.To, _, _ = strings.Cut(v.To, "?")
		switch of := to[v.To]; {
		case of != nil:
			of.URLs, of.Example = of.URLs+v.URLs, min(of.Example, v.Example)
		case len(to) < maxLed:
			to[v.To] = &v
		}
		return nil
	}
	err := l.eachRow(ctx, led, `SELECT site, redirect, count(*), min(url) FROM pages WHERE job = ? AND state = 'fetched' AND status BETWEEN 300 AND 399
AND redirect IS NOT NULL AND reason IS NULL GROUP BY site, redirect ORDER BY site`, int64(job))
	tell()
	return err
}

// scanner is a row that can be read.
type scanner interface{ Scan(...any) error }

// eachRow calls fn for each row of a query.
func (l *Ledger) eachRow(ctx context.Context, fn func(scanner) error, query string, args ...any) error {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(query), args...)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return l.wrap(err)
		}
	}
	return l.wrap(rows.Err())
}
