package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readClasses reads the texts of a collection by their labels: all its files, a line for each text, of a label, a tab and words.
func readClasses(dir string) (map[string][][]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt.gz"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("%s: no *.txt.gz there", dir), err)
	}
	out := map[string][][]string{}
	for _, name := range files {
		if err := readTexts(name, out); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

func readTexts(name string, out map[string][][]string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		label, text, ok := strings.Cut(lines.Text(), "\t")
		if words := strings.Fields(text); ok && len(words) >= leastWords {
			out[label] = append(out[label], words)
		}
	}
	return lines.Err()
}

// leastWords is how long a text is, at least: shorter ones say nothing of their class.
const leastWords = 30
