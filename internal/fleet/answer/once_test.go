package answer

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// A key whose order failed can be used again, and is kept then for as long as every other.
func TestKeyThatIsUsedAgainIsKept(t *testing.T) {
	var o Once
	ask := func(key string, status int) *ordered {
		mine := &ordered{done: make(chan struct{}), at: time.Now()}
		if was := o.begin(key, mine); was != nil {
			return was
		}
		o.end(key, mine, &recorder{ResponseWriter: nowhere{}, status: status})
		return nil
	}
	ask("again", http.StatusInternalServerError)
	for i := range maxDone - 1 {
		ask(fmt.Sprint(i), http.StatusOK)
	}
	ask("again", http.StatusOK)
	ask("one more", http.StatusOK)
	if ask("again", http.StatusOK) == nil {
		t.Error("its answer is forgotten, and older ones are kept")
	}
	if len(o.order) != maxDone || len(o.by) != maxDone {
		t.Errorf("%d keys in order, %d kept; want %d", len(o.order), len(o.by), maxDone)
	}
}

type nowhere struct{ http.ResponseWriter }

// Header implements http.ResponseWriter.
func (nowhere) Header() http.Header { return http.Header{} }
