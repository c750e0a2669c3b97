package access

import (
	"net/netip"
	"testing"
)

func TestEchoes(t *testing.T) {
	e, err := NewEchoes([]string{"10.1.0.0/16", "192.0.2.7", "echo.example"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(s ...string) (out []netip.Addr) {
		for _, a := range s {
			out = append(out, netip.MustParseAddr(a))
		}
		return out
	}
	for _, c := range []struct {
		name, echo    string
		resolved, own []netip.Addr
		want          string
	}{
		{"its own address", "http://203.0.113.5:8490/", at("203.0.113.5"), at("203.0.113.5"), "http://203.0.113.5:8490/"},
		{"a name of its own becomes its address", "http://n1:8490/", at("198.51.100.1", "203.0.113.5"), at("203.0.113.5"), "http://203.0.113.5:8490/"},
		{"another host", "http://203.0.113.6:80/", at("203.0.113.6"), at("203.0.113.5"), ""},
		{"the metadata of a cloud", "http://169.254.169.254/", at("169.254.169.254"), at("203.0.113.5"), ""},
		{"loopback of who comes from elsewhere", "http://127.0.0.1:22/", at("127.0.0.1"), at("203.0.113.5"), ""},
		{"loopback, mapped", "http://[::ffff:127.0.0.1]:22/", at("::ffff:127.0.0.1"), at("127.0.0.1"), "http://127.0.0.1:22/"},
		{"in a range that is allowed", "http://10.1.2.3:1/", at("10.1.2.3"), nil, "http://10.1.2.3:1/"},
		{"beside it", "http://10.2.2.3:1/", at("10.2.2.3"), nil, ""},
		{"an address that is allowed", "http://192.0.2.7/", at("192.0.2.7"), nil, "http://192.0.2.7:80/"},
		{"a name that is allowed", "http://Echo.example:9/", nil, nil, "http://Echo.example:9/"},
		{"a name below it", "http://x.echo.example:9/", nil, nil, ""},
		{"nobody knows where it comes from", "http://203.0.113.5:8490/", at("203.0.113.5"), nil, ""},
		{"a path", "http://203.0.113.5:8490/admin", at("203.0.113.5"), at("203.0.113.5"), ""},
		{"a query", "http://203.0.113.5:8490/?x", at("203.0.113.5"), at("203.0.113.5"), ""},
		{"credentials", "http://a:b@203.0.113.5:8490/", at("203.0.113.5"), at("203.0.113.5"), ""},
		{"TLS", "https://203.0.113.5:8490/", at("203.0.113.5"), at("203.0.113.5"), ""},
		{"not an address", "203.0.113.5:8490", at("203.0.113.5"), at("203.0.113.5"), ""},
	} {
		if got := e.Of(c.echo, c.resolved, c.own); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, bad := range []string{"", "http://x", "a b", "10.0.0.0/33", "x:80"} {
		if _, err := NewEchoes([]string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
