// Package process starts, stops and kills the processes that benchmarks play with, and starts them again.
package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"argosy/internal/testkit/child"
)

// Process is a process that can be started again. It dies with the one that started it.
type Process struct {
	Args []string
	Pre  []string // what it runs under, as a command and its arguments
	Log  string   // file to which it writes
	Cmd  *exec.Cmd
	Done chan error // how it ended
}

// Start starts it.
func (p *Process) Start() error {
	args := append(append([]string(nil), p.Pre...), p.Args...)
	p.Cmd = exec.Command(args[0], args[1:]...)
	child.Bind(p.Cmd)
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.Cmd.Stdout, p.Cmd.Stderr = log, log
	if err := p.Cmd.Start(); err != nil {
		return err
	}
	p.Done = make(chan error, 1)
	go func(c *exec.Cmd, done chan error) { done <- c.Wait() }(p.Cmd, p.Done)
	return nil
}

// Signal sends it a signal.
func (p *Process) Signal(s syscall.Signal) { _ = p.Cmd.Process.Signal(s) }

// End ends it by a signal and waits; it kills what does not leave by itself within ten seconds. One that was not started stays so.
func (p *Process) End(s syscall.Signal) {
	if p == nil || p.Cmd == nil {
		return
	}
	p.Signal(s)
	select {
	case <-p.Done:
	case <-time.After(10 * time.Second):
		p.Signal(syscall.SIGKILL)
		<-p.Done
	}
	p.Cmd = nil
}
