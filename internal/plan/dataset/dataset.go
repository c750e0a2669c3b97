// Package dataset reads the files that the solver commands and the lab take: matrices, delays, packings, networks,
// recorded bandwidths. It is pure: it reads from a reader and says in one line what is wrong and where. Sizes are
// bounded.
package dataset

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"argosy/internal/plan/solve"
)

// Limits of what is read.
const (
	maxCells = 50_000_000
	maxLine  = 16 << 20
	maxJSON  = 64 << 20

	maxNumber = 1e100 // sums and products of fifty million such are numbers, too
	minDelay  = 1e-6  // ms: shares of shorter ones are no figures, and light gets no further than a third of a millimetre
)

// lines calls f for every line that is neither empty nor a comment (#), with its number.
func lines(r io.Reader, f func(n int, fields []string) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for sc.Scan() {
		n++
		text := strings.TrimSpace(sc.Text())
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // spreadsheets put it before what they write as UTF-8
		}
		if text == "" || text[0] == '#' {
			continue
		}
		if k := emptyCell(text); k > 0 {
			return fmt.Errorf("line %d: cell %d is empty", n, k)
		}
		if by := separators(text); len(by) > 1 {
			return fmt.Errorf("line %d: numbers are separated by %s and by %s: want one of them, and a point in decimals", n, by[0], by[1])
		}
		fields := strings.FieldsFunc(text, func(c rune) bool { return isComma(c) || c == ' ' || c == '\t' })
		if err := f(n, fields); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}

// separators are what stands between the numbers of a line: commas, semicolons, or blanks alone. Where there are several a comma may be that of a
// decimal.
func separators(text string) (by []string) {
	var commas, semicolons, blanks bool
	last, gap := byte(','), false // before the byte: the last one that is not blank, and whether blanks follow it
	for i := range len(text) {
		c := text[i]
		if c == ' ' || c == '\t' {
			gap = true
			continue
		}
		commas, semicolons = commas || c == ',', semicolons || c == ';'
		blanks = blanks || gap && !isComma(rune(last)) && !isComma(rune(c))
		last, gap = c, false
	}
	for _, of := range []struct {
		name string
		is   bool
	}{{"commas", commas}, {"semicolons", semicolons}, {"blanks", blanks}} {
		if of.is {
			by = append(by, of.name)
		}
	}
	return by
}

func isComma(c rune) bool { return c == ',' || c == ';' }

// emptyCell is the first cell, from 1, that has nothing between two commas, or 0; without it what follows would move to the
// left. After the last comma of a line there may be nothing.
func emptyCell(text string) int {
	for k := 1; ; k++ {
		at := strings.IndexFunc(text, isComma)
		if at < 0 {
			return 0
		}
		if strings.TrimSpace(text[:at]) == "" {
			return k
		}
		text = text[at+1:]
	}
}

// number reads a number; inf and its like are plus infinity where they are allowed.
func number(n int, s string, inf bool) (float64, error) {
	switch strings.ToLower(s) {
	case "inf", "+inf", "infinity", "∞":
		if inf {
			return math.Inf(1), nil
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != x || math.IsInf(x, 0) {
		return 0, fmt.Errorf("line %d: %q is not a number", n, s)
	}
	if math.Abs(x) > maxNumber {
		return 0, fmt.Errorf("line %d: %s is out of range: at most %g either way", n, s, float64(maxNumber))
	}
	return x, nil
}

// Matrix reads numbers separated by commas or blanks, a row a line. inf forbids a pair, where costs are read.
func Matrix(r io.Reader, inf bool) (solve.Matrix, error) {
	var m solve.Matrix
	err := lines(r, func(n int, fields []string) error {
		if m.Rows > 0 && len(fields) != m.Cols {
			return fmt.Errorf("line %d: %d numbers, the first row has %d", n, len(fields), m.Cols)
		}
		m.Cols = len(fields)
		m.Rows++
		if m.Rows*m.Cols > maxCells {
			return fmt.Errorf("line %d: more than %d numbers", n, maxCells)
		}
		for _, s := range fields {
			x, err := number(n, s, inf)
			if err != nil {
				return err
			}
			m.Data = append(m.Data, x)
		}
		return nil
	})
	if err == nil && m.Rows == 0 {
		err = fmt.Errorf("no numbers in it")
	}
	return m, err
}

// ORLib reads an assignment problem of Beasley's OR-Library: the size n, then n × n costs, wrapped anyhow.
func ORLib(r io.Reader) (solve.Matrix, error) {
	size := -1
	var m solve.Matrix
	err := lines(r, func(n int, fields []string) error {
		for _, s := range fields {
			x, err := number(n, s, false)
			if err != nil {
				return err
			}
			if size < 0 {
				if x < 1 || x != math.Trunc(x) || x*x > maxCells {
					return fmt.Errorf("line %d: size %s: want a whole number, at most %d", n, s, int(math.Sqrt(maxCells)))
				}
				size = int(x)
				continue
			}
			if len(m.Data) == size*size {
				return fmt.Errorf("line %d: more than %d × %d numbers", n, size, size)
			}
			m.Data = append(m.Data, x)
		}
		return nil
	})
	if err == nil && (size < 0 || len(m.Data) != size*size) {
		err = fmt.Errorf("%d numbers, want %d × %d after the size", len(m.Data), max(size, 0), max(size, 0))
	}
	m.Rows, m.Cols = size, size
	return m, err
}

// Delays reads a square matrix of round-trip times in ms, or triples "i j rtt" (from 0 or 1, the smallest number says
// which). −1, 0 off the diagonal and NaN are missing. Triples are what three columns are, unless the matrix is 3 × 3.
func Delays(r io.Reader) ([][]float64, error) {
	var rows [][]float64
	err := lines(r, func(n int, fields []string) error {
		row := make([]float64, len(fields))
		for k, s := range fields {
			if strings.EqualFold(s, "nan") {
				row[k] = math.NaN()
				continue
			}
			x, err := number(n, s, false)
			if err != nil {
				return err
			}
			if x < 0 && x != -1 {
				return fmt.Errorf("line %d: delay %g is negative; -1 is missing", n, x)
			}
			if x > 0 && x < minDelay {
				return fmt.Errorf("line %d: delay %g is out of range: at least %g ms; -1 is missing", n, x, minDelay)
			}
			row[k] = x
		}
		if len(rows) > 0 && len(row) != len(rows[0]) {
			return fmt.Errorf("line %d: %d numbers, the first row has %d", n, len(row), len(rows[0]))
		}
		if (len(rows)+1)*len(row) > maxCells {
			return fmt.Errorf("line %d: more than %d numbers", n, maxCells)
		}
		rows = append(rows, row)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, fmt.Errorf("no numbers in it")
	case len(rows[0]) == 3 && len(rows) != 3:
		return triples(rows)
	case len(rows) != len(rows[0]):
		return nil, fmt.Errorf("%d rows of %d numbers: want a square matrix or triples", len(rows), len(rows[0]))
	}
	for i, row := range rows {
		for j, x := range row {
			if x <= 0 && i != j {
				row[j] = math.NaN()
			}
		}
	}
	return rows, nil
}

func triples(rows [][]float64) ([][]float64, error) {
	low, high := math.Inf(1), 0.0
	for k, t := range rows {
		for _, x := range t[:2] {
			if x < 0 || x != math.Trunc(x) || x > 1e5 {
				return nil, fmt.Errorf("triple %d: %g is not the number of a host", k+1, x)
			}
			low, high = min(low, x), max(high, x)
		}
	}
	base := min(low, 1)
	n := int(high-base) + 1
	if n*n > maxCells {
		return nil, fmt.Errorf("hosts up to %g: too many", high)
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range out[i] {
			if i != j {
				out[i][j] = math.NaN()
			}
		}
	}
	for _, t := range rows {
		if t[2] > 0 {
			out[int(t[0]-base)][int(t[1]-base)] = t[2]
		}
	}
	return out, nil
}

// Counts reads whole numbers, one or more a line: demands that were seen.
func Counts(r io.Reader) (out []int, err error) {
	err = lines(r, func(n int, fields []string) error {
		for _, s := range fields {
			x, err := strconv.Atoi(s)
			if err != nil || x < 0 {
				return fmt.Errorf("line %d: %q is not a count", n, s)
			}
			if out = append(out, x); len(out) > 1_000_000 {
				return fmt.Errorf("line %d: more than a million counts", n)
			}
		}
		return nil
	})
	return out, err
}

// Pairs reads one column of a CSV file with a header as a matrix by the names in two other columns, NaN where a pair is
// missing. Names are in the order of their first coming.
func Pairs(r io.Reader, from, to, value string) (names []string, out [][]float64, err error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	var at [3]int
	for k, want := range []string{from, to, value} {
		at[k] = -1
		for i, h := range head {
			if strings.TrimSpace(h) == want {
				at[k] = i
			}
		}
		if at[k] < 0 {
			return nil, nil, fmt.Errorf("header: no column %q", want)
		}
	}
	type cell struct {
		i, j int
		x    float64
	}
	number := map[string]int{}
	index := func(s string) int {
		i, ok := number[s]
		if !ok {
			i = len(names)
			number[s] = i
			names = append(names, strings.Clone(s))
		}
		return i
	}
	var cells []cell
	for {
		rec, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		x, err := strconv.ParseFloat(rec[at[2]], 64)
		if err != nil {
			line, _ := c.FieldPos(at[2])
			return nil, nil, fmt.Errorf("line %d: %q is not a number", line, rec[at[2]])
		}
		if cells = append(cells, cell{index(rec[at[0]]), index(rec[at[1]]), x}); len(cells) > maxCells {
			return nil, nil, fmt.Errorf("more than %d lines", maxCells)
		}
	}
	if len(names)*len(names) > maxCells {
		return nil, nil, fmt.Errorf("%d names: too many", len(names))
	}
	out = make([][]float64, len(names))
	for i := range out {
		out[i] = make([]float64, len(names))
		for j := range out[i] {
			out[i][j] = math.NaN()
		}
	}
	for _, x := range cells {
		out[x.i][x.j] = x.x
	}
	return names, out, nil
}
