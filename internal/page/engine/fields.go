package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Field is something that is taken out of pages.
type Field struct {
	Name     string `yaml:"name" doc:"what to call it"`
	Selector `yaml:",inline"`
	As       string `yaml:"as" doc:"what is made of the text: a number, or a date as 2013-05-04 (default: the text)" enum:"number date"`
	All      bool   `yaml:"all" doc:"all that the selector finds, not only the first"`
}

// maxFields bounds the fields of a job.
const maxFields = 50

// Fields are fields that have been checked.
type Fields struct {
	Names []string

	list []field
}

type field struct {
	Field
	at *selector
}

// NewFields checks fields. The error is an *Error whose Key is the field's place, such as [2].css.
func NewFields(list []Field) (*Fields, error) {
	out := &Fields{}
	if len(list) > maxFields {
		return nil, &Error{Engine: "fields", Err: fmt.Errorf("%d; allowed are %d", len(list), maxFields)}
	}
	seen := map[string]bool{"url": true, "product": true, "site": true}
	for i, f := range list {
		fail := func(err error) (*Fields, error) {
			return nil, &Error{Engine: "fields", Key: fmt.Sprintf("[%d]", i), Err: err}
		}
		if f.Name == "" || seen[f.Name] {
			return fail(fmt.Errorf("name %q is empty or taken", f.Name))
		}
		seen[f.Name] = true
		if f.As != "" && f.As != "number" && f.As != "date" {
			return fail(fmt.Errorf("as %q: allowed are number and date", f.As))
		}
		if f.JSON != "" || f.Set != "" || f.Make != "" || f.Space != "" {
			return fail(errors.New("json, set, make and space are for answers of engines"))
		}
		at, err := f.Selector.read("html", false)
		if err != nil {
			return fail(err)
		}
		out.list = append(out.list, field{f, at})
		out.Names = append(out.Names, f.Name)
	}
	return out, nil
}

// Number reports whether a field, by its place in Names, is a number; it can then be read by strconv.ParseFloat.
func (fs *Fields) Number(i int) bool { return fs.list[i].As == "number" }

// Of takes the fields out of a page of HTML, in the order of Names: each has no value, one, or, where all are wanted, several.
func (fs *Fields) Of(body []byte, contentType string) ([][]string, error) {
	d, err := open("html", body, contentType)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(fs.list))
	for i := range fs.list {
		f := &fs.list[i]
		all, err := f.at.all(d, found{node: d.tree, root: true})
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		for _, one := range all {
			v, ok := f.at.value(d, one)
			if ok {
				v, ok = f.made(v)
			}
			if !ok {
				continue
			}
			if out[i] = append(out[i], v); !f.All {
				break
			}
		}
	}
	return out, nil
}

// made is what is made of a text; false: it is not that.
func (f *field) made(v string) (string, bool) {
	v = strings.Join(strings.Fields(v), " ")
	switch f.As {
	case "number":
		m := written.FindString(v)
		return decimal(m), m != ""
	case "date":
		m := day.FindStringSubmatch(v)
		if m == nil {
			return "", false
		}
		at, err := time.Parse("2006-1-2", m[1]+"-"+m[2]+"-"+m[3])
		return at.Format(time.DateOnly), err == nil
	}
	return v, v != ""
}

// written is a number as prices are written; day is a date that begins with its year, whatever stands between.
var (
	written = regexp.MustCompile(`-?\d+(?:[.,]\d+)*`)
	day     = regexp.MustCompile(`(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})`)
)

// decimal writes a number with a point alone. What stands once, and last, is the point of 1,234.50 and of 1.234,50; a comma before three
// figures that stands alone is none, as in 1,234.
func decimal(s string) string {
	at := strings.LastIndexAny(s, ".,")
	if at < 0 {
		return s
	}
	whole, rest := s[:at], s[at+1:]
	groups := strings.NewReplacer(".", "", ",", "")
	if strings.ContainsRune(whole, rune(s[at])) || s[at] == ',' && len(rest) == 3 && !strings.Contains(whole, ".") {
		return groups.Replace(s)
	}
	return groups.Replace(whole) + "." + rest
}

// EncodeFields writes fields down.
func EncodeFields(list []Field) ([]byte, error) { return json.Marshal(list) }

// DecodeFields reads what EncodeFields wrote.
func DecodeFields(b []byte) (*Fields, error) {
	var list []Field
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("fields: %w", err)
	}
	return NewFields(list)
}
