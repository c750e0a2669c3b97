package main

import (
	"fmt"
	"strings"
	"testing"
)

// Cells stand below each other also behind Chinese ones, and a table that begins anew has widths of its own.
func TestColumns(t *testing.T) {
	var out strings.Builder
	c := newColumns(&out)
	fmt.Fprint(c, "PRODUCT\tSITE\tRATE\n光明高钙牛奶\ta.test\t1.00\nmilk\t例え.test\t0.50\n\nx\ty\n")
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "PRODUCT       SITE       RATE\n光明高钙牛奶  a.test     1.00\nmilk          例え.test  0.50\n\nx  y\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// On a terminal the last cell of a line goes on below itself, where enough of the width is left for it.
func TestColumnsOnTerminal(t *testing.T) {
	var out strings.Builder
	c := newColumns(&out)
	c.width = 24
	fmt.Fprint(c, "equal\ttwenty nodes that are alike\nmany\tsixty\n\na name as long as this\tand words\n")
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "equal  twenty nodes that\n       are alike\nmany   sixty\n\na name as long as this  and words\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
