package ledger

import (
	"errors"
	"strings"
	"testing"
)

// What is said of a database that cannot be opened has no password in it, wherever that stands in its URL.
func TestErrorsHaveNoPassword(t *testing.T) {
	for _, place := range []string{
		"postgres://argosy:secret@127.0.0.1:1/argosy?sslmode=disable",
		"postgres://argosy@127.0.0.1:1/argosy?sslmode=disable&password=secret",
		"postgres://argosy@127.0.0.1:1/argosy?sslmode=maybe&password=secret",
		"postgres://argosy:secret@127.0.0.1:port/argosy",
	} {
		_, err := OpenNow(t.Context(), place)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", place, err)
		}
		if wrong := strings.Contains(place, "maybe") || strings.Contains(place, ":port"); errors.Is(err, ErrPlace) != wrong {
			t.Errorf("%s: %v; it is bad input: %v", place, err, wrong)
		}
	}
}
