package assemble

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/frontier"
)

// Identity is a node's name and the key that it is known by. They lie in a file, which one process has at a time.
type Identity struct {
	Name string
	Key  bus.NodeKey

	path   string
	lock   io.Closer
	chosen bool // the name was made here: it may be another
}

// ErrRuns says that another process has a node's key.
var ErrRuns = errors.New("this node runs already: another process has its key")

const keySuffix = ".key"

// NamedIdentity opens the identity of a node by its name: in a file, or, where that is empty, in one of a directory. It makes the key
// if it is not there.
func NamedIdentity(dir, name, file string) (*Identity, error) {
	if err := bus.CheckNode(name); err != nil {
		return nil, err
	}
	if file == "" {
		file = filepath.Join(dir, name+keySuffix)
	}
	id := &Identity{Name: name, path: file}
	return id, id.open()
}

// AnyIdentity opens the identity of a node without a name: the first in a directory that no process has, or a new one, named after
// the host.
func AnyIdentity(dir, host string) (*Identity, error) {
	if err := bus.CheckNode(host); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), keySuffix); ok && crawl.ValidNode(name) && (name == host || strings.HasPrefix(name, host+"-")) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	for n := 1; n <= maxBeside; n++ { // then names that nobody has here
		name := host
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		id := &Identity{Name: name, path: filepath.Join(dir, name+keySuffix), chosen: true}
		if err := id.open(); !errors.Is(err, ErrRuns) {
			return id, err
		}
	}
	return nil, fmt.Errorf("%s: %d agents run with keys there: use another directory, or --name", dir, len(names))
}

// maxBeside bounds how many new names are tried of agents that run beside each other.
const maxBeside = 1000

func (id *Identity) open() error {
	if err := os.MkdirAll(filepath.Dir(id.path), 0o700); err != nil {
		return err
	}
	var err error
	if id.lock, err = frontier.Lock(id.path + ".lock"); err != nil {
		return fmt.Errorf("node %s (%s): %w", id.Name, id.path, ErrRuns)
	}
	if id.Key, err = bus.LoadNodeKey(id.path); err != nil {
		return errors.Join(err, id.lock.Close())
	}
	return nil
}

// Rename gives a node another name, because the one that was made for it is another's elsewhere: the host's, and what its key begins
// with. False if a person has chosen the name, or it is that one already.
func (id *Identity) Rename(host string) (bool, error) {
	key := strings.ToLower(id.Key.Public())
	next := host[:min(len(host), 48)] + "-" + key[1:9]
	if !id.chosen || next == id.Name {
		return false, nil
	}
	path := filepath.Join(filepath.Dir(id.path), next+keySuffix)
	lock, err := frontier.Lock(path + ".lock")
	if err != nil {
		return false, err
	}
	if err := os.Rename(id.path, path); err != nil {
		return false, errors.Join(err, lock.Close())
	}
	err = id.lock.Close()
	id.Name, id.path, id.lock = next, path, lock
	return true, err
}

// Close lets another process have it.
func (id *Identity) Close() error { return id.lock.Close() }
