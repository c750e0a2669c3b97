package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"

	"argosy/internal/testkit"
)

// server is the PostgreSQL of all tests, from the first one that asks for it on: to start one costs more than what is tested on it.
var server struct {
	url       string
	stop      func()
	databases int
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

// Database returns the URL of an empty database of PostgreSQL; the test is skipped where that is not installed.
func Database(t *testing.T) string {
	t.Helper()
	if server.stop == nil {
		place, stop, err := testkit.Postgres()
		if errors.Is(err, testkit.ErrMissing) {
			t.Skip("PostgreSQL is not installed")
		}
		if err != nil {
			t.Fatal(err)
		}
		server.url, server.stop = place, stop
	}
	db, err := sql.Open("pgx", server.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	server.databases++
	name := fmt.Sprintf("test%d", server.databases)
	testkit.Eventually(t, "a database is made", func() bool { // the server may be starting
		_, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name)
		return err == nil
	})
	u, err := url.Parse(server.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
