package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"argosy/bench/process"
)

// Linux's order to a file system of ext4 to stop at once (fs/ext4/ext4.h): with goNoFlush what is not on the disk yet is lost, as if the power
// had been cut.
const (
	ext4Shutdown = 0x8004587d
	goNoFlush    = 2
)

// diskSize is how large the disks are of whom the power is cut; their files have holes.
const diskSize = 1 << 30

// disk is a file system in a file.
type disk struct{ image, dir string }

// openDisk makes a disk for a directory.
func (f *fleet) openDisk(name string) error {
	d := &disk{filepath.Join(f.dir, name+".img"), filepath.Join(f.dir, name)}
	if os.Getuid() != 0 {
		return fmt.Errorf("%w: a disk of its own takes root", errSkipped)
	}
	file, err := os.Create(d.image)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Truncate(diskSize), file.Close(), os.MkdirAll(d.dir, 0o755)); err != nil {
		return err
	}
	if out, err := exec.Command("mkfs.ext4", "-q", d.image).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: mkfs.ext4: %s", errSkipped, out)
	}
	if err := d.mount(); err != nil {
		return fmt.Errorf("%w: %w", errSkipped, err)
	}
	f.disks = append(f.disks, d)
	f.cleanup = append(f.cleanup, func() { _ = exec.Command("umount", "-l", d.dir).Run() })
	return nil
}

func (d *disk) mount() error {
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %s", out)
	}
	return nil
}

// cut cuts the power of a disk and of the process that works on it, and turns it on again: what was not synced is gone.
func (d *disk) cut(p *process.Process) error {
	dir, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	err = unix.IoctlSetPointerInt(int(dir.Fd()), ext4Shutdown, goNoFlush)
	if err = errors.Join(err, dir.Close()); err != nil {
		return fmt.Errorf("stop the file system: %w", err)
	}
	p.End(syscall.SIGKILL)
	if out, err := exec.Command("umount", d.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("umount: %s", out)
	}
	return d.mount()
}

// cutPower cuts the power of the coordinator's machine and of an agent's, four times each.
func cutPower(ctx context.Context, f *fleet) error {
	for range 4 {
		for i, p := range []*process.Process{f.coordinators[0], f.agents[0]} {
			if err := f.disks[i].cut(p); err != nil {
				return err
			}
			if err := p.Start(); err != nil {
				return err
			}
			if err := pause(ctx, f.term()); err != nil {
				return err
			}
		}
	}
	return f.lives()
}
