package agent

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// asks is a fetcher whose sessions say that they were asked.
type asks struct{ Session }

var errAsked = errors.New("asked")

func (a asks) Open(crawl.FetchLimits, []netip.Addr) Session { return a }

func (asks) Do(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, errAsked }

// An answer that was had is taken once, by the same request, within the limits of the job; one that says nothing is not kept.
func TestHad(t *testing.T) {
	t.Parallel()
	u, _ := crawl.Parse("http://a.test/p")
	other, _ := crawl.Parse("http://a.test/q")
	fields := []fetch.Field{{Name: "Accept", Value: Accept}}
	for _, c := range []struct {
		name  string
		resp  fetch.Response
		req   fetch.Request
		taken bool
	}{
		{"as it was had", fetch.Response{Status: 200, Size: 50}, fetch.Request{URL: u, Fields: fields}, true},
		{"a redirect", fetch.Response{Status: 301}, fetch.Request{URL: u, Fields: fields}, true},
		{"another page", fetch.Response{Status: 200}, fetch.Request{URL: other, Fields: fields}, false},
		{"with a cookie", fetch.Response{Status: 200}, fetch.Request{URL: u, Fields: append([]fetch.Field{{Name: "Cookie", Value: "a=b"}}, fields...)}, false},
		{"too long for the job", fetch.Response{Status: 200, Size: 101}, fetch.Request{URL: u, Fields: fields}, false},
		{"too long to be kept", fetch.Response{Status: 200, Size: hadEach + 1}, fetch.Request{URL: u, Fields: fields}, false},
		{"a failure", fetch.Response{Status: 503}, fetch.Request{URL: u, Fields: fields}, false},
		{"cut short", fetch.Response{Status: 200, Truncated: "time"}, fetch.Request{URL: u, Fields: fields}, false},
	} {
		var h Had
		h.Put(&fetch.Request{URL: u, Fields: fields}, &c.resp)
		sess := WithHad(asks{}, &h).Open(crawl.FetchLimits{MaxBody: 100}, nil)
		resp, err := sess.Do(t.Context(), &c.req)
		if taken := resp == &c.resp && err == nil; taken != c.taken {
			t.Errorf("%s: taken %v (%v)", c.name, taken, err)
		}
		if _, err := sess.Do(t.Context(), &c.req); !errors.Is(err, errAsked) {
			t.Errorf("%s: taken twice (%v)", c.name, err)
		}
	}
}
