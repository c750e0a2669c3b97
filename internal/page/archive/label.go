package archive

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what names and labels archives, in bytes.
const (
	maxPrefix = 64
	maxLabel  = 256
)

// CheckPrefix returns an error unless a name can begin the names of archives.
func CheckPrefix(s string) error {
	ok := len(s) > 0 && len(s) <= maxPrefix && s[0] != '.' && s[0] != '-'
	for _, c := range []byte(s) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.", c) >= 0)
	}
	if !ok {
		return fmt.Errorf("%.80q begins no name of an archive: allowed are 1 to %d letters, digits, -, _ and ., the first a letter, a digit or _", s, maxPrefix)
	}
	return nil
}

// CheckLabel returns an error unless a text can be a value in a warcinfo record.
func CheckLabel(s string) error {
	if len(s) > maxLabel || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
		return fmt.Errorf("%.80q: allowed is one line of at most %d bytes, without control characters and blanks at its ends", s, maxLabel)
	}
	return nil
}
