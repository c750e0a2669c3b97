//go:build ignore

// Command make writes words.zst, the dictionary of this package, from that of github.com/go-ego/gse at the version of go.mod:
//
//	go run make.go
//
// It needs the program zstd.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func write() error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/go-ego/gse").Output()
	if err != nil {
		return err
	}
	seen := map[string]uint64{}
	for _, name := range []string{"s_1.txt", "t_1.txt"} { // simplified, then traditional: the first entry of a word holds
		b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "data", "dict", "zh", name))
		if err != nil {
			return err
		}
		for _, line := range strings.Split(string(b), "\n") {
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			n, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", name, line, err)
			}
			word := strings.ToLower(f[0])
			if _, ok := seen[word]; ok || n < 2 {
				continue
			}
			if utf8.RuneCountInString(word) == 1 {
				n = 2 // single characters are what is left over
			}
			seen[word] = n
		}
	}
	words := make([]string, 0, len(seen))
	for w := range seen {
		words = append(words, w)
	}
	sort.Strings(words)
	b, err := pack(words, seen)
	if err != nil {
		return err
	}
	fmt.Printf("%d words, %d bytes\n", len(words), len(b))
	return os.WriteFile("words.zst", b, 0o644)
}

// pack writes four columns one after the other, each with its length in front: how many units of UTF-16 a word shares with the one
// before it, how many are its own, these units, and its frequency. The zstd program compresses them: a tenth better than the library.
func pack(words []string, freq map[string]uint64) ([]byte, error) {
	var shared, own, text, count []byte
	var last []uint16
	for _, w := range words {
		units := utf16.Encode([]rune(w))
		n := 0
		for n < len(units) && n < len(last) && units[n] == last[n] {
			n++
		}
		if len(units) > 255 {
			return nil, fmt.Errorf("%q is too long", w)
		}
		shared, own = append(shared, byte(n)), append(own, byte(len(units)-n))
		for _, unit := range units[n:] {
			text = binary.BigEndian.AppendUint16(text, unit)
		}
		count = binary.AppendUvarint(count, freq[w])
		last = units
	}
	var all []byte
	for _, column := range [][]byte{shared, own, text, count} {
		all = append(binary.AppendUvarint(all, uint64(len(column))), column...)
	}
	z := exec.Command("zstd", "--ultra", "-22", "-c")
	z.Stdin, z.Stderr = bytes.NewReader(all), os.Stderr
	return z.Output()
}
