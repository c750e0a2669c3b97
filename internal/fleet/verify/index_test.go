package verify

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A line that an index has lost is one problem, and so is one that the ledger does not have, wherever they stand and whatever else is wrong.
func TestIndexLinesThatDiffer(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var want, have []string
		problems := 0
		for i := range rng.IntN(40) {
			line := fmt.Sprintf("org,example)/%03d 2026 {}\n", i)
			switch rng.IntN(8) {
			case 0: // lost
				want = append(want, line)
				problems++
			case 1: // strange
				have = append(have, line)
				problems++
			case 2: // changed: one is lost, and another one there
				want, have = append(want, line), append(have, strings.Replace(line, "{}", "{ }", 1))
				problems += 2
			default:
				want, have = append(want, line), append(have, line)
			}
		}
		text := strings.Join(have, "")
		if len(text) > 0 && rng.IntN(3) == 0 {
			text = strings.TrimSuffix(text, "\n")
			problems++
		}
		slices.Sort(want)
		r := newReport()
		c := comparison{r: r, path: "index.cdxj", in: bufio.NewReader(strings.NewReader(text))}
		for _, line := range want {
			if err := c.expect(line); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.end(); err != nil || r.Problems != problems || r.Indexed != len(have) {
			t.Errorf("seed %d: %d problems in %d lines, want %d in %d: %q, %v", seed, r.Problems, r.Indexed, problems, len(have), r.Details, err)
		}
	}
}

// An index that is not in order has a problem for each line that is out of its place, and not for those behind it.
func TestIndexOutOfOrder(t *testing.T) {
	r := newReport()
	c := comparison{r: r, path: "i", in: bufio.NewReader(strings.NewReader("a\nc\nb\nd\ne\n"))}
	for _, line := range []string{"a\n", "b\n", "c\n", "d\n", "e\n"} {
		if err := c.expect(line); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`i: a line is missing behind line 1, of "b"`, "i:3: not in order", `i:3: not what the ledger says: "b"`}
	if err := c.end(); err != nil || !slices.Equal(r.Details, want) {
		t.Errorf("%q, want %q, %v", r.Details, want, err)
	}
}
