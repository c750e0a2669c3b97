package crawl

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckText returns why a value that somebody gave is refused: a text in it, or a key of a map, is not UTF-8, and no reader of the
// log would take it. Its field is named by the keys that JSON has for it. nil: it passes. v is a wire type, or a pointer to one.
func CheckText(v any) *Fault {
	if field, bad := badText(reflect.ValueOf(v)); bad {
		return &Fault{Field: strings.TrimPrefix(field, "."), Rule: RuleText}
	}
	return nil
}

// badText finds the first text that is not UTF-8, and says where it stands.
func badText(v reflect.Value) (field string, bad bool) {
	switch v.Kind() {
	case reflect.String:
		return "", !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "", false
		}
		return badText(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if field, bad := badText(v.Field(i)); bad {
				return "." + jsonName(v.Type().Field(i)) + field, true
			}
		}
	case reflect.Slice, reflect.Array:
		if kind := v.Type().Elem().Kind(); kind != reflect.String && kind < reflect.Array {
			return "", false // numbers, or bytes that are not text
		}
		for i := range v.Len() {
			if field, bad := badText(v.Index(i)); bad {
				return "[" + strconv.Itoa(i) + "]" + field, true
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if _, bad := badText(entry.Key()); bad {
				return "", true
			}
			if field, bad := badText(entry.Value()); bad {
				return "[" + entry.Key().String() + "]" + field, true
			}
		}
	}
	return "", false
}

func jsonName(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
		return name
	}
	return strings.ToLower(f.Name)
}
