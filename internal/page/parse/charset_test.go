package parse

import "testing"

func TestIsASCII(t *testing.T) {
	for n := range 100 {
		b := make([]byte, n)
		if !isASCII(b) {
			t.Errorf("%d zeros are not ASCII", n)
		}
		for i := range b {
			b[i] = 0x80
			if isASCII(b) {
				t.Errorf("byte %d of %d is not seen", i, n)
			}
			b[i] = 0x7f
		}
	}
}

// The first declaration that names an encoding counts (HTML Standard, section 13.2.3.2), however it is written.
func TestDeclaredCharset(t *testing.T) {
	for doc, want := range map[string]string{
		`<meta charset=nonsense><meta charset=koi8-r>`:                                                         "koi8-r",
		`<meta charset="{{ charset }}"><meta http-equiv=content-type content="text/html; charset=koi8-r">`:     "koi8-r",
		`<meta http-equiv=content-type content="text/html; charset="><meta charset=koi8-r>`:                    "koi8-r",
		`<meta http-equiv=content-type content="text/html; charset=x"><meta charset=koi8-r><meta charset=gbk>`: "koi8-r",
		`<meta http-equiv=content-type content="text/html; charset = koi8-r">`:                                 "koi8-r",
		`<meta http-equiv=content-type content="text/html; charset = 'koi8-r' ; x">`:                           "koi8-r",
		`<meta http-equiv=content-type content="text/html; charset koi8-r charset=gbk">`:                       "gbk",
		`<meta http-equiv=content-type content="text/html; CHARSET=koi8-r;charset=gbk">`:                       "koi8-r",
		`<meta http-equiv=content-type content="text/html; charset=&quot;koi8-r&quot;">`:                       "koi8-r",
		`<meta charset=" koi8-r ">`: "koi8-r",
		`<meta charset=koi8&#45;r>`: "koi8-r",
	} {
		var p Page
		Scan([]byte(doc), Options{}, &p)
		if got := Charset([]byte(doc+"caf\xe9"), "text/html", p.Charset); got != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}
