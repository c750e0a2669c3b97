package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"argosy/internal/durable"
	"argosy/internal/fleet/access"
)

// Sessions outlive the process in a file, so that pages that are open go on after a restart. No secret is in it: of the cookie and of the
// page's key it has hashes, and the token that a session was made with is sealed by the cookie, which the browser alone has.

// noted is when the file is written anew for no other reason than that sessions were used.
const noted = 10 * time.Minute

// shelved is a session as the file has it.
type shelved struct {
	Of     []byte    `json:"of"`   // hash of the cookie
	Page   []byte    `json:"page"` // hash of the page's key
	Role   string    `json:"role"`
	Name   string    `json:"name"`
	Sealed []byte    `json:"sealed,omitempty"`
	Until  time.Time `json:"until"`
	Last   time.Time `json:"last"`
}

// book writes sessions into their file, the last state that there is, one after the other.
type book struct {
	path string
	log  *slog.Logger

	at      time.Time  // when the file was brought up to date; the door's mutex guards this and what follows
	stale   bool       // something has changed since
	writing bool       // it is being written
	idle    *sync.Cond // told when it is not any more
}

// hashed is what is kept of a secret.
func hashed(what, secret string) [sha256.Size]byte {
	return sha256.Sum256([]byte("argosy " + what + "\x00" + secret))
}

// sealer seals tokens by the cookie of a session.
func sealer(cookie string) cipher.AEAD {
	key := hashed("seal", cookie)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // it says that the key has another length
	}
	g, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // it is told of no size
	}
	return g
}

// seal seals a token; nothing of none.
func seal(cookie, token string) []byte {
	if token == "" {
		return nil
	}
	return sealer(cookie).Seal(nil, nil, []byte(token), nil)
}

// unseal returns the token that was sealed; false where it cannot be had.
func unseal(cookie string, sealed []byte) (string, bool) {
	if sealed == nil {
		return "", true
	}
	b, err := sealer(cookie).Open(nil, nil, sealed, nil)
	return string(b), err == nil
}

// Keep has sessions outlive the process in a file, and lets those in that it has.
func (d *Door) Keep(path string, log *slog.Logger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.book = &book{path: path, log: log, idle: sync.NewCond(&d.mu), at: d.now()}
	var all []shelved
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("sessions of browsers are not known any more: they enter again", "file", path, "error", err)
	}
	for i := range all {
		s := &all[i]
		role, err := access.RoleOf(s.Role)
		if err != nil || len(s.Of) != sha256.Size || len(s.Page) != sha256.Size || !d.now().Before(s.Until) || !d.now().Before(s.Last) || len(d.sessions) == maxSessions {
			continue
		}
		d.sessions[[sha256.Size]byte(s.Of)] = pass{who: access.Who{Role: role, Name: s.Name}, page: [sha256.Size]byte(s.Page), sealed: s.Sealed, until: s.Until, last: s.Last}
	}
}

// changed has the file written anew. Who calls holds the mutex.
func (d *Door) changed() {
	b := d.book
	if b == nil {
		return
	}
	b.stale, b.at = true, d.now()
	if !b.writing {
		b.writing = true
		go d.write()
	}
}

// write writes the file until it is up to date.
func (d *Door) write() {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.book
	for b.stale {
		b.stale = false
		all := make([]shelved, 0, len(d.sessions))
		for of, p := range d.sessions {
			all = append(all, shelved{Of: of[:], Page: p.page[:], Role: p.who.Role.String(), Name: p.who.Name, Sealed: p.sealed, Until: p.until, Last: p.last})
		}
		d.mu.Unlock()
		text, err := json.Marshal(all)
		if err == nil {
			err = durable.WriteFile(b.path, text, 0o600)
		}
		if err != nil {
			b.log.Warn("sessions of browsers will not outlive this process", "error", fmt.Errorf("%s: %w", b.path, err))
		}
		d.mu.Lock()
	}
	b.writing = false
	b.idle.Broadcast()
}

// Close waits until the file has what has changed.
func (d *Door) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.book == nil {
		return
	}
	d.changed()
	for d.book.writing {
		d.book.idle.Wait()
	}
}
