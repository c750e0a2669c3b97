package answer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// An order with the field Idempotency-Key is done once: whoever sends it again, because the answer was lost, gets the first answer. Keys
// belong to who asks. Answers are kept in memory for a day, and are gone with the process: keys stand in the log with their orders, so that
// those who do them can tell what was ordered before.

const (
	// KeyField is the header field that names an order.
	KeyField = "Idempotency-Key"
	// MaxKey bounds how many characters a key has.
	MaxKey = 256

	// KeyLives is how long an order is known by its key.
	KeyLives = 24 * time.Hour

	keyReplayed = "Idempotency-Replayed"
	maxDone     = 2000     // orders
	maxAnswer   = 64 << 10 // bytes of an answer that is kept
)

// ordered is an order that was given with a key.
type ordered struct {
	sum    [sha256.Size]byte // of what was sent
	done   chan struct{}     // closed when there is an answer
	status int
	head   http.Header
	body   []byte
	at     time.Time
}

// Given is the key that an order was given with, as others may read it: hashes.
type Given struct {
	Key string // of the key, and of who asks
	Sum string // of all that was sent
}

type givenKey struct{}

// GivenWith returns the key that an order was given with; empty if it has none.
func GivenWith(ctx context.Context) Given {
	g, _ := ctx.Value(givenKey{}).(Given)
	return g
}

// Once remembers what was ordered with which key. The zero value remembers nothing yet.
type Once struct {
	mu    sync.Mutex
	by    map[string]*ordered
	order []string // keys, the oldest first
}

// recorder passes an answer on, and keeps it.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if r.body.Len() <= maxAnswer {
		r.body.Write(b)
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Serve answers a request of somebody's by next, or with the answer that its key had before.
func (o *Once) Serve(w http.ResponseWriter, r *http.Request, who string, next http.Handler) {
	key := r.Header.Get(KeyField)
	if key == "" || r.Method != http.MethodPost {
		next.ServeHTTP(w, r)
		return
	}
	if len(key) > MaxKey {
		Refuse(w, http.StatusUnprocessableEntity, "Idempotency-Key: at most 256 characters are allowed")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		Refuse(w, http.StatusRequestEntityTooLarge, "the body is too long, or was cut short")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h := sha256.New()
	h.Write([]byte(r.URL.RequestURI() + "\x00"))
	h.Write(body)
	mine := &ordered{sum: [sha256.Size]byte(h.Sum(nil)), done: make(chan struct{}), at: time.Now()}
	name := who + "\x00" + key
	was := o.begin(name, mine)
	if was == nil {
		rec := &recorder{ResponseWriter: w}
		defer o.end(name, mine, rec)
		hash := sha256.Sum256([]byte("order\x00" + name))
		g := Given{base64.RawURLEncoding.EncodeToString(hash[:]), base64.RawURLEncoding.EncodeToString(mine.sum[:])}
		next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), givenKey{}, g)))
		return
	}
	if was.sum != mine.sum {
		Refuse(w, http.StatusUnprocessableEntity, "Idempotency-Key: it was used for another order")
		return
	}
	select {
	case <-was.done:
	case <-r.Context().Done():
		return
	}
	if was.status == 0 {
		Refuse(w, http.StatusServiceUnavailable, "what was ordered with this key was not done: order it again")
		return
	}
	for k, v := range was.head {
		w.Header()[k] = v
	}
	w.Header().Set(keyReplayed, "true")
	w.WriteHeader(was.status)
	_, _ = w.Write(was.body)
}

// begin returns the order that was given with a key, or notes a new one.
func (o *Once) begin(name string, mine *ordered) *ordered {
	o.mu.Lock()
	defer o.mu.Unlock()
	if was := o.by[name]; was != nil && time.Since(was.at) < KeyLives {
		return was
	}
	if o.by == nil {
		o.by = map[string]*ordered{}
	}
	o.forget(name) // it has expired
	for len(o.order) >= maxDone {
		o.forget(o.order[0])
	}
	o.by[name] = mine
	o.order = append(o.order, name)
	return nil
}

// forget takes a key out, so that it can be used again, and is kept then for as long as others.
func (o *Once) forget(name string) {
	if o.by[name] == nil {
		return
	}
	delete(o.by, name)
	at := slices.Index(o.order, name)
	o.order = slices.Delete(o.order, at, at+1)
}

// end keeps the answer to an order that was done. One that was refused, or may be tried again, has changed nothing: its key is free
// for the order as it was meant. Nor is an answer kept that is too long.
func (o *Once) end(name string, mine *ordered, rec *recorder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if rec.status == 0 || rec.status >= 400 || rec.body.Len() > maxAnswer {
		if o.by[name] == mine {
			o.forget(name)
		}
	} else {
		mine.status, mine.head, mine.body = rec.status, rec.Header().Clone(), rec.body.Bytes()
	}
	close(mine.done)
}
