package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fleet is a coordinator and its nodes, as processes.
type fleet struct {
	dir  string
	link string
	all  []*exec.Cmd
}

// startFleet starts a coordinator and two nodes in a directory.
func startFleet(argosy, dir string) (*fleet, error) {
	f := &fleet{dir: dir}
	said, err := f.start(argosy, "serve", "-o", filepath.Join(dir, "fleet"), "--listen", "127.0.0.1:0", "--bus-listen", "127.0.0.1:0", "--log-level", "error", "--min-free", "0", "--explain-log", f.decisions(), "--socket", filepath.Join(dir, "s", "api"))
	if err != nil {
		return f, err
	}
	for end := time.After(patience); f.link == ""; {
		select {
		case line := <-said:
			if at := strings.Index(line, "http"); at >= 0 && strings.Contains(line, "#code=") {
				f.link = strings.Fields(line[at:])[0]
			}
		case <-end:
			return f, errors.New("argosy serve prints no link")
		}
	}
	for name, lat := range map[string]string{"north": "59.9", "south": "-33.9"} {
		if _, err := f.start(argosy, "agent", "--label", "lat="+lat, "--label", "lon=18.4", "--join", "unix:"+filepath.Join(dir, "s", "api"), "--store", filepath.Join(dir, "fleet", "warc"), "--key", filepath.Join(dir, name+".key"), "--name", name, "--allow-private", "--log-level", "error"); err != nil {
			return f, err
		}
	}
	return f, nil
}

// decisions is the file of the coordinator's decisions.
func (f *fleet) decisions() string { return filepath.Join(f.dir, "decisions.jsonl") }

// start starts a process; what it says comes line by line.
func (f *fleet) start(argosy string, args ...string) (<-chan string, error) {
	c := exec.Command(argosy, args...)
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.Stdout, c.Stderr = w, w
	err = c.Start()
	_ = w.Close() // the process has its own
	if err != nil {
		return nil, err
	}
	f.all = append(f.all, c)
	lines := make(chan string, 1000)
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			select {
			case lines <- s.Text():
			default: // nobody listens any more
			}
		}
	}()
	return lines, nil
}

// stop ends the processes.
func (f *fleet) stop() {
	for i := len(f.all) - 1; i >= 0; i-- {
		_ = f.all[i].Process.Signal(syscall.SIGTERM)
	}
	for _, c := range f.all {
		done := make(chan struct{})
		go func() { _ = c.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = c.Process.Kill()
			<-done
		}
	}
}
