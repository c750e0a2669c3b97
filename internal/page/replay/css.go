package replay

import (
	"bufio"
	"io"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
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
	done := 0
	parse.EachInSheet(sheet, func(kind parse.SheetPart, ref string, start, end int) bool {
		if err = plain(out, sheet[done:start]); err != nil {
			return false
		}
		done = end
		if kind == parse.SheetComment {
			_, err = out.WriteString("/**/") // what stands beside it stays apart
		} else {
			err = write(out, ref, base, to, kind == parse.SheetString)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	return plain(out, sheet[done:])
}

// plain writes a part of a sheet as it is, with nothing in it that could begin a tag.
func plain(out *bufio.Writer, b []byte) error {
	from, escaped := 0, false
	for i, c := range b {
		if c != '<' {
			escaped = c == '\\' && !escaped
			continue
		}
		text := `\3c `
		switch {
		case escaped:
			text = `3c `
		case i+1 < len(b) && (b[i+1] == ' ' || b[i+1] == '=' || b[i+1] >= '0' && b[i+1] <= '9'): // a comparison
			text = `<`
		}
		if _, err := out.Write(b[from:i]); err != nil {
			return err
		}
		if _, err := out.WriteString(text); err != nil {
			return err
		}
		from, escaped = i+1, false
	}
	_, err := out.Write(b[from:])
	return err
}

func has(b []byte, word string) bool {
	return len(b) >= len(word) && strings.EqualFold(string(b[:len(word)]), word)
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
