package main

import (
	"bytes"
	"io"
	"strings"
)

// columns prints lines whose cells, separated by tabs, stand below each other on a terminal: a character takes as many cells as it does
// there, two where it is Chinese, Japanese or Korean. It writes nothing before Flush.
type columns struct {
	w     io.Writer
	width int // of the terminal that w is; 0: it is none
	text  bytes.Buffer
}

// columnGap is what stands between two columns.
const columnGap = "  "

// foldedFrom is which share of a terminal's width at least must be left for a line's last cell to be broken between words.
const foldedFrom = 1.0 / 3

func newColumns(w io.Writer) *columns { return &columns{w: w, width: widthOf(w)} }

// Write implements io.Writer.
func (c *columns) Write(p []byte) (int, error) { return c.text.Write(p) }

// Flush prints all lines. As in text/tabwriter a column is as wide as it must be over lines that follow each other, and the last cell
// of a line belongs to none: on a terminal it goes on below itself.
func (c *columns) Flush() error {
	var rows [][]string
	for line := range strings.Lines(c.text.String()) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	c.text.Reset()
	var out strings.Builder
	widths := make([][]int, len(rows))
	for i, row := range rows {
		widths[i] = make([]int, len(row)-1)
	}
	for i, row := range rows {
		for k := range len(row) - 1 {
			if i > 0 && k < len(widths[i-1]) { // known by the first line of the block
				widths[i][k] = widths[i-1][k]
				continue
			}
			for j := i; j < len(rows) && k < len(rows[j])-1; j++ {
				widths[i][k] = max(widths[i][k], cells(rows[j][k]))
			}
		}
		at, last := 0, len(row)-1
		for k, cell := range row[:last] {
			out.WriteString(cell + strings.Repeat(" ", widths[i][k]-cells(cell)) + columnGap)
			at += widths[i][k] + len(columnGap)
		}
		if left := c.width - at; float64(left) >= foldedFrom*float64(c.width) && left > 0 {
			row[last] = strings.ReplaceAll(foldedLine(row[last], left, 0), "\n", "\n"+strings.Repeat(" ", at))
		}
		out.WriteString(row[last] + "\n")
	}
	_, err := io.WriteString(c.w, out.String())
	return err
}
