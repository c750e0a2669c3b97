package bus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Dial says how to reach a bus that runs elsewhere.
type Dial struct {
	URL   string       // nats:// or tls://, several with commas
	Creds string       // credentials file (JWT and key); empty: none
	NKey  string       // file with the seed of an nkey; empty: none
	Login func() Login // credentials in memory, asked for at every connect; nil: none
	TLS   *tls.Config  // nil: as the URL says, with the system's roots
	Node  string       // whose inbox answers go to; empty for a coordinator
	Pub   string       // the node's public key; empty for who has credentials that no coordinator gave

	// Denied is called when the bus refuses the credentials; nil: nothing is.
	Denied func(error)

	// Pipe opens connections; nil is the network. Tests put pipes here.
	Pipe func() (net.Conn, error)
}

// pipes gives the client connections that somebody else opens.
type pipes func() (net.Conn, error)

// InProcessConn implements nats.InProcessConnProvider.
func (p pipes) InProcessConn() (net.Conn, error) { return p() }

// ErrUntrusted says that the certificate of the bus is none that is trusted.
var ErrUntrusted = errors.New("its certificate is not trusted")

// reach connects to the bus.
func reach(url string, opts []nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(url, opts...)
	var bad *tls.CertificateVerificationError
	if errors.As(err, &bad) {
		err = fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	return nc, err
}

// Denies reports whether an error says that the bus refuses credentials.
func Denies(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired)
}

func (d Dial) options(log *slog.Logger) ([]nats.Option, error) {
	name, said := "argosy", &told{}
	denied := func(err error) {
		if d.Denied != nil && Denies(err) {
			d.Denied(err)
		}
	}
	opts := []nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, 200*time.Millisecond),
		nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2), nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			said.say(log, err.Error(), "bus", err)
			denied(err)
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { denied(err) }),
	}
	switch {
	case d.Login != nil:
		opts = append(opts, nats.UserJWT(
			func() (string, error) { return d.Login().JWT, nil },
			func(nonce []byte) ([]byte, error) {
				kp, err := nkeys.FromSeed([]byte(d.Login().Seed))
				if err != nil {
					return nil, err
				}
				return kp.Sign(nonce)
			}))
	case d.Creds != "":
		opts = append(opts, nats.UserCredentials(d.Creds))
	case d.NKey != "":
		o, err := nats.NkeyOptionFromSeed(d.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey %s: %w", d.NKey, err)
		}
		opts = append(opts, o)
	}
	if d.TLS != nil {
		opts = append(opts, nats.Secure(d.TLS))
	}
	if d.Pipe != nil {
		opts = append(opts, nats.InProcessServer(pipes(d.Pipe)))
	}
	if d.Node != "" {
		name += " " + d.Node
		opts = append(opts, nats.CustomInboxPrefix(inboxOf(d.Node)))
	}
	return append(opts, nats.Name(name)), nil
}
