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
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"argosy/internal/durable"
)

// Keys sign who may connect: an operator, its account for coordinators, which has the log, one for nodes, which has
// nothing and may ask the other one a few things (services), and a system account that nobody uses. A node can name any
// subject as the place for an answer, and the server writes there with nobody's permission but within the node's
// account: that is why nodes have one of their own. With these keys the embedded server lets in only who has credentials
// that they signed; servers elsewhere do the same with the configuration that WriteCluster writes.
type Keys struct {
	OperatorSeed string   `json:"operator_seed"`
	AccountSeed  string   `json:"account_seed"`
	NodesSeed    string   `json:"nodes_seed"`
	SystemSeed   string   `json:"system_seed"`
	OldNodes     []string `json:"old_nodes_seeds,omitempty"` // accounts of nodes before: a cluster lets them in until they are dropped

	mu   sync.RWMutex // of NodesSeed, which may change
	path string       // file that they are in
}

// nodes is the account that nodes are in now.
func (k *Keys) nodes() string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.NodesSeed
}

// Rotate makes another account for nodes: what the one before has signed is good only as long as servers know it still.
func (k *Keys) Rotate() error {
	kp, err := nkeys.CreateAccount()
	if err != nil {
		return err
	}
	seed, err := kp.Seed()
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	next := Keys{OperatorSeed: k.OperatorSeed, AccountSeed: k.AccountSeed, NodesSeed: string(seed), SystemSeed: k.SystemSeed, OldNodes: append(slices.Clone(k.OldNodes), k.NodesSeed)}
	if err := next.write(k.path); err != nil {
		return err
	}
	k.OldNodes, k.NodesSeed = next.OldNodes, next.NodesSeed
	return nil
}

// DropOld forgets the accounts of nodes before.
func (k *Keys) DropOld() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := Keys{OperatorSeed: k.OperatorSeed, AccountSeed: k.AccountSeed, NodesSeed: k.NodesSeed, SystemSeed: k.SystemSeed}
	if err := next.write(k.path); err != nil {
		return err
	}
	k.OldNodes = nil
	return nil
}

func (k *Keys) write(path string) error {
	if path == "" {
		return errors.New("these keys come from a cluster's signing.nk: rotate them where argosy keys made them")
	}
	b, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, append(b, '\n'), secret)
}

// Pass is what a node needs to reach the bus.
type Pass struct {
	Bus   string `json:"bus"` // URL; a host of "*" stands for the one that was asked
	Login Login  `json:"login"`
	Echo  string `json:"echo,omitempty"` // where others are told to measure it; empty: nowhere
}

// Petition is how a node asks for a Pass.
type Petition struct {
	Node      string `json:"node" minLength:"1" maxLength:"64"`
	Wire      int    `json:"wire,omitempty"`                    // what it speaks; 0.1.0 does not say
	Version   string `json:"version,omitempty" maxLength:"100"` // of its program
	Key       string `json:"key,omitempty" maxLength:"100"`     // public
	Challenge string `json:"challenge,omitempty" maxLength:"200"`
	Proof     string `json:"proof,omitempty" maxLength:"200"` // that it has the key (NodeKey.Prove)
	Store     string `json:"store,omitempty" maxLength:"2000"`
	Echo      string `json:"echo,omitempty" maxLength:"2000"`
}

// Login is who somebody is to the bus: a signed statement, the key that proves it, and the key by which what a node
// writes is known to be its own. A node's Seed is its own secret: no coordinator knows it.
type Login struct {
	JWT  string `json:"jwt"`
	Seed string `json:"seed,omitempty"`
	Key  string `json:"key,omitempty"`
}

// LoginTerm is how long a node's credentials are good; it joins again before they are not.
const LoginTerm = 24 * time.Hour

// errKeys says what to do with a file of keys that cannot be read.
var errKeys = errors.New("the file is damaged: argosy restore a copy, or move it away; new keys are made then, and every node joins again with a token")

// LoadKeys reads keys from a file, making them if it is not there. The file is for the coordinator's eyes only.
func LoadKeys(path string) (*Keys, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return newKeys(path)
	}
	if err != nil {
		return nil, err
	}
	k := &Keys{path: path}
	if err := json.Unmarshal(b, k); err != nil {
		return nil, fmt.Errorf("keys %s: %w: %w", path, errKeys, err)
	}
	if _, err := nkeys.FromSeed([]byte(k.OperatorSeed)); err != nil {
		return nil, fmt.Errorf("keys %s: %w: the operator's seed: %w", path, errKeys, err)
	}
	for _, seed := range append([]string{k.AccountSeed, k.NodesSeed, k.SystemSeed}, k.OldNodes...) {
		if _, err = public(seed); err != nil {
			return nil, fmt.Errorf("keys %s: %w: an account's seed: %w", path, errKeys, err)
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
	k := &Keys{path: path}
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
	return k, k.write(path)
}

// nextSubject is where nodes ask for their next leases.
const nextSubject = "$JS.API.CONSUMER.MSG.NEXT." + dispatchStream + ".*"

// services are what nodes may ask the coordinators' account: their users' permissions say which of it, by name.
func services() (out []string) {
	return []string{
		partSubject + "*",
		"$KV." + nodeBucket + ".*",
		"$JS.API.STREAM.INFO." + nodeStream,
		"$JS.API.DIRECT.GET." + nodeStream + ".$KV." + nodeBucket + ".*",
		"$JS.API.CONSUMER.INFO." + dispatchStream + ".*",
		nextSubject,
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
	account, err := public(k.AccountSeed)
	if err != nil {
		return s, err
	}
	if s.system, err = public(k.SystemSeed); err != nil {
		return s, err
	}
	oc := jwt.NewOperatorClaims(opKey)
	oc.Name, oc.SystemAccount = "argosy", s.system
	ac := jwt.NewAccountClaims(account)
	ac.Name = "argosy"
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1, MaxAckPending: -1}
	for _, subject := range services() {
		answers := jwt.ResponseType(jwt.ResponseTypeSingleton)
		if subject == nextSubject { // as many as were asked for
			answers = jwt.ResponseTypeStream
		}
		ac.Exports.Add(&jwt.Export{Name: subject, Subject: jwt.Subject(subject), Type: jwt.Service, ResponseType: answers})
	}
	sc := jwt.NewAccountClaims(s.system)
	sc.Name = "SYS"
	if s.operator, err = oc.Encode(op); err != nil {
		return s, err
	}
	all := []*jwt.AccountClaims{ac, sc}
	k.mu.RLock()
	seeds := append([]string{k.NodesSeed}, k.OldNodes...)
	k.mu.RUnlock()
	for _, seed := range seeds {
		nc, err := k.nodesClaims(seed)
		if err != nil {
			return s, err
		}
		all = append(all, nc)
	}
	s.accounts = map[string]string{}
	for _, c := range all {
		if s.accounts[c.Subject], err = c.Encode(op); err != nil {
			return s, err
		}
	}
	return s, nil
}

// nodesClaims says what an account of nodes may ask of the coordinators'.
func (k *Keys) nodesClaims(seed string) (*jwt.AccountClaims, error) {
	pub, err := public(seed)
	if err != nil {
		return nil, err
	}
	account, err := public(k.AccountSeed)
	if err != nil {
		return nil, err
	}
	nc := jwt.NewAccountClaims(pub)
	nc.Name = "nodes"
	for _, subject := range services() {
		nc.Imports.Add(&jwt.Import{Name: subject, Subject: jwt.Subject(subject), Account: account, Type: jwt.Service})
	}
	return nc, nil
}

// guard makes an embedded server let in only whom the accounts know. Nodes' accounts before this one are not among them: their nodes
// join again.
func (k *Keys) guard(o *server.Options) error {
	if len(k.OldNodes) > 0 {
		if err := k.DropOld(); err != nil {
			return err
		}
	}
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

// nodeKey is what a node signs with: it follows from the account's key, the node's name and its own public key. Nodes of 0.1.0
// had none; what they wrote stands in old logs.
func (k *Keys) nodeKey(node, pub string) string {
	who := node
	if pub != "" {
		who += "\x00" + pub
	}
	return mac("argosy node "+k.AccountSeed, []byte(who))
}

// mac returns a message authentication code (HMAC-SHA256) of data that follow on each other, in hexadecimal digits.
func mac(key string, data ...[]byte) string {
	m := hmac.New(sha256.New, []byte(key))
	for _, d := range data {
		m.Write(d)
	}
	return hex.EncodeToString(m.Sum(nil))
}

// What is signed with a node's key: an entry of the log and a registration by the node, a message to it by the coordinator.
const (
	signsEntry    = "entry\x00"
	signsNode     = "node\x00"
	signsDispatch = "dispatch\x00"
)

func macOf(key, what string, data []byte) string {
	return mac(key, []byte(what), data)
}

// wrote reports whether a node has signed an entry, with what it got for a public key. Where the keys are not known nobody can tell.
func (k *Keys) wrote(node, pub, sign string, entry []byte) bool {
	return k == nil || hmac.Equal([]byte(sign), []byte(macOf(k.nodeKey(node, pub), signsEntry, entry)))
}

// vouch has an account sign a statement about a user.
func vouch(account string, uc *jwt.UserClaims) (string, error) {
	acc, err := nkeys.FromSeed([]byte(account))
	if err != nil {
		return "", err
	}
	return uc.Encode(acc)
}

// coordinatorLogin makes credentials of a coordinator.
func (k *Keys) coordinatorLogin() (Login, error) {
	key, err := NewNodeKey()
	if err != nil {
		return Login{}, err
	}
	uc := jwt.NewUserClaims(key.Public())
	uc.Name = "coordinator"
	token, err := vouch(k.AccountSeed, uc)
	return Login{JWT: token, Seed: key.seed}, err
}

func (k *Keys) coordinator() (nats.Option, error) {
	l, err := k.coordinatorLogin()
	if err != nil {
		return nil, err
	}
	return nats.UserJWTAndSeed(l.JWT, l.Seed), nil
}

func inboxOf(node string) string { return "_INBOX_argosy_" + node }

// maxPayload bounds a message of a node, in bytes: an entry and its headers.
const maxPayload = MaxPart + 64<<10

// maxSubs bounds a node's subscriptions: an inbox, and what its reader of messages and its lookups need for a moment.
const maxSubs = 64

// Node makes credentials, for who has the secret of a public key, that may only read a node's leases, write its parts and keep its
// registration.
func (k *Keys) Node(name, pub string) (Login, error) {
	if err := CheckNode(name); err != nil {
		return Login{}, err
	}
	if err := CheckKey(pub); err != nil {
		return Login{}, err
	}
	durable := dispatchStream + "." + consumerOf(name)
	uc := jwt.NewUserClaims(pub)
	uc.Name = "node " + name
	uc.Expires = time.Now().Add(LoginTerm).Unix()
	uc.Limits.Payload, uc.Limits.Subs = maxPayload, maxSubs
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
	token, err := vouch(k.nodes(), uc)
	return Login{JWT: token, Key: k.nodeKey(name, pub)}, err
}

// WriteCluster writes what servers elsewhere need to let in whom these keys sign: accounts.conf for each server's
// configuration, coordinator.creds for the coordinators, and signing.nk, with which they give nodes credentials.
func (k *Keys) WriteCluster(dir string) error {
	st, err := k.statements()
	if err != nil {
		return err
	}
	l, err := k.coordinatorLogin()
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
		if err := os.WriteFile(filepath.Join(dir, f.name), f.b, secret); err != nil {
			return err
		}
	}
	return nil
}
