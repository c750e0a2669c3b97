package crawl

import (
	"errors"
	"fmt"
	"testing"
)

// What is told of an error leaves out what is said beside it: the kind in other words, and the ends of the connection.
func TestBrief(t *testing.T) {
	says := func(kind Kind, text string) string {
		return (&Error{Op: "read header", Host: "a.test", Kind: kind, Err: errors.New(text)}).Error()
	}
	for text, want := range map[string]string{
		says(KindReset, "EOF"): "",
		says(KindTimeout, "read tcp 10.0.0.2:53744->10.0.0.1:80: i/o timeout"):                           "",
		says(KindReset, "read tcp 10.0.0.2:53744->10.0.0.1:80: read: connection reset by peer"):          "connection reset by peer",
		says(KindReset, "write tcp [::1]:53744->[::1]:80: write: broken pipe"):                           "broken pipe",
		says(KindRefused, "dial tcp 10.0.0.1:80: connect: connection refused"):                           "dial tcp 10.0.0.1:80: connect: connection refused",
		says(KindProtocol, "parse: protocol: chunk -> without end"):                                      "chunk -> without end",
		says(KindCertificate, "tls: failed to verify certificate: x509: signed by an unknown authority"): "signed by an unknown authority",
		(&Error{Op: "read", Kind: KindBodyLarge}).Error():                                                "",
		"its own words": "its own words",
	} {
		if got := Brief(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The text of an Error names its kind, whatever it wraps.
func TestKindIn(t *testing.T) {
	for _, k := range []Kind{KindCertificate, KindExpired, KindRefused, KindTimeout} {
		err := fmt.Errorf("seed: %w", &Error{Op: "TLS", Host: "a.test:8443", Kind: k, Err: errors.New("certificate: of somebody")})
		if got := KindIn(err.Error()); got != k {
			t.Errorf("%s: %q", err, got)
		}
	}
	if got := KindIn("x509: of somebody"); got != "" {
		t.Errorf("it names %q", got)
	}
}
