// Package child has the processes that tests and benchmarks start die with the one that started them, however that ends. It is apart from
// testkit because benchmarks link nothing else, and so that what one system alone can do stands in one place.
package child

import "os/exec"

// Bind has the process of a command killed when this one ends, where the system does that. It is to be called before the command is started.
func Bind(cmd *exec.Cmd) { bind(cmd) }
