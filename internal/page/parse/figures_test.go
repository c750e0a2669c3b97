package parse

import (
	"fmt"
	"slices"
	"testing"
)

func TestFigures(t *testing.T) {
	of := func(body, url string, refs ...string) []uint32 {
		var links []Link
		for _, r := range refs {
			links = append(links, Link{Ref: []byte(r)})
		}
		return Mark([]byte(body), url, links, false).Figures
	}
	const at = "http://a.test/7"
	for _, c := range []struct {
		body string
		rows int
	}{
		{"<td>1<td>2<td>3", 1},
		{"<td>12.5<td>-1,234.56<td>1.234.567,8", 1},
		{"<td>20.5 °C<td>1013 hPa<td>80 %", 1},
		{"<tr><th>January<td>20.5<td>1013<tr><th>February<td>8", 1},
		{"<pre>1 2 3 4 5 6 7 8 9 10 11 12", 9}, // 7 stands in the address,
		{"<p>at 20.5 degrees 1013 hPa and 80 %", 1},
		{"<td>1<td>2<td>3<td>4<td>1<td>2<td>3", 4},
		{"<td>1<td>2", 0},
		{"<td>1<td>2<a>x</a><td>3", 0},
		{"<li>red (12)<li>blue (7)<li>green (3)", 0},
		{"<td>1<td>2<td>7", 0}, // stands in the address
		{"2026-11-22 12:34:56 1/2/3 10.0.0.1 v1.2.3 1.2.3 12.11.2026 3rd x-1 a1b2c3d4", 0},
		{"<p>leaves at 5:04, 17:12, 9:23 and 25:1, 1:234, 12:34:56", 1}, // times of day
		{"1767225600123456 1767225600123456 1767225600123456", 0},       // too long
		{"<a>1</a>, <a>2</a>, <a>3</a>", 0},
	} {
		if got := of(c.body, at); len(got) != c.rows {
			t.Errorf("%s: %d marks, want %d", c.body, len(got), c.rows)
		}
	}
	if got := of("<td>1<td>22<td>3", at, "/x?n=22"); len(got) != 0 {
		t.Errorf("a number of an address is a figure: %d marks", len(got))
	}
	one, other := of("<td>1.5<td>2<td>3", at), of("<td>1.6<td>2<td>3", at)
	if slices.Equal(one, other) {
		t.Error("rows that differ in a figure have the same marks")
	}
	long := "<p>"
	for i := range 80 {
		long += fmt.Sprintf("12.5 %d 14.25 <td>", i)
	}
	if got := of(long+"999 998 997", at); len(got) != MaxFigures || !slices.IsSorted(got) {
		t.Errorf("%d marks, sorted %v", len(got), slices.IsSorted(got))
	}
}
