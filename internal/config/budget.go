package config

import (
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// What a job file may hold, whatever its keys say: the parser's memory is many times a file's, and an alias multiplies it. They
// are looked at before anything is parsed, on tokens, which cost time in proportion to the file.
const (
	maxNodes = 4 << 20 // tokens: a million seeds and all else
	maxDeep  = 32      // maps and lists in each other: job files need four
	maxRight = 200     // columns of what may begin a map or list in block style
)

// budget refuses a file that would cost more than a job file may.
func budget(file []byte) error {
	tokens := lexer.Tokenize(string(file))
	if len(tokens) > maxNodes {
		return fmt.Errorf("%d words and signs; allowed are %d", len(tokens), maxNodes)
	}
	flow, line := 0, 0
	for _, t := range tokens {
		at := t.Position
		first := at.Line != line
		line = at.Line
		switch t.Type {
		case token.AliasType, token.AnchorType, token.MergeKeyType:
			return fmt.Errorf("line %d: anchors and aliases are not allowed; write it out, or quote it", at.Line)
		case token.MappingStartType, token.SequenceStartType:
			if flow++; flow > maxDeep {
				return fmt.Errorf("line %d: maps and lists are nested deeper than %d", at.Line, maxDeep)
			}
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			first = true // another one may begin on the same line
		}
		if first && flow == 0 && at.Column > maxRight {
			return fmt.Errorf("line %d: a map or list begins in column %d; allowed are %d", at.Line, at.Column, maxRight)
		}
	}
	return nil
}
