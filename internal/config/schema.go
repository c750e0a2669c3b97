package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/plan/split"
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
	case reflect.TypeFor[Limits]():
		return limitsSchema()
	case reflect.TypeFor[Site]():
		return siteSchema()
	case reflect.TypeFor[Size]():
		return sizeSchema()
	case reflect.TypeFor[Span]():
		return spanSchema()
	}
	if t == reflect.TypeFor[split.Product]() || t == reflect.TypeFor[split.Use]() {
		return object{"anyOf": []object{{"type": "string"}, structSchema(t)}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return structSchema(t)
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

func structSchema(t reflect.Type) object {
	props := object{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" {
			maps.Copy(props, schemaOf(f.Type)["properties"].(object))
		}
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
			if n, err := strconv.ParseFloat(f.Tag.Get(tag), 64); err == nil {
				p[key] = n
			}
		}
		props[name] = p
	}
	return object{"type": "object", "properties": props, "additionalProperties": false}
}

func sizeSchema() object {
	return object{"type": []string{"integer", "string"}, "pattern": `^[0-9]+[KMGTkmgt]?[Bb]?$`}
}

func spanSchema() object {
	return object{"anyOf": []object{{"const": 0}, {"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`}}}
}

// limitsSchema is made of the tags of crawl.Limits.
func limitsSchema() object {
	props := object{}
	for _, l := range crawl.AllLimits {
		var p object
		switch l.Unit {
		case crawl.UnitSpan:
			p = spanSchema()
		case crawl.UnitSize:
			p = sizeSchema()
		default:
			p = object{"type": "integer", "minimum": l.Min}
			if l.Max < math.MaxInt32 {
				p["maximum"] = l.Max
			}
		}
		p["description"] = l.Doc
		if d := crawl.DefaultLimits(); l.Of(&d) != 0 {
			p["default"] = l.Format(l.Of(&d))
			if l.Unit == crawl.UnitCount {
				p["default"] = l.Of(&d)
			}
		}
		props[l.Name] = p
	}
	for name, why := range gone {
		props[name] = object{"description": "gone, and not looked at: " + why, "deprecated": true}
	}
	return object{"type": "object", "properties": props, "additionalProperties": false}
}

// within refuses values outside what the types' tags allow, so that files and schema say the same; key says which one.
func within(v reflect.Value, path string) (key string, err error) {
	t := v.Type()
	for i := range t.NumField() {
		f, x := t.Field(i), v.Field(i)
		tag, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		name := path + tag
		if x.Kind() == reflect.Pointer {
			if x.IsNil() {
				continue
			}
			x = x.Elem()
		}
		if e := f.Tag.Get("enum"); e != "" && x.String() != "" && !slices.Contains(strings.Fields(e), x.String()) {
			return name, fmt.Errorf("%q: allowed are %s", x.String(), strings.ReplaceAll(e, " ", ", "))
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
			if math.IsNaN(n) || math.IsInf(n, 0) {
				return name, fmt.Errorf("%g: not a finite number", n)
			}
			if b.bad(n, limit) {
				return name, fmt.Errorf("%s: the %simum is %s", strconv.FormatFloat(n, 'f', -1, 64), b.tag, strconv.FormatFloat(limit, 'f', -1, 64))
			}
		}
		if option == "inline" {
			name = path
		} else {
			name += "."
		}
		if key, err := nested(x, f, name); err != nil {
			return key, err
		}
	}
	return "", nil
}

// nested checks what is inside a field: a struct, or a list of them. path is what stands before its keys.
func nested(x reflect.Value, f reflect.StructField, path string) (key string, err error) {
	switch {
	case f.Tag.Get("doc") == "" && !strings.Contains(f.Tag.Get("yaml"), "inline"):
		return "", nil
	case x.Kind() == reflect.Struct:
		return within(x, path)
	case x.Kind() == reflect.Slice && x.Type().Elem().Kind() == reflect.Struct:
		for i := range x.Len() {
			if key, err := within(x.Index(i), fmt.Sprintf("%s[%d].", strings.TrimSuffix(path, "."), i)); err != nil {
				return key, err
			}
		}
	}
	return "", nil
}
