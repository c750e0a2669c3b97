package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Keys sign who may connect: an operator, its account for Argosy, and a system account that nobody uses. With them the
// embedded server lets in only who has credentials that the account signed; a server elsewhere does the same with the
// configuration that Config writes.
type Keys struct {
	OperatorSeed string `json:"operator_seed"`
	AccountSeed  string `json:"account_seed"`
	SystemSeed   string `json:"system_seed"`

	account string // public key; set also where only the account's seed is known
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
	k.account, err = public(k.AccountSeed)
	if err != nil {
		return nil, fmt.Errorf("keys %s: the account's seed: %w", path, err)
	}
	return k, nil
}

// SigningKeys are keys of which only the account's are known: enough to give nodes credentials.
func SigningKeys(path string) (*Keys, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	k := &Keys{AccountSeed: strings.TrimSpace(string(b))}
	if k.account, err = public(k.AccountSeed); err != nil {
		return nil, fmt.Errorf("signing key %s: %w", path, err)
	}
	if !nkeys.IsValidPublicAccountKey(k.account) {
		return nil, fmt.Errorf("signing key %s: not the seed of an account", path)
	}
	return k, nil
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
	}{{&k.OperatorSeed, nkeys.CreateOperator}, {&k.AccountSeed, nkeys.CreateAccount}, {&k.SystemSeed, nkeys.CreateAccount}} {
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
	if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
		return nil, err
	}
	k.account, err = public(k.AccountSeed)
	return k, err
}

// signed returns the statements of operator, account and system account.
func (k *Keys) signed() (operator, account, system string, err error) {
	op, err := nkeys.FromSeed([]byte(k.OperatorSeed))
	if err != nil {
		return "", "", "", err
	}
	opKey, err := op.PublicKey()
	if err != nil {
		return "", "", "", err
	}
	sysKey, err := public(k.SystemSeed)
	if err != nil {
		return "", "", "", err
	}
	oc := jwt.NewOperatorClaims(opKey)
	oc.Name, oc.SystemAccount = "argosy", sysKey
	ac := jwt.NewAccountClaims(k.account)
	ac.Name = "argosy"
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1, MaxAckPending: -1}
	sc := jwt.NewAccountClaims(sysKey)
	sc.Name = "SYS"
	if operator, err = oc.Encode(op); err != nil {
		return "", "", "", err
	}
	if account, err = ac.Encode(op); err != nil {
		return "", "", "", err
	}
	system, err = sc.Encode(op)
	return operator, account, system, err
}

// guard makes an embedded server let in only whom the account knows.
func (k *Keys) guard(o *server.Options) error {
	operator, account, system, err := k.signed()
	if err != nil {
		return err
	}
	oc, err := jwt.DecodeOperatorClaims(operator)
	if err != nil {
		return err
	}
	sysKey, err := public(k.SystemSeed)
	if err != nil {
		return err
	}
	r := &server.MemAccResolver{}
	if err := errors.Join(r.Store(k.account, account), r.Store(sysKey, system)); err != nil {
		return err
	}
	o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{oc}, r, sysKey
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

// What a node signs: an entry of the log, or its registration.
const (
	signsEntry = "entry\x00"
	signsNode  = "node\x00"
)

func macOf(key, what string, data []byte) string {
	return mac(key, append([]byte(what), data...))
}

// wrote tells whether a node has signed an entry. Where the keys are not known nobody can tell.
func (k *Keys) wrote(node, sign string, entry []byte) bool {
	return k == nil || hmac.Equal([]byte(sign), []byte(macOf(k.nodeKey(node), signsEntry, entry)))
}

// user makes credentials that the account signs.
func (k *Keys) user(name string, limit func(*jwt.UserClaims)) (Login, error) {
	acc, err := nkeys.FromSeed([]byte(k.AccountSeed))
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
	l, err := k.user("coordinator", func(*jwt.UserClaims) {})
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
	l, err := k.user("node "+name, func(uc *jwt.UserClaims) {
		durable := dispatchStream + "." + consumerOf(name)
		uc.Expires = time.Now().Add(loginTerm).Unix()
		uc.Pub.Allow.Add(
			partSubject+name,
			"$KV."+nodeBucket+"."+name,
			"$JS.API.STREAM.INFO.KV_"+nodeBucket,
			"$JS.API.DIRECT.GET.KV_"+nodeBucket+".$KV."+nodeBucket+"."+name,
			"$JS.API.CONSUMER.CREATE."+durable+"."+dispatchPrefix+name+".>",
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
	operator, account, system, err := k.signed()
	if err != nil {
		return err
	}
	sysKey, err := public(k.SystemSeed)
	if err != nil {
		return err
	}
	l, err := k.user("coordinator", func(*jwt.UserClaims) {})
	if err != nil {
		return err
	}
	creds, err := jwt.FormatUserConfig(l.JWT, []byte(l.Seed))
	if err != nil {
		return err
	}
	conf := fmt.Sprintf(`# Who may connect to this cluster: include this file in each server's configuration.
operator: %s
system_account: %s
resolver: MEMORY
resolver_preload: {
  %s: %s
  %s: %s
}
`, operator, sysKey, k.account, account, sysKey, system)
	for _, f := range []struct {
		name string
		b    []byte
	}{{"accounts.conf", []byte(conf)}, {"coordinator.creds", creds}, {"signing.nk", []byte(k.AccountSeed + "\n")}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
