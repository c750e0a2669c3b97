package engine

import (
	"regexp"
	"strings"
)

// written is what looks like a number, as far as it goes: figures with spaces, apostrophes, points and commas between them.
var written = regexp.MustCompile(`\d+(?:[ '’.,]\d+)*`)

// grouped are the ways in which numbers are written: without groups, in groups of three, in groups as India has them.
var grouped = regexp.MustCompile(`^(?:\d+(?:[.,]\d+)?|\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?|\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?|\d{1,3},\d{3}\.\d+|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}\.\d{3},\d+|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?)$`)

// What stands beside figures that are only a part of something else: v2, A4, 3-4 and 12:30 before the figures; 1e6, 2013年5月, 3-4, 12:30 and 1/2
// behind them. A sign of a currency and a code of one (EUR19.99) may stand there.
var (
	partBefore = regexp.MustCompile(`(?:^|[^\p{Latin}])\p{Latin}$|\p{Latin}*[\p{Ll}]\p{Latin}*$|[\p{L}\d][-−–]$|\d[:/]$|[.,]$`)
	partBehind = regexp.MustCompile(`^(?:\p{L}+\d|[-−–:/.,]\d)`)
	full       = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9", "．", ".", "，", ",")
)

// numberOf is the first number of a text, with a point alone; false: the first figures of the text are not clearly a number.
func numberOf(text string) (string, bool) {
	text = full.Replace(text)
	at := written.FindStringIndex(text)
	if at == nil {
		return "", false
	}
	before, number, behind := text[:at[0]], text[at[0]:at[1]], text[at[1]:]
	if !grouped.MatchString(number) || partBefore.MatchString(before) || partBehind.MatchString(behind) {
		return "", false
	}
	sign := ""
	if strings.HasSuffix(before, "-") || strings.HasSuffix(before, "−") {
		sign = "-"
	}
	return sign + decimal(strings.NewReplacer(" ", "", "'", "", "’", "").Replace(number)), true
}

// decimal writes a number with a point alone. What stands once, and last, is the point of 1,234.50 and of 1.234,50; a comma before three
// figures that stands alone is none, as in 1,234.
func decimal(s string) string {
	at := strings.LastIndexAny(s, ".,")
	if at < 0 {
		return s
	}
	whole, rest := s[:at], s[at+1:]
	groups := strings.NewReplacer(".", "", ",", "")
	if strings.ContainsRune(whole, rune(s[at])) || s[at] == ',' && len(rest) == 3 && !strings.Contains(whole, ".") {
		return groups.Replace(s)
	}
	return groups.Replace(whole) + "." + rest
}
