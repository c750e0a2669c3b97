package main

import (
	"github.com/spf13/cobra"

	"argosy/internal/page/archive"
)

// Limits of --warc-size, in bytes.
const (
	minWARC = 64 << 10
	maxWARC = 1 << 40
)

// warcFlags say what archives are called, how large they get and what they say of who made them.
type warcFlags struct{ size, prefix, operator string }

func (f *warcFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.size, "warc-size", "1G", "begin another WARC file after so many bytes, 64K to 1T (a record is never split)")
	fl.StringVar(&f.prefix, "warc-prefix", "argosy", "of the names of WARC files: letters, digits, -, _ and .")
	fl.StringVar(&f.operator, "operator", "", "who crawls, and how to reach them: noted in each WARC file (sites see --user-agent only)")
}

// check reads the flags and returns the size in bytes.
func (f *warcFlags) check() (size int64, err error) {
	if size, err = parseSize("--warc-size", f.size); err != nil {
		return 0, err
	}
	if size < minWARC || size > maxWARC {
		return 0, usage("--warc-size %s: allowed are 64K to 1T", f.size)
	}
	if err := archive.CheckPrefix(f.prefix); err != nil {
		return 0, usage("--warc-prefix: %w", err)
	}
	if err := archive.CheckLabel(f.operator); err != nil {
		return 0, usage("--operator: %w", err)
	}
	return size, nil
}
