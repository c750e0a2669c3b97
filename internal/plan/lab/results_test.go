package lab

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of somebody else's is refused and stays as it is, whether it ends with a line or not; one that was begun goes on.
func TestResultsOfOthersStay(t *testing.T) {
	t.Parallel()
	own, err := json.Marshal(header{Build()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		is    string
		taken bool
	}{
		{"", true},
		{string(own[:5]), true},
		{string(own) + "\n", true},
		{string(own) + "\n{\"kind\":\"eq", true},
		{`{"name":"mine","seeds":3}`, false},
		{"{\"name\":\"mine\"}\n", false},
		{"kind: throughput\nseeds: 3", false},
		{strings.Repeat("x", 100_000), false},
	} {
		name := filepath.Join(t.TempDir(), "mine.json")
		if err := os.WriteFile(name, []byte(c.is), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := openResults(name, func([]byte) error { return nil })
		if c.taken != (err == nil) || err != nil && !errors.Is(err, ErrResults) {
			t.Errorf("%.40q: %v", c.is, err)
		}
		if f != nil {
			_ = f.Close()
		}
		left, err := os.ReadFile(name)
		if want := map[bool]string{true: string(own) + "\n", false: c.is}[c.taken]; err != nil || string(left) != want {
			t.Errorf("%.40q is %.40q now", c.is, left)
		}
	}
}
