package bus

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"

	"argosy/internal/durable"
)

// NodeKey is a node's own key. Only its public half leaves the node.
type NodeKey struct{ seed, public string }

// NewNodeKey makes a key.
func NewNodeKey() (NodeKey, error) {
	kp, err := nkeys.CreateUser()
	if err != nil {
		return NodeKey{}, err
	}
	seed, err := kp.Seed()
	if err != nil {
		return NodeKey{}, err
	}
	return nodeKeyOf(string(seed))
}

func nodeKeyOf(seed string) (NodeKey, error) {
	pub, err := public(seed)
	if err == nil {
		err = CheckKey(pub)
	}
	return NodeKey{seed, pub}, err
}

// LoadNodeKey reads a key from a file that only its owner can read, making it if it is not there.
func LoadNodeKey(path string) (NodeKey, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeNodeKey(path)
	}
	if err != nil {
		return NodeKey{}, fmt.Errorf("the node's key: %w", err)
	}
	k, err := nodeKeyOf(strings.TrimSpace(string(b)))
	if err != nil {
		return NodeKey{}, fmt.Errorf("the node's key: %s holds none (a line that begins with SU); another file, or none there, and a new key is made", path)
	}
	return k, nil
}

// secret is the mode of a file that only its owner can read.
const secret = 0o600

// makeNodeKey makes a key that is whole on disk, or not there.
func makeNodeKey(path string) (NodeKey, error) {
	k, err := NewNodeKey()
	if err != nil {
		return k, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return k, err
	}
	return k, durable.WriteFile(path, []byte(k.seed+"\n"), secret)
}

// Public is the half that others know the node by.
func (k NodeKey) Public() string { return k.public }

// Login completes what a coordinator gave this key.
func (k NodeKey) Login(l Login) Login {
	l.Seed = k.seed
	return l
}

// joins is what a node signs to show that it has its key, besides the coordinator's challenge.
func joins(challenge, node string) []byte {
	return []byte("argosy join\x00" + challenge + "\x00" + node)
}

// Prove shows that the node has its key, in answer to a coordinator's challenge.
func (k NodeKey) Prove(challenge, node string) (string, error) {
	kp, err := nkeys.FromSeed([]byte(k.seed))
	if err != nil {
		return "", err
	}
	sig, err := kp.Sign(joins(challenge, node))
	return base64.RawURLEncoding.EncodeToString(sig), err
}

// Proves reports whether a proof is that of who has the secret half of a key.
func Proves(pub, challenge, node, proof string) bool {
	sig, err := base64.RawURLEncoding.DecodeString(proof)
	if err != nil || CheckKey(pub) != nil {
		return false
	}
	kp, err := nkeys.FromPublicKey(pub)
	return err == nil && kp.Verify(joins(challenge, node), sig) == nil
}

// CheckKey refuses what is not a node's public key.
func CheckKey(pub string) error {
	if len(pub) > 64 || !nkeys.IsValidPublicUserKey(pub) {
		return errors.New("the node's key is not one")
	}
	return nil
}

// Wire is the version of what nodes and coordinators say to each other about joining. 1 was that of 0.1.0: a node had no key.
const Wire = 2

// Joiner gets a node what it needs to reach the bus: it has the key sign a coordinator's challenge, and asks.
type Joiner func(ctx context.Context, key NodeKey, p Petition) (Pass, error)

// Petition is p as the node with this key asks, in answer to a challenge.
func (k NodeKey) Petition(p Petition, challenge string) (Petition, error) {
	var err error
	p.Key, p.Challenge = k.public, challenge
	p.Proof, err = k.Prove(challenge, p.Node)
	return p, err
}
