package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Keys sign who may connect: an operator, its account for coordinators, which has the log, one for nodes, which has
// nothing and may ask the other one a few things (services), and a system account that nobody uses. A node can name any
// subject as the place for an answer, and the server writes there with nobody's permission but within the node's
// account: that is why nodes have one of their own. With these keys the embedded server lets in only who has credentials
// that they signed; servers elsewhere do the same with the configuration that WriteCluster writes.
type Keys struct {
	OperatorSeed string `json:"operator_seed"`
	AccountSeed  string `json:"account_seed"`
	NodesSeed    string `json:"nodes_seed"`
	SystemSeed   string `json:"system_seed"`
}

// Pass is what a node needs to reach the bus.
type Pass struct {
	Bus   string `json:"bus"` // URL; a host of "*" stands for the one that was asked
	Login Login  `json:"login"`
}

// Login is who somebody is to the bus: a signed statement, the key that proves it, and the key by which what a node
// writes is known to be its own.
type Login struct {
	JWT  string `json:"jwt"`
	Seed string `json:"seed"`
	Key  string `json:"key,omitempty"`
}

// loginTerm is how long a node's credentials are good; it joins again when they are not.
const loginTerm = 30 * 24 * time.Hour

// LoadKeys reads keys from a file, making them if it is not there. The file is for the coordinator's eyes only.
func LoadKeys(path string) (*Keys, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return newKeys(path)
	}
	if err != nil {
		return nil, err
	}
	k := &Keys{}
	if err := json.Unmarshal(b, k); err != nil {
		return nil, fmt.Errorf("keys %s: %w", path, err)
	}
	if _, err := nkeys.FromSeed([]byte(k.OperatorSeed)); err != nil {
		return nil, fmt.Errorf("keys %s: the operator's seed: %w", path, err)
	}
	for _, seed := range []string{k.AccountSeed, k.NodesSeed, k.SystemSeed} {
		if _, err = public(seed); err != nil {
			return nil, fmt.Errorf("keys %s: an account's seed: %w", path, err)
		}
	}
	return k, nil
}

// SigningKeys are keys of which only those of the two accounts are known: enough to give nodes credentials.
func SigningKeys(path string) (*Keys, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	seeds := strings.Fields(string(b))
	if len(seeds) != 2 {
		return nil, fmt.Errorf("signing key %s: want the seeds of two accounts, as argosy keys writes them", path)
	}
	for _, seed := range seeds {
		pub, err := public(seed)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", path, err)
		}
		if !nkeys.IsValidPublicAccountKey(pub) {
			return nil, fmt.Errorf("signing key %s: not the seed of an account", path)
		}
	}
	return &Keys{AccountSeed: seeds[0], NodesSeed: seeds[1]}, nil
}

func public(seed string) (string, error) {
	kp, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return "", err
	}
	return kp.PublicKey()
}

func newKeys(path string) (*Keys, error) {
	k := &Keys{}
	for _, n := range []struct {
		to   *string
		make func() (nkeys.KeyPair, error)
	}{{&k.OperatorSeed, nkeys.CreateOperator}, {&k.AccountSeed, nkeys.CreateAccount}, {&k.NodesSeed, nkeys.CreateAccount}, {&k.SystemSeed, nkeys.CreateAccount}} {
		kp, err := n.make()
		if err != nil {
			return nil, err
		}
		seed, err := kp.Seed()
		if err != nil {
			return nil, err
		}
		*n.to = string(seed)
	}
	b, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return nil, err
	}
	return k, os.WriteFile(path, append(b, '\n'), 0o600)
}

// services are what nodes may ask the coordinators' account: their users' permissions say which of it, by name.
func services() (out []string) {
	return []string{
		partSubject + "*",
		"$KV." + nodeBucket + ".*",
		"$JS.API.STREAM.INFO.KV_" + nodeBucket,
		"$JS.API.DIRECT.GET.KV_" + nodeBucket + ".$KV." + nodeBucket + ".*",
		"$JS.API.CONSUMER.INFO." + dispatchStream + ".*",
		"$JS.API.CONSUMER.MSG.NEXT." + dispatchStream + ".*",
		"$JS.ACK." + dispatchStream + ".>",
		"$JS.API.INFO", // no node may ask; without it the server itself would answer for an account that has no JetStream
	}
}

// statements are the signed statements that servers go by.
type statements struct {
	operator, system string
	accounts         map[string]string // by public key
}

func (k *Keys) statements() (s statements, err error) {
	op, err := nkeys.FromSeed([]byte(k.OperatorSeed))
	if err != nil {
		return s, err
	}
	opKey, err := op.PublicKey()
	if err != nil {
		return s, err
	}
	var pubs [3]string
	for i, seed := range []string{k.AccountSeed, k.NodesSeed, k.SystemSeed} {
		if pubs[i], err = public(seed); err != nil {
			return s, err
		}
	}
	s.system = pubs[2]
	oc := jwt.NewOperatorClaims(opKey)
	oc.Name, oc.SystemAccount = "argosy", s.system
	ac := jwt.NewAccountClaims(pubs[0])
	ac.Name = "argosy"
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1, MaxAckPending: -1}
	nc := jwt.NewAccountClaims(pubs[1])
	nc.Name = "nodes"
	for _, subject := range services() {
		ac.Exports.Add(&jwt.Export{Name: subject, Subject: jwt.Subject(subject), Type: jwt.Service, ResponseType: jwt.ResponseTypeStream})
		nc.Imports.Add(&jwt.Import{Name: subject, Subject: jwt.Subject(subject), Account: pubs[0], Type: jwt.Service})
	}
	sc := jwt.NewAccountClaims(s.system)
	sc.Name = "SYS"
	if s.operator, err = oc.Encode(op); err != nil {
		return s, err
	}
	s.accounts = map[string]string{}
	for i, c := range []*jwt.AccountClaims{ac, nc, sc} {
		if s.accounts[pubs[i]], err = c.Encode(op); err != nil {
			return s, err
		}
	}
	return s, nil
}

// guard makes an embedded server let in only whom the accounts know.
func (k *Keys) guard(o *server.Options) error {
	s, err := k.statements()
	if err != nil {
		return err
	}
	oc, err := jwt.DecodeOperatorClaims(s.operator)
	if err != nil {
		return err
	}
	r := &server.MemAccResolver{}
	for pub, token := range s.accounts {
		if err := r.Store(pub, token); err != nil {
			return err
		}
	}
	o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{oc}, r, s.system
	return nil
}

// sign is what a leader's entry is known by: a MAC with a key that follows from the account's, which no node has.
func (k *Keys) sign(entry []byte) string { return mac("argosy log "+k.AccountSeed, entry) }

// nodeKey is what a node signs with: it follows from the account's key and the node's name.
func (k *Keys) nodeKey(node string) string { return mac("argosy node "+k.AccountSeed, []byte(node)) }

// mac returns a message authentication code (HMAC-SHA256) in hexadecimal digits.
func mac(key string, data []byte) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write(data)
	return hex.EncodeToString(m.Sum(nil))
}

// What is signed with a node's key: an entry of the log and a registration by the node, a message to it by the coordinator.
const (
	signsEntry    = "entry\x00"
	signsNode     = "node\x00"
	signsDispatch = "dispatch\x00"
)

func macOf(key, what string, data []byte) string {
	return mac(key, append([]byte(what), data...))
}

// wrote tells whether a node has signed an entry. Where the keys are not known nobody can tell.
func (k *Keys) wrote(node, sign string, entry []byte) bool {
	return k == nil || hmac.Equal([]byte(sign), []byte(macOf(k.nodeKey(node), signsEntry, entry)))
}

// user makes credentials that an account signs.
func user(account, name string, limit func(*jwt.UserClaims)) (Login, error) {
	acc, err := nkeys.FromSeed([]byte(account))
	if err != nil {
		return Login{}, err
	}
	kp, err := nkeys.CreateUser()
	if err != nil {
		return Login{}, err
	}
	pub, err := kp.PublicKey()
	if err != nil {
		return Login{}, err
	}
	uc := jwt.NewUserClaims(pub)
	uc.Name = name
	limit(uc)
	token, err := uc.Encode(acc)
	if err != nil {
		return Login{}, err
	}
	seed, err := kp.Seed()
	return Login{JWT: token, Seed: string(seed)}, err
}

func (k *Keys) coordinator() (nats.Option, error) {
	l, err := user(k.AccountSeed, "coordinator", func(*jwt.UserClaims) {})
	if err != nil {
		return nil, err
	}
	return nats.UserJWTAndSeed(l.JWT, l.Seed), nil
}

func inboxOf(node string) string { return "_INBOX_argosy_" + node }

// Node makes credentials that may only read a node's leases, write its parts and keep its registration.
func (k *Keys) Node(name string) (Login, error) {
	if err := CheckNode(name); err != nil {
		return Login{}, err
	}
	l, err := user(k.NodesSeed, "node "+name, func(uc *jwt.UserClaims) {
		durable := dispatchStream + "." + consumerOf(name)
		uc.Expires = time.Now().Add(loginTerm).Unix()
		uc.Pub.Allow.Add(
			partSubject+name,
			"$KV."+nodeBucket+"."+name,
			"$JS.API.STREAM.INFO.KV_"+nodeBucket,
			"$JS.API.DIRECT.GET.KV_"+nodeBucket+".$KV."+nodeBucket+"."+name,
			"$JS.API.CONSUMER.INFO."+durable,
			"$JS.API.CONSUMER.MSG.NEXT."+durable,
			"$JS.ACK."+durable+".>",
		)
		uc.Sub.Allow.Add(inboxOf(name) + ".>")
	})
	l.Key = k.nodeKey(name)
	return l, err
}

// WriteCluster writes what servers elsewhere need to let in whom these keys sign: accounts.conf for each server's
// configuration, coordinator.creds for the coordinators, and signing.nk, with which they give nodes credentials.
func (k *Keys) WriteCluster(dir string) error {
	st, err := k.statements()
	if err != nil {
		return err
	}
	l, err := user(k.AccountSeed, "coordinator", func(*jwt.UserClaims) {})
	if err != nil {
		return err
	}
	creds, err := jwt.FormatUserConfig(l.JWT, []byte(l.Seed))
	if err != nil {
		return err
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, "# Who may connect to this cluster: include this file in each server's configuration.\noperator: %s\n", st.operator)
	fmt.Fprintf(&conf, "system_account: %s\nresolver: MEMORY\nresolver_preload: {\n", st.system)
	for _, pub := range slices.Sorted(maps.Keys(st.accounts)) {
		fmt.Fprintf(&conf, "  %s: %s\n", pub, st.accounts[pub])
	}
	conf.WriteString("}\n")
	for _, f := range []struct {
		name string
		b    []byte
	}{{"accounts.conf", []byte(conf.String())}, {"coordinator.creds", creds}, {"signing.nk", []byte(k.AccountSeed + "\n" + k.NodesSeed + "\n")}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
