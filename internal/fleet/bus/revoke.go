package bus

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Revoke has the embedded server refuse credentials that were given to public keys until a time, and ends their connections. It
// replaces what was revoked before.
func (s *Server) Revoke(until map[string]time.Time) error {
	if s.cfg.Keys == nil {
		return errors.New("revoke: this bus asks nobody for credentials")
	}
	nc, err := s.cfg.Keys.nodesClaims(s.cfg.Keys.nodes())
	if err != nil {
		return err
	}
	for pub, at := range until {
		nc.RevokeAt(pub, at)
	}
	s.mu.Lock()
	s.revoked = until
	s.mu.Unlock()
	return s.update(nc)
}

// update gives the embedded server new claims of an account.
func (s *Server) update(c *jwt.AccountClaims) error {
	op, err := nkeys.FromSeed([]byte(s.cfg.Keys.OperatorSeed))
	if err != nil {
		return err
	}
	token, err := c.Encode(op)
	if err != nil {
		return err
	}
	srv := s.srv.Load()
	if err := srv.AccountResolver().Store(c.Subject, token); err != nil {
		return err
	}
	acc, err := srv.LookupAccount(c.Subject)
	if err != nil {
		return fmt.Errorf("account %s: %w", c.Subject, err)
	}
	srv.UpdateAccountClaims(acc, c)
	return nil
}

// Rotate gives nodes another account, and ends the connections of those that were in the one before: they join again.
func (s *Server) Rotate() error {
	k := s.cfg.Keys
	if k == nil {
		return errors.New("rotate: this bus asks nobody for credentials")
	}
	was, err := k.nodesClaims(k.nodes())
	if err != nil {
		return err
	}
	if err := k.Rotate(); err != nil {
		return err
	}
	now, err := k.nodesClaims(k.nodes())
	if err != nil {
		return err
	}
	if err := s.update(now); err != nil {
		return err
	}
	was.RevokeAt(jwt.All, time.Now().Add(LoginTerm)) // whatever it has signed, or may sign
	return s.update(was)
}

// Traffic is what a node has sent on one connection since it was made.
type Traffic struct {
	Conn            uint64 // which one, also after Renew
	Key             string // the node's, public
	Messages, Bytes int64
}

// Traffic returns what connections of nodes have sent. Whose a connection is, is asked once: the server checks a signature to say it.
func (s *Server) Traffic() ([]Traffic, error) {
	var out []Traffic
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := make(map[uint64]string, len(s.keys))
	for at := 0; ; {
		z, err := s.srv.Load().Connz(&server.ConnzOptions{Offset: at, Limit: 4096})
		if err != nil {
			return nil, err
		}
		for _, c := range z.Conns {
			key, known := s.keys[c.Cid]
			if !known {
				key, known = s.keyOf(c.Cid)
			}
			if known {
				keys[c.Cid] = key
			}
			if key != "" {
				out = append(out, Traffic{s.lives<<48 | c.Cid, key, c.InMsgs, c.InBytes})
			}
		}
		at += len(z.Conns)
		if len(z.Conns) == 0 || at >= z.Total {
			s.keys = keys
			return out, nil
		}
	}
}

// keyOf returns the key of the node that a connection is of, empty where it is of no node; that is not known before somebody has logged in.
func (s *Server) keyOf(conn uint64) (key string, known bool) {
	z, err := s.srv.Load().Connz(&server.ConnzOptions{CID: conn, Username: true})
	if err != nil || len(z.Conns) == 0 {
		return "", false
	}
	user := z.Conns[0].AuthorizedUser
	if CheckKey(user) != nil {
		return "", user != ""
	}
	return user, true
}

// challengeTerm is how long a challenge may be answered.
const challengeTerm = 2 * time.Minute

// Challenge is something new for a node to sign. Whoever has the keys knows it again.
func (k *Keys) Challenge(now time.Time) string {
	var chance [12]byte
	_, _ = rand.Read(chance[:]) // never fails: it ends the program instead
	words := strconv.FormatInt(now.UnixMilli(), 36) + "." + hex.EncodeToString(chance[:])
	return words + "." + k.challenges(words)
}

func (k *Keys) challenges(words string) string {
	return mac("argosy challenge "+k.AccountSeed, []byte(words))
}

// Challenged reports whether a challenge is one that was given with these keys a short while ago.
func (k *Keys) Challenged(challenge string, now time.Time) bool {
	cut := strings.LastIndexByte(challenge, '.')
	if cut < 0 || !hmac.Equal([]byte(challenge[cut+1:]), []byte(k.challenges(challenge[:cut]))) {
		return false
	}
	at, _, _ := strings.Cut(challenge, ".")
	ms, err := strconv.ParseInt(at, 36, 64)
	age := now.Sub(time.UnixMilli(ms))
	return err == nil && age > -challengeTerm && age < challengeTerm
}
