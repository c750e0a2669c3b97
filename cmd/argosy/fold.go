package main

import "strings"

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

// foldedLine breaks a line between words; what follows the first break is set in by so many cells.
func foldedLine(line string, columns, indent int) string {
	if cells(line) <= columns {
		return line
	}
	var b strings.Builder
	bare := strings.TrimLeft(line, " ")
	at, first := len(line)-len(bare), true
	b.WriteString(line[:at])
	for word := range strings.SplitSeq(bare, " ") {
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
