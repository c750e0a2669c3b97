package crawl

import (
	"reflect"
	"testing"
)

// spoil writes a text that is not UTF-8 into every string of v, one at a time, and calls fn; it fills what is empty first, so that no
// field of a type is left out.
func spoil(v reflect.Value, fn func()) {
	switch v.Kind() {
	case reflect.String:
		was := v.String()
		v.SetString("caf\xe9")
		fn()
		v.SetString(was)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		spoil(v.Elem(), fn)
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(v.Field(i), fn)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		spoil(v.Index(1), fn)
	case reflect.Array:
		spoil(v.Index(0), fn)
	case reflect.Map:
		entry, key := reflect.New(v.Type().Elem()).Elem(), reflect.ValueOf("key")
		v.Set(reflect.MakeMap(v.Type()))
		spoil(entry, func() {
			v.SetMapIndex(key, entry)
			fn()
			v.SetMapIndex(key, reflect.Value{})
		})
		if v.Type().Key().Kind() == reflect.String {
			bad := reflect.ValueOf("caf\xe9").Convert(v.Type().Key())
			v.SetMapIndex(bad, reflect.Zero(v.Type().Elem()))
			fn()
			v.SetMapIndex(bad, reflect.Value{})
		}
	}
}

// Every text of what a person can say is looked at: what passes can be read by every reader of the log.
func TestWhatIsNotUTF8IsRefused(t *testing.T) {
	for _, v := range []any{&Job{}, &Edit{}, &SeedChunk{}, &Release{}, &JobState{}} {
		texts := 0
		spoil(reflect.ValueOf(v).Elem(), func() {
			texts++
			f := CheckText(v)
			b, err := Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if again := reflect.New(reflect.TypeOf(v).Elem()).Interface(); strict.Unmarshal(b, again) == nil {
				t.Fatalf("%T: the decoder takes it, and has to refuse: %v", v, f)
			}
			if f == nil || f.Rule != RuleText {
				t.Errorf("%T: text %d is not UTF-8, and it passes", v, texts)
			}
		})
		if f := CheckText(v); f != nil {
			t.Errorf("%T: refused without need: %v", v, f)
		}
		t.Logf("%T: %d texts", v, texts)
	}
	job := &Job{Identity: Identity{Topic: &Topic{Terms: []TopicTerm{{Word: "a"}, {Next: "\xff"}}}}}
	if f := job.Check(); f == nil || f.Error() != "identity.topic.terms[1].next: not UTF-8" {
		t.Error(f)
	}
}
