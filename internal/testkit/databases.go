package testkit

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"
)

// Databases is one PostgreSQL for all tests of a process, from the first one that asks for it on: to start one costs more than what is tested
// on it. The process links the driver pgx. Stop is called when the tests have ended.
type Databases struct {
	mu     sync.Mutex
	server string
	stop   func()
	made   int
}

// New returns the URL of an empty database; the test is skipped where PostgreSQL is not installed.
func (d *Databases) New(t testing.TB) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop == nil {
		place, stop, err := Postgres()
		if errors.Is(err, ErrMissing) {
			t.Skip("PostgreSQL is not installed")
		}
		if err != nil {
			t.Fatal(err)
		}
		d.server, d.stop = place, stop
	}
	db, err := sql.Open("pgx", d.server)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d.made++
	name := fmt.Sprintf("test%d", d.made)
	Eventually(t, "a database is made", func() bool { // the server may be starting
		_, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name)
		return err == nil
	})
	u, err := url.Parse(d.server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// Stop ends the server, if one was started.
func (d *Databases) Stop() {
	if d.stop != nil {
		d.stop()
	}
}
