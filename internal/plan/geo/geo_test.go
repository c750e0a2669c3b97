package geo

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"argosy/internal/plan/schedule"
)

// write makes a file with one network.
func write(t *testing.T, name, network string, value mmdbtype.Map) string {
	t.Helper()
	w, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: name, RecordSize: 24})
	if err != nil {
		t.Fatal(err)
	}
	_, n, err := net.ParseCIDR(network)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Insert(n, value); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlace(t *testing.T) {
	city := write(t, "City", "81.2.69.0/24", mmdbtype.Map{
		"country":  mmdbtype.Map{"iso_code": mmdbtype.String("GB")},
		"location": mmdbtype.Map{"latitude": mmdbtype.Float64(51.5), "longitude": mmdbtype.Float64(-0.1)},
	})
	asn := write(t, "ASN", "81.2.0.0/16", mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(20712)})
	db, err := Open(city, asn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for addr, want := range map[string]schedule.Place{
		"81.2.69.142":        {Lat: 51.5, Lon: -0.1, Located: true, Region: "GB", Network: "AS20712"},
		"::ffff:81.2.69.142": {Lat: 51.5, Lon: -0.1, Located: true, Region: "GB", Network: "AS20712"},
		"81.2.70.1":          {Network: "AS20712"},
		"8.8.8.8":            {}, "2001:4860::1": {}, "nowhere": {},
	} {
		if got := db.Place(addr); got != want {
			t.Errorf("%s: %+v, want %+v", addr, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("not a database"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + ".none"} {
		if _, err := Open(p); err == nil {
			t.Errorf("%s is opened", p)
		}
	}
}
