package engine

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxProgram bounds an RE2 expression, in the instructions that it becomes: to hold it against a text takes their product at most.
const maxProgram = 1000

// expr is an RE2 expression.
type expr struct {
	*regexp.Regexp
	size int
}

// steps is what it takes to hold it against a text of n bytes. The larger it is the more of its instructions may be alive at each byte: one of
// 154 that repeats what it repeats took 2 s for a megabyte on a 2-core VM, as long as all steps of an answer.
func (e *expr) steps(n int) int { return (n/8 + 1) * (1 + e.size*e.size/130) }

// expression reads an RE2 expression; an empty one is nil.
func expression(key, text string) (*expr, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxSelector {
		return nil, fmt.Errorf("%s: longer than %d bytes", key, maxSelector)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", key, text, err)
	}
	size := program(parsed)
	if size > maxProgram {
		return nil, fmt.Errorf("%s %q: %w", key, text, errors.New("too large: let it repeat less"))
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", key, text, err)
	}
	return &expr{re, size}, nil
}

// program is about how many instructions an expression becomes, with what it repeats written out.
func program(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += program(sub)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n, maxProgram+1) * max(re.Min, re.Max, 1)
	}
	return min(n, maxProgram+1)
}
