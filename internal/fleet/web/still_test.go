package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
	"argosy/internal/testkit"
)

// files are the names and sizes of what lies in a directory, besides what a database keeps for itself.
func files(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path == outdir.Frontier(dir) {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			var i fs.FileInfo
			if i, err = d.Info(); err == nil {
				out[path] = i.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A fleet whose coordinator has ended is shown as it was left, without its bus; nothing can be ordered, and nothing changes.
func TestFleetAtRestIsShown(t *testing.T) {
	c := serve.DefaultConfig(t.TempDir())
	c.BusListen, c.MinFree, c.Logger = "127.0.0.1:0", 0, slog.New(slog.DiscardHandler)
	tok, err := access.FileToken(access.Operator, operators)
	if err != nil {
		t.Fatal(err)
	}
	c.Access.Tokens = []access.Token{tok}
	s, err := serve.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	h := web.Handler(s, web.Config{UserAgent: "t", Version: "v", Logger: c.Logger})
	testkit.Eventually(t, "the job is taken", func() bool {
		return ask(h, "POST", "/api/v1/jobs", operators, `{"name": "left", "seeds": ["http://a.test/", "http://b.test/"]}`).Code == http.StatusOK
	})
	if err := serve.Show(t.Context(), c.Dir, "", c.Logger, nil); !errors.Is(err, outdir.ErrInUse) {
		t.Errorf("while its coordinator works: %v", err)
	}
	stop()
	if err := errors.Join(<-done, s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(outdir.Bus(c.Dir)); err != nil { // it may be elsewhere
		t.Fatal(err)
	}
	before := files(t, c.Dir)
	err = serve.Show(t.Context(), c.Dir, "", c.Logger, func(_ context.Context, still *serve.Still) error {
		h := web.Handler(still, web.Config{Kind: web.KindOver, Logger: c.Logger, Who: func(string) (access.Who, bool) { return access.Who{Role: access.Operator, Name: "t"}, true }})
		var tasks []ledger.Task
		w := ask(h, "GET", "/api/v1/jobs/1/tasks", "x", "")
		if err := json.Unmarshal(w.Body.Bytes(), &tasks); err != nil || len(tasks) != 2 || tasks[0].Site != "a.test" {
			t.Errorf("tasks: %d %s", w.Code, w.Body)
		}
		for _, path := range []string{"/status", "/jobs", "/tasks/1", "/nodes", "/jobs/1/measurements", "/jobs/1/cells", "/jobs/1/timeline", "/jobs/1/pages", "/orders"} {
			if w := ask(h, "GET", "/api/v1"+path, "x", ""); w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		for _, path := range []string{"/jobs/1/pause", "/jobs/1/cancel", "/nodes/a/drain"} {
			if w := ask(h, "POST", "/api/v1"+path, "x", "{}"); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "argosy serve") {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		err := assemble.View(t.Context(), assemble.DefaultConfig(c.Dir), func(f *frontier.Frontier, running bool) error {
			if f.Job(1) == nil || running {
				t.Errorf("read beside: running %v", running)
			}
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	after := files(t, c.Dir)
	for path, size := range before {
		if after[path] != size {
			t.Errorf("%s has %d bytes, and had %d", path, after[path], size)
		}
	}
}
