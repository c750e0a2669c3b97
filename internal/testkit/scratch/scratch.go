// Package scratch puts the directories of a package's tests where they cost least. What is tested is what files say after a kill or
// a damage, and that is the same in memory; waiting for a disk, and the kernel's work for it, was a quarter of such tests.
// It is apart from testkit because tests of light packages link nothing else.
package scratch

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"argosy/internal/testkit/seeds"
)

// gcPercent is how far the heap grows before it is collected: what such tests hold is small and short-lived, and a fifth of the processor time
// of some was the collector's.
const gcPercent = 400

// long begins the names of tests that do not belong to what people wait for: each takes seconds, and holds a rule in the whole product of
// which smaller tests hold the parts. They run where -run says which tests to run (make long), and at night.
const long = "^TestLong"

const (
	memory = "/dev/shm" // a file system in memory, where there is one
	prefix = "argosy-test-"
	least  = 4 << 30 // bytes that are free there: the largest package needs a twentieth, and crawls of the tests leave a gigabyte free
)

// waiting is how many tests that are parallel run at once for each core: they wait most of the time, for delays, disks, processes and silence.
const waiting = 4

// Run runs the tests of a package with their directories in memory, where there is room for them; at night they are on the disk. Their heap
// is collected seldom; those that are parallel run at once although they are more than the cores. Those whose names begin with TestLong are left out unless they are asked for. It calls after when the tests have
// ended, and returns what os.Exit is told.
func Run(m *testing.M, after ...func()) int {
	flag.Parse()
	if run, skip := flag.Lookup("test.run"), flag.Lookup("test.skip"); run.Value.String() == "" && skip.Value.String() == "" && !seeds.Many() {
		_ = skip.Value.Set(long)
	}
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(strconv.Itoa(waiting * runtime.GOMAXPROCS(0)))
	}
	dir, err := prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	debug.SetGCPercent(gcPercent)
	if _, ok := os.LookupEnv("GOGC"); !ok {
		_ = os.Setenv("GOGC", strconv.Itoa(gcPercent)) // of the processes that the tests start
	}
	code := m.Run()
	for _, stop := range after {
		stop()
	}
	if dir == "" {
		return code
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// prepare makes the directory and names it to this process and those that it starts; "" when the usual one is used.
func prepare() (string, error) {
	if seeds.Many() || strings.HasPrefix(os.TempDir(), memory) || free(memory) < least {
		return "", nil
	}
	old, err := filepath.Glob(filepath.Join(memory, prefix+"*"))
	if err != nil {
		return "", err
	}
	for _, dir := range old {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && !alive(pid) {
			_ = os.RemoveAll(dir) // of tests that were killed; another user's stays
		}
	}
	dir, err := os.MkdirTemp(memory, prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // servers that tests start run as other users
		return "", err
	}
	return dir, os.Setenv("TMPDIR", dir)
}
