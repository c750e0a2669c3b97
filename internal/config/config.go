// Package config reads what users write: job files, in YAML. Unknown keys are refused, and what is wrong is said in one
// line with its place.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"

	"argosy/internal/split"
)

// Job is a job file.
type Job struct {
	Name       string         `yaml:"name"`
	Dictionary []string       `yaml:"dictionary"` // words that the segmenter is to know
	Virtual    *split.Virtual `yaml:"virtual"`
}

// maxFile bounds a job file, in bytes.
const maxFile = 4 << 20

// ReadJob reads a job file.
func ReadJob(r io.Reader) (Job, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return Job{}, err
	}
	if len(b) > maxFile {
		return Job{}, fmt.Errorf("more than %d bytes", maxFile)
	}
	var j Job
	if err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict(), yaml.DisallowUnknownField()).Decode(&j); err != nil {
		if errors.Is(err, io.EOF) {
			return Job{}, fmt.Errorf("nothing in it")
		}
		return Job{}, oneLine(err)
	}
	return j, nil
}

// oneLine keeps the first line of an error; what follows is an excerpt of the file.
func oneLine(err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		return fmt.Errorf("line %d: %s", ye.GetToken().Position.Line, ye.GetMessage())
	}
	first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return errors.New(first)
}
