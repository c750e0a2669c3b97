package config

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/lexer"
)

// laughs is a file whose aliases stand for 9^levels words.
func laughs(levels int) string {
	s := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i <= levels; i++ {
		s += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return s + fmt.Sprintf("seeds: *a%d\n", levels)
}

// A file that would take the memory of a parser is refused, in one line that says why, before it is parsed.
func TestBudget(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"aliases":          {laughs(9), "line 1: anchors and aliases"},
		"merge keys":       {"limits: {<<: {max_pages: 1}}\nseeds: [a.test]\n", "line 1: anchors and aliases"},
		"two documents":    {"seeds: [a.test]\n---\nseeds: [b.test]\n", "line 2: a second document begins"},
		"another document": {"%YAML 1.2\n---\nseeds: [a.test]\n...\n# no more\nname: b\n", "line 6: a second document begins"},
		"a tag":            {"name: !!python/object:os.system x\nseeds: [a.test]\n", "line 1: tags are not allowed"},
		"a tag in a list":  {"seeds: [!!int \"a.test\"]\n", "line 1: tags are not allowed"},
		"nothing but [":    {strings.Repeat("[", 5_000_000), "words and signs"},
		"a wide list":      {"dictionary: [" + strings.Repeat("a,", 600_000) + "b]", "words and signs"},
		"many lines":       {"seeds:\n" + strings.Repeat("- a\n", 600_000), "seeds_file"},
		"deep after much":  {"seeds:\n" + strings.Repeat("- a\n", 30_000) + "a: " + strings.Repeat("[", 100_000), "nested deeper than 32"},
		"open lists":       {"seeds: " + strings.Repeat("[", 100_000), "nested deeper than 32"},
		"open maps":        {strings.Repeat("a: {", 100_000), "nested deeper than 32"},
		"lists in a line":  {"seeds: " + strings.Repeat("- ", 100_000), "begins in column"},
		"keys in a line":   {strings.Repeat("? ", 100_000) + "a", "begins in column"},
		"lists by columns": {stairs("- a:"), "begins in column"},
		"maps by columns":  {stairs("a:"), "begins in column"},
	} {
		begin := time.Now()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadJob(strings.NewReader(c.file))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
			t.Errorf("%s: %d MiB were taken for %d bytes, in %v", name, used>>20, len(c.file), time.Since(begin))
		}
	}
	for name, file := range map[string]string{
		"a star in a string": "seeds: ['http://a.test/*', \"http://a.test/&x\"]\ninclude: ['.*']\n",
		"deep enough":        "seeds: [a.test]\nplacing: {places: {a.test: {lat: 1, lon: 2}}}\n",
		"one document":       "%YAML 1.2\n# a job\n---\nseeds: [a.test]\n...\n# the end\n",
		"an exclamation":     "seeds: ['a.test/!x', b.test/!y]\n",
		"a long line":        "seeds: [" + strings.Repeat("a.test, ", 5000) + "b.test]\n",
		"a block of text":    "name: >\n    " + strings.Repeat("words ", 200) + "\nseeds:\n- a.test\n",
	} {
		if _, err := ReadJob(strings.NewReader(file)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No file has more tokens than are counted on its bytes.
func TestSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const alphabet = "ab1/ -:?[]{},\"'#&*!|>%@`\n\r\t~<=.\\\u00e9"
	letters := []rune(alphabet)
	for range 20_000 {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		if n := len(lexer.Tokenize(b.String())); n > signs([]byte(b.String())) {
			t.Fatalf("%q: %d tokens, %d were counted", b.String(), n, signs([]byte(b.String())))
		}
	}
}

// stairs is a key in a key, each a column further right.
func stairs(key string) string {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(strings.Repeat(" ", i) + key + "\n")
	}
	return b.String()
}
