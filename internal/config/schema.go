package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema returns the JSON schema of a job file (draft 2020-12). It is made of the very types that files are read into.
func Schema() ([]byte, error) {
	return SchemaOf[Job]("Argosy job")
}

// SchemaOf returns the JSON schema of a file that is read into a T, whose fields have the tags yaml, doc, enum, min and max.
func SchemaOf[T any](title string) ([]byte, error) {
	s := schemaOf(reflect.TypeFor[T]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = title
	return json.MarshalIndent(s, "", "  ")
}

type object = map[string]any

func schemaOf(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[Duration]():
		return object{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`}
	case reflect.TypeFor[Size]():
		return object{"type": []string{"integer", "string"}, "pattern": `^[0-9]+[KMGTkmgt]?[Bb]?$`}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		props := object{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name == "" || name == "-" {
				continue
			}
			p := schemaOf(f.Type)
			if d := f.Tag.Get("doc"); d != "" {
				p["description"] = d
			}
			if e := f.Tag.Get("enum"); e != "" {
				p["enum"] = strings.Fields(e)
			}
			for tag, key := range map[string]string{"min": "minimum", "max": "maximum"} {
				if n, err := strconv.Atoi(f.Tag.Get(tag)); err == nil {
					p[key] = n
				}
			}
			props[name] = p
		}
		return object{"type": "object", "properties": props, "additionalProperties": false}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

// ranges refuses values outside what the types' tags allow, so that files and schema say the same.
func ranges(j *Job) error {
	if err := within(reflect.ValueOf(j).Elem(), ""); err != nil {
		return err
	}
	if d := j.Limits.RecycleAfter; d != nil && time.Duration(*d) < time.Second {
		return fmt.Errorf("limits.recycle_after: %s is too short: allowed is 1s or more", time.Duration(*d))
	}
	return nil
}

func within(v reflect.Value, path string) error {
	t := v.Type()
	for i := range t.NumField() {
		f, x := t.Field(i), v.Field(i)
		name := path + f.Tag.Get("yaml")
		if x.Kind() == reflect.Pointer {
			if x.IsNil() {
				continue
			}
			x = x.Elem()
		}
		if e := f.Tag.Get("enum"); e != "" && x.String() != "" && !slices.Contains(strings.Fields(e), x.String()) {
			return fmt.Errorf("%s: %q: allowed are %s", name, x.String(), strings.ReplaceAll(e, " ", ", "))
		}
		for _, b := range []struct {
			tag string
			bad func(n, limit float64) bool
		}{{"min", func(n, l float64) bool { return n < l }}, {"max", func(n, l float64) bool { return n > l }}} {
			limit, err := strconv.ParseFloat(f.Tag.Get(b.tag), 64)
			if err != nil {
				continue
			}
			n := 0.0
			if x.CanInt() {
				n = float64(x.Int())
			} else if x.CanFloat() {
				n = x.Float()
			}
			if b.bad(n, limit) {
				return fmt.Errorf("%s: %g: the %simum is %g", name, n, b.tag, limit)
			}
		}
		if x.Kind() == reflect.Struct && f.Tag.Get("doc") != "" && f.Type.Kind() == reflect.Struct {
			if err := within(x, name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}
