package agent

import (
	"crypto/tls"
	"strings"
	"testing"

	"argosy/internal/page/fetch"
)

// Protocols are named as the WARC community's draft names them.
func TestProtocols(t *testing.T) {
	for want, r := range map[string]fetch.Response{
		"http/1.1":                          {Proto: "HTTP/1.1"},
		"http/1.0":                          {Proto: "HTTP/1.0"},
		"h2 tls/1.3 TLS_AES_128_GCM_SHA256": {Proto: "HTTP/2.0", TLS: tls.VersionTLS13, Cipher: tls.TLS_AES_128_GCM_SHA256},
		"http/1.1 tls/1.2 TLS_RSA_WITH_RC4_128_SHA": {Proto: "HTTP/1.1", TLS: tls.VersionTLS12, Cipher: tls.TLS_RSA_WITH_RC4_128_SHA},
	} {
		names, cipher := protocols(&r)
		if got := strings.TrimSpace(strings.Join(names, " ") + " " + cipher); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
