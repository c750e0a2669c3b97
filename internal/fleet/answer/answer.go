// Package answer holds what all answers of the API have in common: those that take long are kept for who asks soon after, orders with a key
// are done once, only so many are made at once, and nothing that somebody else has chosen makes one long.
package answer

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"argosy/internal/fleet/ledger"
)

// MaxSaid bounds how many bytes of a text are said again in an answer.
const MaxSaid = 1000

// Clip cuts a text that an answer says, and tells how long it is.
func Clip(s string) string {
	if len(s) <= MaxSaid {
		return s
	}
	return strings.ToValidUTF8(s[:MaxSaid], "") + fmt.Sprintf("… (%d bytes)", len(s))
}

// Refuse answers with a problem (RFC 9457).
func Refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"status":%d,"title":%q,"detail":%q}`+"\n", status, http.StatusText(status), Clip(detail))
}

// Places are as many as may do something at once: a channel with room for so many.
type Places chan struct{}

// Take waits for a place. It returns what gives it back, or why ctx ended first.
func (p Places) Take(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Try takes a place if there is one now.
func (p Places) Try() (leave func(), ok bool) {
	select {
	case p <- struct{}{}:
		return func() { <-p }, true
	default:
		return nil, false
	}
}

// mostNamed bounds how many values a label has that sites choose, of a job; those with the least are summed up under other.
const mostNamed = 30

// Labels sums figures by what they are of, as the label of a metric says it: at most mostNamed, and the rest under other.
func Labels(all []ledger.Share, figure func(*ledger.Share) int64) map[string]int64 {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b ledger.Share) int { return cmp.Compare(figure(&b), figure(&a)) })
	sums := map[string]int64{}
	for i := range all {
		name := Clip(all[i].Name)
		if i >= mostNamed {
			name = "other"
		}
		sums[name] += figure(&all[i])
	}
	return sums
}
