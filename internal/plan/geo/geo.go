// Package geo looks up where an address is, in files of MaxMind's format (City, Country, ASN, or others with their
// fields). The files are the user's; none is shipped.
package geo

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/oschwald/maxminddb-golang/v2"

	"argosy/internal/plan/schedule"
)

// DB is a set of open files. It may be used by several goroutines.
type DB struct {
	files []*maxminddb.Reader
}

// Open opens files; what one does not know of an address another may.
func Open(paths ...string) (*DB, error) {
	db := &DB{}
	for _, p := range paths {
		r, err := maxminddb.Open(p)
		if err != nil {
			_ = db.Close()
			return nil, fmt.Errorf("%s: not a file of MaxMind's format: %w", p, err)
		}
		db.files = append(db.files, r)
	}
	return db, nil
}

// Close closes the files.
func (db *DB) Close() error {
	var first error
	for _, f := range db.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	db.files = nil
	return first
}

// record holds the fields that are read of any file.
type record struct {
	Country struct {
		ISOCode string `maxminddb:"iso_code"`
	} `maxminddb:"country"`
	Location struct {
		Latitude  *float64 `maxminddb:"latitude"`
		Longitude *float64 `maxminddb:"longitude"`
	} `maxminddb:"location"`
	ASN uint `maxminddb:"autonomous_system_number"`
}

// Place says where an address is, as far as the files know. What is not an address is nowhere.
func (db *DB) Place(addr string) (p schedule.Place) {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return p
	}
	for _, f := range db.files {
		var r record
		if err := f.Lookup(a.Unmap().WithZone("")).Decode(&r); err != nil {
			continue // a damaged record is as good as none
		}
		if l := r.Location; !p.Located && l.Latitude != nil && l.Longitude != nil {
			p.Lat, p.Lon, p.Located = *l.Latitude, *l.Longitude, true
		}
		if p.Region == "" {
			p.Region = r.Country.ISOCode
		}
		if p.Network == "" && r.ASN > 0 {
			p.Network = "AS" + strconv.FormatUint(uint64(r.ASN), 10)
		}
	}
	return p
}
