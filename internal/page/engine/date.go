package engine

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Ways in which pages write dates, with the groups in which year, month and day stand. A day and a month in figures are read in the order
// that a point between them says, and otherwise only where one of them is above 12.
var ways = []struct {
	at               *regexp.Regexp
	year, month, day int
}{
	{regexp.MustCompile(`(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})`), 1, 2, 3},
	{regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th|er|[.º°])?,?\s*(?:of\s+|de\s+)?(\p{L}+)\.?,?\s*(?:de\s+|del\s+)?(\d{4})\b`), 3, 2, 1},
	{regexp.MustCompile(`(\p{L}+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b`), 3, 1, 2},
	{regexp.MustCompile(`\b(\d{1,2})\s*\.\s*(\d{1,2})\s*\.\s*(\d{4})\b`), 3, 2, 1},
	{regexp.MustCompile(`\b(1[3-9]|2\d|3[01])\s*[-/]\s*(\d{1,2})\s*[-/]\s*(\d{4})\b`), 3, 2, 1},
	{regexp.MustCompile(`\b(\d{1,2})\s*[-/]\s*(1[3-9]|2\d|3[01])\s*[-/]\s*(\d{4})\b`), 3, 1, 2},
}

// monthNames are the words for months, with usual short forms, in English, German, French, Spanish, Italian, Portuguese, Dutch, the
// Scandinavian languages, Polish and Russian.
var monthNames = [12]string{
	"january jan januar jänner januari janvier janv enero ene gennaio gen janeiro stycznia styczeń января янв январь",
	"february feb februar feber februari février févr fevrier febrero febbraio fevereiro fev lutego luty февраля фев февр февраль",
	"march mar märz mär mrz maart mrt mars marzo março marts marca marzec марта мар март",
	"april apr avril avr abril abr aprile kwietnia kwiecień апреля апр апрель",
	"may mai mayo maggio mag maio mei maj maja мая май",
	"june jun juni juin junio giugno giu junho czerwca czerwiec июня июн июнь",
	"july jul juli juillet juil julio luglio lug julho lipca lipiec июля июл июль",
	"august aug août aout agosto ago augustus augusti sierpnia sierpień августа авг август",
	"september sep sept septembre septiembre settembre set setembro września wrzesień сентября сен сент сентябрь",
	"october oct oktober okt octobre octubre ottobre ott outubro out października październik октября окт октябрь",
	"november nov novembre noviembre novembro listopada listopad ноября ноя нояб ноябрь",
	"december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro desember des grudnia grudzień декабря дек декабрь",
}

var months = func() map[string]int {
	out := map[string]int{}
	for i, names := range monthNames {
		for _, name := range strings.Fields(names) {
			out[name] = i + 1
		}
	}
	return out
}()

// dateOf returns the first date of a text, as 2013-05-04; ok is false if there is none that can be read.
func dateOf(text string) (date string, ok bool) {
	first := len(text) + 1
	for _, w := range ways {
		for _, m := range w.at.FindAllStringSubmatchIndex(text, -1) {
			group := func(n int) string { return text[m[2*n]:m[2*n+1]] }
			month := months[strings.ToLower(group(w.month))]
			if month == 0 {
				month, _ = strconv.Atoi(group(w.month))
			}
			at, err := time.Parse("2006-1-2", group(w.year)+"-"+strconv.Itoa(month)+"-"+group(w.day))
			if err == nil && m[0] < first {
				date, first, ok = at.Format(time.DateOnly), m[0], true
			}
		}
	}
	return date, ok
}
