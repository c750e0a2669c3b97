package serve

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/outdir"
)

// checkpointName is the object that holds the view of the only shard: one for each format, so that a coordinator of another
// version finds none rather than one that it does not read.
var checkpointName = fmt.Sprintf("frontier-0-format-%d", outdir.Format)

const checkpointPoll = 5 * time.Second

// checkpoints stores a checkpoint of the view whenever the log has grown enough since the last: a coordinator on another
// machine starts from it, and the log may forget what is before it.
func (s *Server) checkpoints(ctx context.Context, co *coordinator.Coordinator) error {
	last := s.floor.Load()
	t := time.NewTicker(checkpointPoll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if co.Status().Applied < last+s.cfg.Checkpoint {
			continue
		}
		seq, err := s.checkpoint(ctx, co)
		if err != nil {
			if ctx.Err() == nil {
				s.cfg.Logger.Warn("checkpoint not stored", "error", err)
			}
			continue
		}
		last = seq
		s.floor.Store(seq)
		s.cfg.Logger.Info("checkpoint stored", "seq", seq)
	}
}

// checkpoint takes a snapshot of the view, which costs next to nothing, and stores it while the loop goes on.
func (s *Server) checkpoint(ctx context.Context, co *coordinator.Coordinator) (seq uint64, err error) {
	dir := filepath.Join(outdir.State(s.cfg.Dir), "checkpoint")
	if err := os.RemoveAll(dir); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	err = co.View(ctx, func(f *frontier.Frontier) error {
		seq = f.Position().Seq
		return f.Checkpoint(dir)
	})
	if err != nil {
		return 0, err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(pack(dir, w)) }()
	return seq, errors.Join(s.client.PutCheckpoint(ctx, checkpointName, seq, r), r.Close())
}

func pack(dir string, w io.Writer) error {
	tw := tar.NewWriter(w)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := packFile(tw, filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return tw.Close()
}

func packFile(tw *tar.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := tw.WriteHeader(&tar.Header{Name: filepath.Base(path), Mode: 0o600, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(tw, io.LimitReader(f, info.Size()))
	return err
}

// restore replaces the view by the last checkpoint.
func (s *Server) restore(ctx context.Context) (seq uint64, err error) {
	r, seq, err := s.client.Checkpoint(ctx, checkpointName)
	if err != nil {
		if errors.Is(err, bus.ErrNoCheckpoint) {
			return 0, fmt.Errorf("%w: start this coordinator with the directory of one that has led", err)
		}
		return 0, err
	}
	defer r.Close()
	dir := outdir.Frontier(s.cfg.Dir) + ".new"
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return 0, err
	}
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("checkpoint: %w", err)
		}
		if h.Name != filepath.Base(h.Name) || strings.HasPrefix(h.Name, ".") {
			return 0, fmt.Errorf("checkpoint: odd file name %q", h.Name)
		}
		if err := unpackFile(filepath.Join(dir, h.Name), tr); err != nil {
			return 0, err
		}
	}
	s.floor.Store(seq)
	return seq, errors.Join(os.RemoveAll(outdir.Frontier(s.cfg.Dir)), os.Rename(dir, outdir.Frontier(s.cfg.Dir)))
}

func unpackFile(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Sync(), f.Close())
}

// answer answers other processes of the same user: "checkpoint DIR" makes a copy of the view there.
func (s *Server) answer(ctx context.Context, question string) error {
	dir, ok := strings.CutPrefix(question, outdir.Checkpoint)
	if !ok {
		return outdir.ErrQuestion
	}
	co, err := s.Leader()
	if err != nil {
		return err
	}
	return co.View(ctx, func(f *frontier.Frontier) error { return f.Checkpoint(dir) })
}
