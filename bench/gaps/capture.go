package main

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"argosy/internal/testkit/child"
)

// capture is a packet capture of what goes to some sites and comes from them, on the loopback device.
type capture struct {
	cmd   *exec.Cmd
	file  string
	sites []*site
}

// begin begins a capture, and returns when it is under way.
func begin(file string, sites []*site) (*capture, error) {
	filter := make([]string, len(sites))
	for i, s := range sites {
		filter[i] = "tcp port " + strconv.Itoa(s.port)
	}
	c := &capture{cmd: exec.Command("dumpcap", "-i", "lo", "-B", "64", "-f", strings.Join(filter, " or "), "-w", file), file: file, sites: sites}
	child.Bind(c.cmd)
	said, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w (Debian: tshark)", err)
	}
	lines := bufio.NewScanner(said)
	var last string
	for lines.Scan() {
		if last = lines.Text(); strings.HasPrefix(last, "File: ") { // it says so when packets are taken
			go func() {
				for lines.Scan() { // how many it has
				}
			}()
			return c, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("dumpcap: %s", last), c.cmd.Wait())
}

// end ends the capture and returns when requests were on the wire, by port. Connections are decrypted with the keys in a file.
func (c *capture) end(keys string) (map[int][]time.Time, error) {
	time.Sleep(time.Second) // dumpcap takes packets from the kernel in heaps
	if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return nil, err
	}
	if err := c.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("dumpcap: %w", err)
	}
	args := []string{"-r", c.file, "-o", "tls.keylog_file:" + keys, "-o", "tcp.desegment_tcp_streams:TRUE", "-Y", "http.request or http2.headers.method",
		"-T", "fields", "-e", "frame.time_epoch", "-e", "tcp.dstport", "-e", "http.request.uri", "-e", "http2.headers.path"}
	for _, s := range c.sites {
		as := "http"
		if s.overTLS() {
			as = "tls"
		}
		args = append(args, "-d", fmt.Sprintf("tcp.port==%d,%s", s.port, as))
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("tshark: %w", err)
	}
	seen := map[int][]time.Time{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) < 4 {
			return nil, fmt.Errorf("tshark: %q", line)
		}
		sec, frac, _ := strings.Cut(f[0], ".")
		s, err1 := strconv.ParseInt(sec, 10, 64)
		ns, err2 := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
		port, err3 := strconv.Atoi(f[1])
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, fmt.Errorf("tshark: %q: %w", line, err)
		}
		for range strings.Split(f[2]+f[3], ",") { // several in one packet
			seen[port] = append(seen[port], time.Unix(s, ns))
		}
	}
	return seen, nil
}
