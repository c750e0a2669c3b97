package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// As returns what is made of a field, by its place in Names: "number", which strconv.ParseFloat reads, "date", or nothing: it is a text.
func (fs *Fields) As(i int) string { return fs.list[i].Field.As }

// Of takes the fields out of a page of HTML, in the order of Names: each has no value, one, or, where all are wanted, several. unread has,
// for each field without a value, the first text in its place that is not the number or the date that it should be.
func (fs *Fields) Of(body []byte, contentType string) (values [][]string, unread []string, err error) {
	d, err := open("html", body, contentType)
	if err != nil {
		return nil, nil, err
	}
	values, unread = make([][]string, len(fs.list)), make([]string, len(fs.list))
	for i := range fs.list {
		f := &fs.list[i]
		all, err := f.at.all(d, found{node: d.tree, root: true})
		if err != nil {
			return nil, nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		for _, one := range all {
			text, ok := f.at.value(d, one)
			if !ok {
				continue
			}
			v, ok := f.made(text)
			if !ok {
				unread[i] = cmp.Or(unread[i], text)
				continue
			}
			if values[i] = append(values[i], v); !f.All {
				break
			}
		}
		if len(values[i]) > 0 {
			unread[i] = ""
		}
	}
	return values, unread, nil
}

// made is what is made of a text; false: it is not that.
func (f *field) made(v string) (string, bool) {
	v = strings.Join(strings.Fields(v), " ")
	switch f.As {
	case "number":
		return numberOf(v)
	case "date":
		return dateOf(v)
	}
	return v, v != ""
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
