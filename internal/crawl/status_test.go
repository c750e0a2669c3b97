package crawl

import "testing"

// Whatever a Location names, 304 sends nobody elsewhere.
func TestRedirects(t *testing.T) {
	for status, want := range map[int]bool{200: false, 299: false, 300: true, 301: true, 302: true, 303: true, 304: false, 307: true, 308: true, 399: true, 400: false} {
		if got := Redirects(status); got != want {
			t.Errorf("%d redirects: %v, want %v", status, got, want)
		}
	}
}
