package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"argosy/internal/plan/solve"
)

// readJSON reads one JSON value, without unknown fields, and without those that are given twice: of them nobody knows which is meant.
func readJSON(r io.Reader, into any) error {
	l := &io.LimitedReader{R: r, N: maxJSON}
	var read bytes.Buffer
	d := json.NewDecoder(io.TeeReader(l, &read))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if l.N <= 0 {
			return fmt.Errorf("more than %d bytes", maxJSON)
		}
		return mistake(err, read.Bytes())
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("JSON: something follows the first value")
	}
	if at := null(read.Bytes()); at >= 0 {
		return fmt.Errorf("JSON, line %d: null: want a value", line(read.Bytes(), int64(at)))
	}
	if key := twice(read.Bytes()); key != "" {
		return fmt.Errorf("JSON: %q is given twice in one object", key)
	}
	return nil
}

// mistake says what is wrong in a text that was read as JSON, and where.
func mistake(err error, text []byte) error {
	var of *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("JSON: nothing in it")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("JSON: it ends too soon")
	case errors.As(err, &syntax):
		return fmt.Errorf("JSON, line %d: %w", line(text, syntax.Offset), err)
	case !errors.As(err, &of):
		return fmt.Errorf("JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	where := fmt.Sprintf("JSON, line %d: %s", line(text, of.Offset), orTop(of.Field))
	if of.Offset == 0 { // a whole number does not know where it stands
		where = "JSON: " + orTop(of.Field)
	}
	if strings.HasPrefix(of.Value, "number ") && of.Type.Kind() == reflect.Float64 {
		return fmt.Errorf("%s: %s is out of range", where, of.Value)
	}
	return fmt.Errorf("%s: want %s, not %s", where, wanted(of.Type.Kind()), article(of.Value))
}

// line is the number of the line that a byte of a text is in, from 1.
func line(text []byte, at int64) int {
	return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n"))
}

// wanted says in the words of JSON what is read into a kind.
func wanted(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct:
		return "an object"
	}
	return "a string"
}

// article puts one before what a decoder calls a value.
func article(value string) string {
	switch {
	case value == "array" || value == "object":
		return "an " + value
	case strings.HasPrefix(value, "number "):
		return value
	case value == "bool":
		return "true or false"
	}
	return "a " + value
}

// null returns where a JSON value, which is sound, has a null in it, or -1: its field would be left as if it were zero.
func null(value []byte) int {
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case 'n':
			return i
		case '"':
			i = stringEnd(value, i)
		}
	}
	return -1
}

// stringEnd returns where the quote stands that ends the string that begins at i.
func stringEnd(value []byte, i int) int {
	for i++; value[i] != '"'; i++ {
		if value[i] == '\\' {
			i++
		}
	}
	return i
}

// given returns that a field is missing, if it is; of is what it is a field of.
func given[T any](of, name string, value *T) error {
	if value == nil {
		return fmt.Errorf("JSON: %s%s: missing", of, name)
	}
	return nil
}

// twice returns a key that an object of a JSON value, which is sound, has twice, without regard to case, as fields are found; empty is none.
func twice(value []byte) string {
	var open []map[string]bool // keys of the objects that are open; nil is an array
	key := false               // the next string is one
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '{':
			open, key = append(open, map[string]bool{}), true
		case '[':
			open, key = append(open, nil), false
		case '}', ']':
			open, key = open[:len(open)-1], false
		case ',':
			key = open[len(open)-1] != nil
		case '"':
			from := i
			i = stringEnd(value, i)
			if !key {
				continue
			}
			var name string
			if json.Unmarshal(value[from:i+1], &name) != nil {
				return "" // there is none such in a value that was read
			}
			folded := strings.ToLower(name)
			if open[len(open)-1][folded] {
				return name
			}
			open[len(open)-1][folded], key = true, false
		}
	}
	return ""
}

// orTop names a field, or the whole of a file.
func orTop(field string) string {
	if field == "" {
		return "the file"
	}
	return field
}

// whole is a whole number, also as programs write it that know no others: 5.0, 2e3.
type whole int64

// mostWhole is up to where a number with a fraction or an exponent is exact.
const mostWhole = 1 << 53

// UnmarshalJSON implements json.Unmarshaler.
func (n *whole) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseInt(string(b), 10, 64)
	if err == nil {
		*n = whole(x)
		return nil
	}
	f, ferr := strconv.ParseFloat(string(b), 64)
	switch {
	case string(b) == "null": // all of them are refused at the end
		return nil
	case ferr == nil && f == math.Trunc(f) && math.Abs(f) <= mostWhole:
		*n = whole(f)
		return nil
	}
	return &json.UnmarshalTypeError{Value: kindOf(b), Type: reflect.TypeFor[int64]()}
}

// kindOf is what a decoder calls a value.
func kindOf(value []byte) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	}
	return "number " + string(value)
}

// Packing reads {"nodes":[{"capacity":[…],"working":bool}],"tasks":[[…]]}.
func Packing(r io.Reader) (bins []solve.Bin, tasks [][]float64, err error) {
	var p struct {
		Nodes *[]struct {
			Capacity *[]float64 `json:"capacity"`
			Working  bool       `json:"working"`
		} `json:"nodes"`
		Tasks *[][]float64 `json:"tasks"`
	}
	if err := readJSON(r, &p); err != nil {
		return nil, nil, err
	}
	if err := cmp.Or(given("", "nodes", p.Nodes), given("", "tasks", p.Tasks)); err != nil {
		return nil, nil, err
	}
	for i, n := range *p.Nodes {
		if err := given(fmt.Sprintf("node %d: ", i+1), "capacity", n.Capacity); err != nil {
			return nil, nil, err
		}
		bins = append(bins, solve.Bin{Capacity: *n.Capacity, Working: n.Working})
	}
	return bins, *p.Tasks, nil
}

// Network reads {"supplies":[…],"arcs":[{"from":…,"to":…,"capacity":…,"cost":…}]}.
func Network(r io.Reader) (solve.Network, error) {
	var p struct {
		Supplies *[]whole `json:"supplies"`
		Arcs     *[]struct {
			From     *whole   `json:"from"`
			To       *whole   `json:"to"`
			Capacity *whole   `json:"capacity"`
			Cost     *float64 `json:"cost"`
		} `json:"arcs"`
	}
	if err := readJSON(r, &p); err != nil {
		return solve.Network{}, err
	}
	if err := cmp.Or(given("", "supplies", p.Supplies), given("", "arcs", p.Arcs)); err != nil {
		return solve.Network{}, err
	}
	if len(*p.Supplies) == 0 {
		return solve.Network{}, fmt.Errorf("supplies: none")
	}
	n := solve.Network{Supply: make([]int64, len(*p.Supplies))}
	for i, x := range *p.Supplies {
		n.Supply[i] = int64(x)
	}
	for i, a := range *p.Arcs {
		of := fmt.Sprintf("arc %d: ", i)
		if err := cmp.Or(given(of, "from", a.From), given(of, "to", a.To), given(of, "capacity", a.Capacity), given(of, "cost", a.Cost)); err != nil {
			return solve.Network{}, err
		}
		n.Arcs = append(n.Arcs, solve.Arc{From: int(*a.From), To: int(*a.To), Capacity: int64(*a.Capacity), Cost: *a.Cost})
	}
	return n, nil
}
