package webs

import (
	"io"
	"log"
)

// quiet is a logger for servers that are meant to meet broken connections.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
