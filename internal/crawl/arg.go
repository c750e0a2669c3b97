package crawl

import (
	"path/filepath"
	"regexp"
	"strings"
)

// plain matches what has no meaning of its own to a shell.
var plain = regexp.MustCompile(`^[\pL\pN_@%+=:,./~-]+$`)

// Arg returns a path as somebody types it who copies a command: quoted where a shell would take it apart (POSIX, XCU 2.2.2), and
// never as if it were a flag.
func Arg(path string) string {
	if path = filepath.Clean(path); path[0] == '-' || path[0] == '~' {
		path = "./" + path
	}
	if plain.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
