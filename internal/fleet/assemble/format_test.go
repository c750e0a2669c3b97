package assemble

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A new directory gets its number at once; what another version has made is refused before anything in it is touched.
func TestFormat(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // in the error; empty: none
	}{
		"new":            {nil, ""},
		"this version's": {map[string]string{FormatFile: `{"format":1,"version":"0.1.0"}`, LedgerFile: ""}, ""},
		"newer":          {map[string]string{FormatFile: `{"format":2,"version":"0.9.1","more":true}`}, `argosy "0.9.1" made it, in format 2`},
		"before 0.1.0":   {map[string]string{LedgerFile: ""}, "by an argosy before 0.1.0"},
		"a frontier":     {map[string]string{"state/frontier/x": ""}, "by an argosy before 0.1.0"},
		"damaged":        {map[string]string{FormatFile: `{"format":`}, "want {"},
		"no number":      {map[string]string{FormatFile: `{"version":"1"}`}, "want {"},
		"empty":          {map[string]string{FormatFile: ""}, "want {"},
		"negative":       {map[string]string{FormatFile: `{"format":-1}`}, "want {"},
		"odd version":    {map[string]string{FormatFile: `{"format":7,"version":"\u001b[2J` + strings.Repeat("x", 5000) + `"}`}, `argosy "\x1b[2J` + strings.Repeat("x", 36) + `" made it`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			open := func() error {
				cr, err := Open(t.Context(), DefaultConfig(dir))
				if err == nil {
					err = cr.Close()
				}
				return err
			}
			serve := func() error {
				sc := DefaultServeConfig(dir)
				sc.BusListen = ""
				s, err := OpenServer(t.Context(), sc)
				if err == nil {
					err = s.Close()
				}
				return err
			}
			if c.want == "" {
				if err := errors.Join(CheckFormat(dir), open(), CheckFormat(dir), open()); err != nil {
					t.Error(err)
				}
				if b, err := os.ReadFile(filepath.Join(dir, FormatFile)); err != nil || string(b) != `{"format":1,"version":"`+Version+"\"}\n" && c.files == nil {
					t.Errorf("%s: %v", b, err)
				}
				return
			}
			for _, err := range []error{CheckFormat(dir), open(), serve()} {
				if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %s", err, c.want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "state", "bus")); err == nil {
				t.Error("the directory was written to")
			}
		})
	}
}
