package assemble_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
)

// A new directory gets its number at once; what another version has made is refused before anything in it is touched.
func TestFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string // in the error; empty: none
	}{
		"new":            {nil, ""},
		"this version's": {map[string]string{outdir.FormatFile: `{"format":1,"version":"0.1.0"}`, outdir.LedgerFile: ""}, ""},
		"newer":          {map[string]string{outdir.FormatFile: `{"format":2,"version":"0.9.1","more":true}`}, `argosy "0.9.1" made it, in format 2`},
		"before 0.1.0":   {map[string]string{outdir.LedgerFile: ""}, "by an argosy before 0.1.0"},
		"a frontier":     {map[string]string{"state/frontier/x": ""}, "by an argosy before 0.1.0"},
		"damaged":        {map[string]string{outdir.FormatFile: `{"format":`}, "This mends it"},
		"no number":      {map[string]string{outdir.FormatFile: `{"version":"1"}`}, "This mends it"},
		"empty":          {map[string]string{outdir.FormatFile: ""}, "This mends it"},
		"negative":       {map[string]string{outdir.FormatFile: `{"format":-1}`}, "This mends it"},
		"odd version":    {map[string]string{outdir.FormatFile: `{"format":7,"version":"\u001b[2J` + strings.Repeat("x", 5000) + `"}`}, `argosy "\x1b[2J` + strings.Repeat("x", 36) + `" made it`},
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
				cr, err := assemble.Open(t.Context(), assemble.DefaultConfig(dir))
				if err == nil {
					err = cr.Close()
				}
				return err
			}
			server := func() error {
				sc := serve.DefaultConfig(dir)
				sc.BusListen = ""
				s, err := serve.Open(t.Context(), sc)
				if err == nil {
					err = s.Close()
				}
				return err
			}
			if c.want == "" {
				if err := errors.Join(outdir.CheckFormat(dir), open(), outdir.CheckFormat(dir), open()); err != nil {
					t.Error(err)
				}
				if b, err := os.ReadFile(filepath.Join(dir, outdir.FormatFile)); err != nil || string(b) != `{"format":1,"version":"`+outdir.Version+"\"}\n" && c.files == nil {
					t.Errorf("%s: %v", b, err)
				}
				return
			}
			for _, err := range []error{outdir.CheckFormat(dir), open(), server()} {
				if !errors.Is(err, outdir.ErrFormat) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %s", err, c.want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "state", "bus")); err == nil {
				t.Error("the directory was written to")
			}
		})
	}
}
