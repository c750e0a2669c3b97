package replay

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"argosy/internal/crawl"
)

// CSS writes a style sheet with the URLs in it turned by to; base is what relative ones are relative to. It ends when the writer fails.
func CSS(w io.Writer, sheet []byte, base crawl.URL, to To) error {
	out := bufio.NewWriter(w)
	if err := css(out, sheet, base, to); err != nil {
		return err
	}
	return out.Flush()
}

// css is CSS. What is written has nothing in it that could begin a tag.
func css(out *bufio.Writer, sheet []byte, base crawl.URL, to To) (err error) {
	imports := false // the next string is a URL
	for i := 0; i < len(sheet) && err == nil; {
		switch c := sheet[i]; {
		case c == '/' && i+1 < len(sheet) && sheet[i+1] == '*':
			end := bytes.Index(sheet[i+2:], []byte("*/"))
			if end < 0 {
				return nil
			}
			i += end + 4
		case c == '"' || c == '\'':
			text, n := quoted(sheet[i:])
			if imports {
				err = write(out, text, base, to, true)
				imports = false
			} else {
				err = plain(out, sheet[i:i+n])
			}
			i += n
		case c == ';' || c == '{' || c == '}':
			imports = false
			err = out.WriteByte(c)
			i++
		case c == '\\' && i+1 < len(sheet):
			err = plain(out, sheet[i:i+2])
			i += 2
		case has(sheet[i:], "<!--"): // which sheets were hidden behind once
			i += 4
		case has(sheet[i:], "-->"):
			i += 3
		case has(sheet[i:], "@import"):
			imports = true
			_, err = out.Write(sheet[i : i+7])
			i += 7
		case has(sheet[i:], "url(") && (i == 0 || !wordy(sheet[i-1])):
			text, n, ok := argument(sheet[i+4:])
			if !ok {
				return nil
			}
			err = write(out, text, base, to, false)
			imports = false
			i += 4 + n
		case c == '<' && i+1 < len(sheet) && (sheet[i+1] == ' ' || sheet[i+1] == '=' || sheet[i+1] >= '0' && sheet[i+1] <= '9'): // a comparison
			err = out.WriteByte(c)
			i++
		default:
			err = plain(out, sheet[i:i+1])
			i++
		}
	}
	return err
}

// plain writes a part of a sheet as it is, with nothing in it that could begin a tag.
func plain(out *bufio.Writer, b []byte) error {
	for {
		at := bytes.IndexByte(b, '<')
		if at < 0 {
			_, err := out.Write(b)
			return err
		}
		text := `\3c `
		if at > 0 && b[at-1] == '\\' {
			text = `3c `
		}
		if _, err := out.Write(b[:at]); err != nil {
			return err
		}
		if _, err := out.WriteString(text); err != nil {
			return err
		}
		b = b[at+1:]
	}
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

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\a `, "<", `\3c `)

// write writes a URL as a string that nothing can end before its end.
func write(out *bufio.Writer, ref string, base crawl.URL, to To, bare bool) error {
	v, ok := turn(ref, base, to, true)
	if !ok {
		v = "about:invalid"
	}
	v = quoting.Replace(v)
	if bare {
		v = `"` + v + `"`
	} else {
		v = `url("` + v + `")`
	}
	_, err := out.WriteString(v)
	return err
}
