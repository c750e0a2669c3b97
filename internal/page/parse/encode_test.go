package parse

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// What Chromium sends of such characters in a query (156.0, which was asked for all of the first plane and of the second's ideographs).
func TestQueriesAsBrowsersEncodeThem(t *testing.T) {
	for name, of := range map[string]map[string]string{
		"big5": {
			"À": "%26%23192%3B", "ⅰ": "%C6%B5", "═": "%F9%F9", "╞": "%F9%E9", "╭": "%A2~", "〃": "%A1%B2", "仝": "%C6%DF", "十": "%A4Q", "卅": "%A4%CA",
			"嫺": "%F9%DC", "表": "%AA%ED", "髙": "%26%2339641%3B", "𠂉": "%26%23131209%3B", "−": "%26%238722%3B",
		},
		"shift_jis": {
			"¥": `\`, "‾": "~", "−": "%81|", "ⅰ": "%FA@", "髙": "%FB%FC", "﨑": "%FA%B1", "纊": `%FA\`, "∵": "%81%E6", "①": "%87@", "表": `%95\`, "ｱ": "%B1", "©": "%26%23169%3B",
			"〜": "%26%2312316%3B", "～": "%81`",
		},
		"euc-jp": {
			"¥": `\`, "‾": "~", "−": "%A1%DD", "ⅰ": "%FC%F1", "髙": "%FC%E2", "﨑": "%F9%F5", "①": "%AD%A1", "表": "%C9%BD", "ｱ": "%8E%B1", "©": "%26%23169%3B", "丂": "%26%2319970%3B",
		},
		"iso-2022-jp": {
			"¥": `%1B(J\%1B(B`, "‾": "%1B(J~%1B(B", "−": "%1B$B!]%1B(B", "ⅰ": "%1B$B|q%1B(B", "髙": "%1B$B|b%1B(B", "ｱ": "%1B$B%%22%1B(B", "゜": "%1B$B!,%1B(B", "©": "%26%23169%3B",
			"日本": `%1B$BF|K\%1B(B`, "日©本a": `%1B$BF|%1B(B%26%23169%3B%1B$BK\%1B(Ba`, `¥a\日`: `%1B(J\a%1B(B\%1B$BF|%1B(B`,
		},
		"windows-1252": {"é": "%E9", "€": "%80", "日": "%26%2326085%3B"},
		"euc-kr":       {"한": "%C7%D1", "é": "%26%23233%3B"},
	} {
		for text, want := range of {
			e, err := htmlindex.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := encodeQuery(text, name, e.NewEncoder()); got != want {
				t.Errorf("%s, %s: %s, want %s", name, text, got, want)
			}
		}
	}
}

// What is encoded is decoded to what it was, but for the characters that the Standard has encoders fold.
func TestQueriesAreDecoded(t *testing.T) {
	folded := strings.NewReplacer("¥", `\`, "‾", "~", "−", "－")
	for _, name := range []string{"big5", "shift_jis", "euc-jp"} {
		e, err := htmlindex.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		had := 0
		for r := rune(0xa0); r < 0x20100; r++ {
			if r >= 0xd800 && r < 0xf900 || r > 0xffff && r < 0x20000 {
				continue
			}
			coded := encodeQuery(string(r), name, e.NewEncoder())
			if strings.HasPrefix(coded, "%26%23") {
				continue
			}
			had++
			b, err := url.PathUnescape(coded)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.NewDecoder().String(b); err != nil || got != folded.Replace(string(r)) {
				t.Errorf("%s, %c: %s is %s, %v", name, r, coded, got, err)
			}
		}
		if had < 6000 {
			t.Errorf("%s has %d characters", name, had)
		}
	}
}

// A byte that an encoding of one byte a character leaves open is a control character, as in browsers: a page in UTF-8 that says to be in
// another encoding has its queries asked for with the bytes that stand in it.
func TestBytesThatStandForNothing(t *testing.T) {
	for _, name := range []string{"iso-8859-2", "iso-8859-5", "iso-8859-15", "windows-1250", "windows-1251", "windows-1252"} {
		var all, want strings.Builder
		for c := 0x80; c <= 0xff; c++ {
			if r, _ := utf8.DecodeRuneInString(Decode([]byte{byte(c)}, name)); r == utf8.RuneError {
				t.Errorf("%s: byte %x is no character", name, c)
			}
			all.WriteByte(byte(c))
			fmt.Fprintf(&want, "%%%02X", c)
		}
		if got := DecodeRef([]byte("/x?q="+all.String()), name); got != "/x?q="+want.String() {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := DecodeRef([]byte("/Íñ?q=Á&ł=ł"), "windows-1252"); got != "/Ã\u008dÃ±?q=%C3%81&%C5%82=%C5%82" {
		t.Errorf("UTF-8 that is called windows-1252: %q", got)
	}
	for name, none := range map[string]byte{"windows-1253": 0xaa, "iso-8859-3": 0xa5, "windows-874": 0xff} { // beyond them there are none
		if got := Decode([]byte{none}, name); got != "\uFFFD" {
			t.Errorf("%s: byte %x is %q", name, none, got)
		}
	}
}
