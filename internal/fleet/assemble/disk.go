package assemble

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/usage"
)

// ErrDiskFull says that there is no room left where the crawl keeps what it has.
var ErrDiskFull = errors.New("the disk is full")

// probeBytes is what a disk that is not full takes at least: about what the bus sets aside for a block of its log.
const probeBytes = 8 << 20

// DiskFull turns an error of a crawl into one that says that its disk is full, if it is: on a small one the bus is the first
// that cannot write, and all that is heard of it is that it does not answer.
func DiskFull(dir string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, outdir.ErrInUse) || errors.Is(err, outdir.ErrOtherJob) || errors.Is(err, outdir.ErrFormat) {
		return err
	}
	if !noRoom(err) && !noRoom(fill(dir)) {
		return err
	}
	return fmt.Errorf("%s: %w (%w); nothing is lost: make room, and argosy crawl -o %s goes on", dir, ErrDiskFull, err, crawl.Arg(dir))
}

func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// fill writes a file, to see whether there is room, and removes it. What is written is random: some disks compress.
func fill(dir string) error {
	f, err := os.CreateTemp(dir, ".room-")
	if err != nil {
		return err
	}
	named := os.Remove(f.Name()) != nil // where open files have to be named it stays if the process is killed
	b := make([]byte, probeBytes)
	_, _ = rand.Read(b) // never fails
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// room watches how much a disk has left. What is open counts as well: bodies are spooled where archives are.
type room struct {
	dir       string
	least     int64
	low, gone chan struct{} // closed when less than least, and less than half of it, is left
}

func newRoom(dir string, least int64) *room {
	return &room{dir: dir, least: least, low: make(chan struct{}), gone: make(chan struct{})}
}

// watch looks four times a second, until ctx ends or there is too little.
func (r *room) watch(ctx context.Context) {
	t := time.NewTicker(250 * time.Millisecond)
	defer t.Stop()
	for low := false; ; {
		free, known := usage.Free(r.dir)
		if !known {
			return
		}
		if free < r.least && !low {
			low = true
			close(r.low)
		}
		if free < r.least/2 {
			close(r.gone)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// err says that there was too little; nil if there was enough.
func (r *room) err() error {
	select {
	case <-r.low:
		return fmt.Errorf("%s: %w: less than the %d MiB that are to stay free (--min-free); nothing is lost: make room, and argosy crawl -o %s goes on",
			r.dir, ErrDiskFull, r.least>>20, crawl.Arg(r.dir))
	default:
		return nil
	}
}
