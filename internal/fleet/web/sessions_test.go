package web_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/web"
)

// Sessions go on with another process that has the same file, as long as they were not ended and their token is good. The file has none of
// their secrets.
func TestSessionsOutliveTheProcess(t *testing.T) {
	s, _, _ := lead(t)
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	path := filepath.Join(t.TempDir(), "sessions.json")
	const token = "a-token-that-nobody-else-has"
	good := true
	process := func() (*web.Door, *browser) {
		door := web.NewDoor()
		door.Keep(path, log)
		h := web.Handler(s, web.Config{UserAgent: "t", Version: "v", Door: door, Who: func(text string) (access.Who, bool) {
			return access.Who{Role: access.Observer, Name: "of a token"}, good && text == token
		}})
		return door, &browser{t: t, h: h, host: "127.0.0.1:8480"}
	}
	door, first := process()
	enter := func(with string) *browser {
		b := &browser{t: t, h: first.h, host: first.host}
		if got := b.ask("POST", "/api/v1/session", with, nil).Code; got != 200 {
			t.Fatalf("entering: %d", got)
		}
		return b
	}
	operator := enter(fmt.Sprintf(`{"code":%q}`, door.Code(access.Who{Role: access.Operator, Name: "op"})))
	left := enter(fmt.Sprintf(`{"code":%q}`, door.Code(access.Who{Role: access.Operator, Name: "op"})))
	byToken := enter(fmt.Sprintf(`{"token":%q}`, token))
	if got := left.ask("POST", "/api/v1/session/end", "{}", nil).Code; got != 200 {
		t.Fatalf("leaving: %d", got)
	}
	unused := door.Code(access.Who{Role: access.Operator, Name: "op"})
	door.Close()

	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, secret := range []string{operator.cookies[0].Value, operator.page, byToken.cookies[0].Value, byToken.page, token, unused} {
		if strings.Contains(string(kept), secret) {
			t.Errorf("the file has the secret %s", secret)
		}
	}

	again, second := process()
	for _, b := range []*browser{operator, left, byToken} {
		b.h = second.h
	}
	status := func(b *browser, more map[string]string) int { return b.ask("GET", "/api/v1/status", "", more).Code }
	if a, b, c := status(operator, nil), status(byToken, nil), status(left, nil); a != 200 || b != 200 || c != 401 {
		t.Errorf("after the restart: %d, by a token %d, of one that had left %d", a, b, c)
	}
	if got := status(operator, map[string]string{"Argosy-Page": byToken.page}); got != 401 {
		t.Errorf("with another page's key: %d", got)
	}
	if a, b := operator.ask("POST", "/api/v1/jobs/9/pause", "{}", nil).Code, byToken.ask("POST", "/api/v1/jobs/9/pause", "{}", nil).Code; a != 404 || b != 403 {
		t.Errorf("orders: %d as an operator, %d as an observer", a, b)
	}
	if got := second.ask("POST", "/api/v1/session", fmt.Sprintf(`{"code":%q}`, unused), nil).Code; got != 401 {
		t.Errorf("a code of the process before: %d", got)
	}
	good = false
	if got := status(byToken, nil); got != 401 {
		t.Errorf("when the token is revoked: %d", got)
	}

	again.Close()
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, third := process()
	operator.h = third.h
	if got := status(operator, nil); got != 401 {
		t.Errorf("with a file that is damaged: %d", got)
	}
	if strings.Count(said.String(), "level=WARN") != 1 {
		t.Errorf("of which is said %q", said.String())
	}
}
