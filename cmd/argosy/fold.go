package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
)

// folding is a writer that breaks lines between words where a terminal is narrower; where w is none, w itself. What follows the last end of a line is kept
// until that line ends.
func folding(w io.Writer) io.Writer {
	if width := widthOf(w); width > 0 {
		return &folder{w: w, width: width}
	}
	return w
}

// told says something to a person, on standard error.
func told(text string) { _, _ = io.WriteString(folding(os.Stderr), "argosy: "+text+"\n") }

// widthOf is the width of a terminal; 0 where w is none.
func widthOf(w io.Writer) int {
	if t, ok := w.(shown); ok {
		w = t.File
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, _ := terminalSize(f)
	return width
}

type folder struct {
	w     io.Writer
	width int
	open  []byte // of a line that has not ended
}

// Write implements io.Writer.
func (f *folder) Write(p []byte) (int, error) {
	f.open = append(f.open, p...)
	end := bytes.LastIndexByte(f.open, '\n') + 1
	_, err := io.WriteString(f.w, folded(string(f.open[:end]), f.width))
	f.open = append(f.open[:0], f.open[end:]...)
	return len(p), err
}

// folded breaks the lines of a text between words where they are wider than so many cells. What goes on is set in by two more cells than
// its line, at most by a third of the width; a word that is wider than all of it is left whole, to be copied.
func folded(text string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		indent := len(bare) - len(strings.TrimLeft(bare, " "))
		b.WriteString(foldedLine(bare, columns, min(indent+2, columns/3)))
		b.WriteString(line[len(bare):])
	}
	return b.String()
}

// amounts are figures with their units, which stay together.
var amounts = regexp.MustCompile(`(\d) ([KMGTP]?i?B(?:/s)?|/ s|ms|s|min|h)\b`)

// foldedLine breaks a line between words; what follows the first break is set in by so many cells.
func foldedLine(line string, columns, indent int) string {
	if cells(line) <= columns {
		return line
	}
	var b strings.Builder
	bare := strings.TrimLeft(line, " ")
	at, first := len(line)-len(bare), true
	b.WriteString(line[:at])
	for word := range strings.SplitSeq(amounts.ReplaceAllString(bare, "$1\u00a0$2"), " ") {
		word = strings.ReplaceAll(word, "\u00a0", " ")
		n := cells(word)
		switch {
		case first:
		case at+1+n > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at, first = at+n, false
	}
	return b.String()
}
