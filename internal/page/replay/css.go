package replay

import (
	"bytes"
	"strings"

	"argosy/internal/crawl"
)

// CSS returns a style sheet with the URLs in it turned by to; base is what relative ones are relative to.
func CSS(sheet []byte, base crawl.URL, to To) []byte {
	var out bytes.Buffer
	out.Grow(len(sheet) + len(sheet)/8)
	imports := false // the next string is a URL
	for i := 0; i < len(sheet); {
		switch c := sheet[i]; {
		case c == '/' && i+1 < len(sheet) && sheet[i+1] == '*':
			end := bytes.Index(sheet[i+2:], []byte("*/"))
			if end < 0 {
				return out.Bytes()
			}
			i += end + 4
		case c == '"' || c == '\'':
			text, n := quoted(sheet[i:])
			if imports {
				write(&out, text, base, to, true)
				imports = false
			} else {
				out.Write(sheet[i : i+n])
			}
			i += n
		case c == ';' || c == '{' || c == '}':
			imports = false
			out.WriteByte(c)
			i++
		case c == '\\' && i+1 < len(sheet):
			out.Write(sheet[i : i+2])
			i += 2
		case has(sheet[i:], "@import"):
			imports = true
			out.Write(sheet[i : i+7])
			i += 7
		case has(sheet[i:], "url(") && (i == 0 || !wordy(sheet[i-1])):
			text, n, ok := argument(sheet[i+4:])
			if !ok {
				return out.Bytes()
			}
			write(&out, text, base, to, false)
			imports = false
			i += 4 + n
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.Bytes()
}

func wordy(c byte) bool {
	return c == '-' || c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func has(b []byte, word string) bool {
	return len(b) >= len(word) && strings.EqualFold(string(b[:len(word)]), word)
}

// quoted returns the text of a string and its length with its quotes. One that does not end ends with its line.
func quoted(b []byte) (text string, n int) {
	var out []byte
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == b[0]:
			return string(out), i + 1
		case c == '\n':
			return string(out), i
		case c == '\\' && i+1 < len(b):
			i++
			if b[i] != '\n' {
				out = append(out, b[i])
			}
		default:
			out = append(out, c)
		}
	}
	return string(out), len(b)
}

// argument returns the URL in the parentheses of url(), and its length with the closing one.
func argument(b []byte) (text string, n int, ok bool) {
	for n < len(b) && strings.IndexByte(" \t\n\r\f", b[n]) >= 0 {
		n++
	}
	if n < len(b) && (b[n] == '"' || b[n] == '\'') {
		text, k := quoted(b[n:])
		end := bytes.IndexByte(b[n+k:], ')')
		return text, n + k + end + 1, end >= 0
	}
	end := bytes.IndexByte(b[n:], ')')
	if end < 0 {
		return "", 0, false
	}
	return strings.ReplaceAll(strings.TrimRight(string(b[n:n+end]), " \t\n\r\f"), `\`, ""), n + end + 1, true
}

// write writes a URL as a string that nothing can end before its end.
func write(out *bytes.Buffer, ref string, base crawl.URL, to To, bare bool) {
	v, ok := turn(ref, base, to)
	if !ok {
		v = "about:invalid"
	}
	v = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\a `, "<", `\3c `).Replace(v)
	if bare {
		out.WriteString(`"` + v + `"`)
		return
	}
	out.WriteString(`url("` + v + `")`)
}
