package lab

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
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

// Results of a program that was changed are not taken for those of the one before, whether its commit tells that or not.
func TestBuildTellsProgramsApart(t *testing.T) {
	sum := func() string { return "sum" }
	for want, info := range map[string]debug.BuildInfo{
		"v1.2.3":               {Main: debug.Module{Version: "v1.2.3"}},
		"(devel) sum":          {Main: debug.Module{Version: "(devel)"}},
		"unknown sum":          {},
		"(devel) f0f0 false":   {Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "f0f0"}, {Key: "vcs.modified", Value: "false"}}},
		"v0.0.0 f0f0 true sum": {Main: debug.Module{Version: "v0.0.0"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "f0f0"}, {Key: "vcs.modified", Value: "true"}}},
	} {
		if got := build(&info, sum); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if sum := ownSum(); len(sum) != 12 {
		t.Errorf("the sum of this program is %q", sum)
	}
}
