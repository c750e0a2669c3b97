package parse

import (
	"slices"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		body string
		want []uint32
	}{
		{"<p>Born 1743, died 1801.", []uint32{1743, 1801}},
		{"<p>1743–1801", []uint32{1743, 1801}},
		{"<td>12.5.1743<td>1,234.5", []uint32{12, 5, 1743, 1, 234, 5}},
		{"<title>Entry 7 of 40</title><h1>Entry 7 of 40</h1><p>40 years", []uint32{0, 40, 40}}, // 7 stands in the address
		{"<p>At 12:03:59 he was 34. <a href=8>1820</a> <li>red (17) <option>3", []uint32{34}},  // a time, a link, how often there is a choice
		{"<p>3:1 after 2:0, (in 1920)", []uint32{3, 1, 2, 0, 1920}},                            // results
		{"<p>i12 b7 1 2 3 4 5 6 8 9 10", []uint32{1, 2, 3, 4, 5, 6, 0}},                        // the first ones; 8 is a link
		{"<script>var x = 12</script><style>p { margin: 3px }</style><p title=4>x", nil},       // nobody sees these
		{"<p>4294967297", []uint32{1}},                                                         // as much as there is room for
	} {
		if got := Mark([]byte(c.body), "http://a.test/7", []Link{{Ref: []byte("8")}}, false).Numbers; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.body, got, c.want)
		}
	}
}
