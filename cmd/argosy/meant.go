package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxTypos bounds how many signs of a name may be wrong, missing or too many.
const maxTypos = 2

// meant says which of some names somebody may have meant, "" if none is near.
func meant(said string, names []string, before string) string {
	best, least := "", maxTypos+1
	for _, name := range names {
		d := typos(said, name)
		if len(said) > maxTypos && strings.HasPrefix(name, said) {
			d = min(d, maxTypos)
		}
		if d < least && d < len(said) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + before + best + "?"
}

// meantFlag says which flag of a command somebody may have meant who has named one that there is not.
func meantFlag(c *cobra.Command, err error) string {
	var none *pflag.NotExistError
	if !errors.As(err, &none) || len(none.GetSpecifiedName()) < 2 {
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return meant(none.GetSpecifiedName(), names, "--")
}

// typos is how many signs have to be put in, left out or changed to make b of a (Levenshtein's distance).
func typos(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
