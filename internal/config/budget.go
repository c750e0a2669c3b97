package config

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// What a job file may hold, whatever its keys say: the parser's memory is many times a file's, and an alias multiplies it. How many
// words and signs there are is counted on the bytes, before anything is kept of them; the rest is looked at on tokens.
const (
	maxSigns = 512 << 10 // 170,000 seeds and all else; the reader takes 550 bytes for each
	maxDeep  = 32        // maps and lists in each other: job files need four
	maxRight = 200       // columns of what may begin a map or list in block style
	first64K = 64 << 10  // is read alone first: a file that nests without end does so there
)

// budget refuses a file that would cost more than a job file may, and what it could say that nobody reads. It reports whether numbers with
// a fraction are in it.
func budget(file []byte) (fractions bool, err error) {
	if signs(file) > maxSigns {
		return false, fmt.Errorf("more than %d words and signs; many seeds belong into a file of their own (seeds_file)", maxSigns)
	}
	if len(file) > first64K {
		var deep *tooDeep
		if _, err := looked(file[:first64K]); errors.As(err, &deep) {
			return false, err
		}
	}
	return looked(file)
}

// signs returns how many tokens a file has, or more: each has a sign of its own, or stands between two.
func signs(file []byte) int {
	n := 1
	for i, b := range file {
		switch b {
		case '\n', '\r':
			n++
		case '[', ']', '{', '}', ',', '"', '\'', '#', '&', '*', '!', '|', '>', '%', '@', '`':
			n += 2
		case ':':
			if !bytes.HasPrefix(file[i:], []byte("://")) {
				n += 2
			}
		case '-', '?':
			if i+1 == len(file) || file[i+1] == ' ' || file[i+1] == '\t' || file[i+1] == '\n' || file[i+1] == '\r' {
				n += 2
			}
		}
	}
	return n
}

// tooDeep is that maps and lists are nested too deep.
type tooDeep struct{ line int }

func (e *tooDeep) Error() string {
	return fmt.Sprintf("line %d: maps and lists are nested deeper than %d", e.line, maxDeep)
}

// looked refuses what no job file needs, by its tokens, and reports whether numbers with a fraction are among them.
func looked(file []byte) (fractions bool, err error) {
	flow, line, directive := 0, 0, 0
	const before, within, after = 0, 1, 2
	document := before
	for _, t := range lexer.Tokenize(string(file)) {
		at := t.Position
		first := at.Line != line
		line = at.Line
		switch t.Type {
		case token.AliasType, token.AnchorType, token.MergeKeyType:
			return false, fmt.Errorf("line %d: anchors and aliases are not allowed; write it out, or quote it", at.Line)
		case token.TagType:
			return false, fmt.Errorf("line %d: tags are not allowed; a ! at the beginning needs quotes", at.Line)
		case token.DocumentHeaderType:
			if document != before {
				return false, fmt.Errorf("line %d: a second document begins; a file has one", at.Line)
			}
		case token.FloatType:
			fractions = true
		case token.MappingStartType, token.SequenceStartType:
			if flow++; flow > maxDeep {
				return false, &tooDeep{at.Line}
			}
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			first = true // another one may begin on the same line
		}
		switch {
		case t.Type == token.CommentType, t.Type == token.DocumentHeaderType, at.Line == directive:
		case t.Type == token.DirectiveType:
			directive = at.Line
		case t.Type == token.DocumentEndType:
			document = after
		case document == after:
			return false, fmt.Errorf("line %d: a second document begins; a file has one", at.Line)
		default:
			document = within
		}
		if first && flow == 0 && at.Column > maxRight {
			return false, fmt.Errorf("line %d: a map or list begins in column %d; allowed are %d", at.Line, at.Column, maxRight)
		}
	}
	return fractions, nil
}
