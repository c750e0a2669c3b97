package parse

import "testing"

// The encoding that is named holds for character references, also where all bytes of a page are ASCII.
func TestReferencesOnAsciiPages(t *testing.T) {
	for _, c := range []struct{ contentType, body, want string }{
		{"text/html; charset=iso-8859-2", "<a href='/x?q=&eacute;'>", "/x?q=%E9"},
		{"text/html; charset=windows-1251", "<a href='/x?q=&#1078;'>", "/x?q=%E6"},
		{"text/html; charset=iso-8859-1", "<a href='/x?q=&euro;'>", "/x?q=%80"},
		{"text/html", "<meta charset=iso-8859-2><a href='/x?q=&eacute;'>", "/x?q=%E9"},
		{"text/html; charset=utf-8", "<a href='/x?q=&eacute;'>", "/x?q=é"},
		{"text/html", "<a href='/x?q=&eacute;'>", "/x?q=é"},
	} {
		var doc Page
		_, charset := ReadEncoded(HTML, []byte(c.body), c.contentType, Options{}, &doc)
		if len(doc.Links) != 1 || DecodeRef(doc.Links[0].Ref, charset) != c.want {
			t.Errorf("%s %s: encoding %s, %d links, %q, want %q", c.contentType, c.body, charset, len(doc.Links), DecodeRef(doc.Links[0].Ref, charset), c.want)
		}
	}
}
