package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal opens a terminal of a size.
func pseudoTerminal(t *testing.T, columns, lines int) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(lines)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	return master, slave
}

// terminal is what a VT100 makes of what is written to it, as far as we use it (ECMA-48).
type terminal struct {
	columns, lines int
	cells          [][]rune
	row, col       int
	wraps, scrolls int
	frames         int // how often something was drawn over
	escape         string
}

func newTerminal(columns, lines int) *terminal {
	v := &terminal{columns: columns, lines: lines}
	for range lines {
		v.cells = append(v.cells, nil)
	}
	return v
}

func (v *terminal) down() {
	if v.row++; v.row == v.lines {
		v.row--
		v.scrolls++
		v.cells = append(v.cells[1:], nil)
	}
}

func (v *terminal) put(r rune) {
	if v.col >= v.columns {
		v.wraps++
		v.col = 0
		v.down()
	}
	for len(v.cells[v.row]) <= v.col {
		v.cells[v.row] = append(v.cells[v.row], ' ')
	}
	v.cells[v.row][v.col] = r
	v.col += cellsOf(r)
}

func (v *terminal) write(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		switch {
		case v.escape != "":
			if v.escape += string(r); len(v.escape) > 2 && r >= '@' && r <= '~' {
				v.control(t)
			}
		case r == '\x1b':
			v.escape = "\x1b"
		case r == '\r':
			v.col = 0
		case r == '\n':
			v.down()
		default:
			v.put(r)
		}
	}
}

func (v *terminal) control(t *testing.T) {
	t.Helper()
	s := v.escape[2:]
	v.escape = ""
	switch s[len(s)-1] {
	case 'A':
		n, _ := strconv.Atoi(s[:len(s)-1])
		if v.row -= n; v.row < 0 {
			t.Errorf("the cursor goes %d lines above the screen", -v.row)
			v.row = 0
		}
		v.frames++
	case 'K':
		v.cells[v.row] = v.cells[v.row][:min(v.col, len(v.cells[v.row]))]
	case 'J':
		v.cells[v.row] = v.cells[v.row][:min(v.col, len(v.cells[v.row]))]
		for i := v.row + 1; i < v.lines; i++ {
			v.cells[i] = nil
		}
	default:
		t.Errorf("unknown control sequence %q", s)
	}
}

func (v *terminal) text() string {
	var b strings.Builder
	for _, l := range v.cells {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return b.String()
}

// On a terminal of any width no line wraps, nothing scrolls once the panel stands there, and after Ctrl-C its last picture
// stays.
func TestPanelOnTerminal(t *testing.T) {
	for _, columns := range []int{60, 80, 120, 200} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			site := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				for i := range 10 {
					fmt.Fprintf(w, `<a href="%s/%d">x</a>`, strings.TrimSuffix(r.URL.Path, "/"), i)
				}
			})
			master, slave := pseudoTerminal(t, columns, 40)
			c := process(t, "crawl", site, "nosuch.invalid", "-o", "a-crawl", "--allow-private", "--delay", "20ms", "--resolve", "nosuch.invalid=127.0.0.1")
			c.Dir = t.TempDir() // a name of any length would not fit
			c.Env = append(c.Env, "TERM=xterm")
			c.Stdout, c.Stderr = slave, slave
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			_ = slave.Close()
			v, once, first := newTerminal(columns, 40), sync.Once{}, -1
			b := make([]byte, 64<<10)
			var all strings.Builder
			for {
				n, err := master.Read(b)
				all.Write(b[:n])
				v.write(t, string(b[:n]))
				if v.frames == 2 && first < 0 {
					first = v.scrolls
				}
				if v.frames >= 4 && strings.Contains(v.text(), "BUSIEST") {
					once.Do(func() { _ = c.Process.Signal(syscall.SIGINT) })
				}
				if err != nil { // EIO: nobody has it open any more
					break
				}
			}
			err := c.Wait()
			if code := c.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("exit %d, %v", code, err)
			}
			text := v.text()
			if v.wraps > 0 {
				t.Errorf("%d lines wrapped", v.wraps)
			}
			for _, want := range []string{"fetched ·", "pending", "BUSIEST", "interrupted after", "goes on"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if !strings.Contains(all.String(), "interrupt again") {
				t.Error("nothing is said of the interrupt")
			}
			panel, _, _ := strings.Cut(all.String(), "interrupted after")
			under := newTerminal(columns, 40)
			under.write(t, panel)
			if under.wraps > 0 || under.scrolls > max(0, first) {
				t.Errorf("%d lines wrapped, %d scrolled", under.wraps, under.scrolls)
			}
			if t.Failed() {
				t.Log(text)
			}
			_, _ = io.Copy(io.Discard, master)
		})
	}
}
