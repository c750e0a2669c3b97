package dataset

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestMatrix(t *testing.T) {
	m, err := Matrix(strings.NewReader("# costs\n1, 2,inf\n\n4\t5 6\n"), true)
	if err != nil || m.Rows != 2 || m.Cols != 3 || !math.IsInf(m.At(0, 2), 1) || m.At(1, 2) != 6 {
		t.Errorf("%v, %v", m, err)
	}
	// As spreadsheets write it.
	m, err = Matrix(strings.NewReader("\ufeff1;2 ;\r\n3 ; 4;\r\n"), false)
	if err != nil || m.Rows != 2 || m.Cols != 2 || m.At(0, 0) != 1 || m.At(1, 1) != 4 {
		t.Errorf("%v, %v", m, err)
	}
}

// Whatever is wrong is said in one line, with the place where there is one.
func TestMistakesAreNamed(t *testing.T) {
	matrix := func(s string) error { _, err := Matrix(strings.NewReader(s), false); return err }
	orlib := func(s string) error { _, err := ORLib(strings.NewReader(s)); return err }
	delays := func(s string) error { _, err := Delays(strings.NewReader(s)); return err }
	packing := func(s string) error { _, _, err := Packing(strings.NewReader(s)); return err }
	network := func(s string) error { _, err := Network(strings.NewReader(s)); return err }
	counts := func(s string) error { _, err := Counts(strings.NewReader(s)); return err }
	pairs := func(s string) error { _, _, err := Pairs(strings.NewReader(s), "a", "b", "x"); return err }
	for _, c := range []struct {
		read func(string) error
		in   string
		want string
	}{
		{matrix, "", "no numbers"}, {matrix, "1 2\n3\n", "line 2: 1 numbers"}, {matrix, "1 x\n", `line 1: "x"`}, {matrix, "1,2\n3,,4\n", "line 2: cell 2 is empty"}, {matrix, ", 5\n", "line 1: cell 1 is empty"}, {counts, "3;\t;4", "line 1: cell 2 is empty"},
		{matrix, "1 inf\n", `"inf" is not a number`}, {matrix, "NaN\n", "not a number"}, {matrix, "1 1e308\n", "line 1: 1e308 is out of range"},
		{orlib, "2\n1 2 3\n", "3 numbers, want 2 × 2"}, {orlib, "1\n1 2\n", "more than 1 × 1"}, {orlib, "x", "not a number"},
		{orlib, "-1", "whole number"}, {orlib, "1e9", "whole number"}, {orlib, "", "want 0 × 0"},
		{delays, "1 2\n", "square"}, {delays, "0 -5\n-5 0\n", "negative"}, {delays, "0 1e-300\n1 0\n", "line 1: delay 1e-300 is out of range"},
		{delays, "0 1 2 \n 1.5 2 3\n1 2 3\n1 1 1\n", "not the number of a host"},
		{matrix, "1,5;2,5\n", "line 1: numbers are separated by commas and by semicolons: want one of them, and a point in decimals"},
		{matrix, "1 2\n1,5 2,5\n", "line 2: numbers are separated by commas and by blanks"}, {delays, "0;1 2\n", "by semicolons and by blanks"},
		{packing, "{", "JSON: it ends too soon"}, {packing, "", "JSON: nothing in it"}, {packing, `{"knots":[]}`, `JSON: unknown field "knots"`}, {packing, "{} {}", "follows"},
		{packing, "{\n\n]", "JSON, line 3: invalid character"},
		{packing, `{"nodes":[{"capacity":[1e400]}]}`, "JSON, line 1: nodes.capacity: number 1e400 is out of range"}, {packing, `[]`, "the file: want an object, not an array"},
		{packing, "{\n\"nodes\":[\n{\"capacity\":[\"1\"]}]}", "JSON, line 3: nodes.capacity: want a number, not a string"}, {packing, `{"nodes":[3]}`, "nodes: want an object, not a number"},
		{packing, `{"nodes":[{"capacity":[1],"working":1}]}`, "nodes.working: want true or false, not a number"}, {packing, `{"tasks":{}}`, "tasks: want an array, not an object"},
		{packing, `{"tasks":[[1]]}`, "JSON: nodes: missing"}, {packing, `{"nodes":[{"capacity":[1]}]}`, "JSON: tasks: missing"}, {packing, `{"nodes":[{"capacity":[1]},{}],"tasks":[[1]]}`, "JSON: node 2: capacity: missing"},
		{network, `{"arcs":[]}`, "JSON: supplies: missing"}, {network, `[]`, "JSON"}, {network, `{"supplies":[],"arcs":[]}`, "supplies: none"}, {network, `{"supplies":[1,-1]}`, "JSON: arcs: missing"}, {network, "{\"supplies\":[1,-1],\n\"arcs\":null}", "JSON, line 2: null: want a value"}, {network, `{"supplies":[1,null],"arcs":[]}`, "JSON, line 1: null"},
		{network, `{"supplies":[1,-1],"arcs":[{"from":0,"to":1,"capacity":1,"cost":1},{"from":0,"to":1,"cost":1}]}`, "JSON: arc 1: capacity: missing"},
		{network, `{"supplies":[1,-1],"arcs":[{"to":1,"capacity":1,"cost":1}]}`, "JSON: arc 0: from: missing"}, {network, `{"supplies":[1,-1],"arcs":[{"from":0,"to":1,"capacity":1}]}`, "JSON: arc 0: cost: missing"},
		{network, `{"supplies":[1.5,-1.5],"arcs":[]}`, "supplies: want a whole number, not number 1.5"}, {network, `{"supplies":[1e300,-1],"arcs":[]}`, "supplies: want a whole number, not number 1e300"},
		{network, `{"supplies":["1",-1],"arcs":[]}`, "supplies: want a whole number, not a string"}, {network, `{"supplies":[1,-1],"arcs":[{"from":[0],"to":1,"capacity":1,"cost":1}]}`, "from: want a whole number, not an array"},
		{counts, "3 -1", `"-1" is not a count`}, {pairs, "a,b\n", `no column "x"`}, {pairs, "a,b,x\n1,2,z\n", `line 2: "z"`}, {pairs, "", "header"},
	} {
		if err := c.read(c.in); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.in, err, c.want)
		}
	}
}

func TestDelays(t *testing.T) {
	d, err := Delays(strings.NewReader("0 10 -1\n10 0 0\nNaN 5 0\n"))
	if err != nil || d[0][1] != 10 || d[0][2] == d[0][2] || d[1][2] == d[1][2] || d[2][1] != 5 || d[0][0] != 0 {
		t.Errorf("%v, %v", d, err)
	}
	d, err = Delays(strings.NewReader("1 2 10.5\n2 3 4\n3 1 7\n1 3 8\n"))
	if err != nil || len(d) != 3 || d[0][1] != 10.5 || d[1][0] == d[1][0] || d[0][2] != 8 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestPairs(t *testing.T) {
	names, m, err := Pairs(strings.NewReader("a,b,x\np,q,3\nq,p,4\n"), "a", "b", "x")
	if err != nil || fmt.Sprint(names) != "[p q]" || m[0][1] != 3 || m[1][0] != 4 || m[0][0] == m[0][0] {
		t.Errorf("%v %v %v", names, m, err)
	}
}

func FuzzReaders(f *testing.F) {
	f.Add("1 2\n3 4")
	f.Add(`{"nodes":[{"capacity":[1]}],"tasks":[[1]]}`)
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = Matrix(strings.NewReader(s), true)
		_, _ = ORLib(strings.NewReader(s))
		_, _ = Delays(strings.NewReader(s))
		_, _, _ = Packing(strings.NewReader(s))
		_, _ = Network(strings.NewReader(s))
		_, _ = Counts(strings.NewReader(s))
		_, _, _ = Pairs(strings.NewReader(s), "a", "b", "x")
	})
}

// A key that is given twice in an object is named, whichever of the two is meant, also within others and in another spelling; once in each of
// two objects it may stand, and in a text.
func TestKeysGivenTwice(t *testing.T) {
	for in, key := range map[string]string{
		`{"nodes":[{"capacity":[1]}],"tasks":[[1]]}`:                     "",
		`{"nodes":[{"capacity":[1]},{"capacity":[2]}],"tasks":[[1]]}`:    "",
		`{"tasks":[[1]],"nodes":[{"capacity":[1]}],"tasks":[[2]]}`:       "tasks",
		`{"nodes":[{"capacity":[1],"capacity":[2]}],"tasks":[[1]]}`:      "capacity",
		`{"nodes":[{"capacity":[1],"Capacity":[2]}],"tasks":[[1]]}`:      "Capacity",
		`{"nodes":[{"capacity":[1],"capac\u0069ty":[2]}],"tasks":[[1]]}`: "capacity",
	} {
		_, _, err := Packing(strings.NewReader(in))
		switch {
		case key == "" && err != nil:
			t.Errorf("%s: %v", in, err)
		case key != "" && (err == nil || err.Error() != fmt.Sprintf("JSON: %q is given twice in one object", key)):
			t.Errorf("%s: %v, want that %s is given twice", in, err, key)
		}
	}
	for in, key := range map[string]string{`{"a":"{\"a\":1,\"a\":2}","b":["a","a"]}`: "", `[{"a":{"b":1,"c":[{"d":1,"d":2}]}}]`: "d", `"a"`: "", `{"":1,"":2}`: ""} {
		if got := twice([]byte(in)); got != key {
			t.Errorf("%s: %q is given twice, want %q", in, got, key)
		}
	}
}

// Whole numbers are read as any program writes them.
func TestWholeNumbers(t *testing.T) {
	n, err := Network(strings.NewReader(`{"supplies":[5.0,-5,9007199254740993],"arcs":[{"from":0.0,"to":1e0,"capacity":2E3,"cost":1}]}`))
	if err != nil || n.Supply[0] != 5 || n.Supply[2] != 9007199254740993 || n.Arcs[0].To != 1 || n.Arcs[0].Capacity != 2000 {
		t.Errorf("%+v, %v", n, err)
	}
}
