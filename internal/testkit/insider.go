package testkit

import (
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Insider returns credentials of the bus's account that a seed is of, as somebody has them who has got hold of those of a coordinator
// and not of its other keys: a token and the seed of its user.
func Insider(accountSeed string) (token, seed string, err error) {
	account, err := nkeys.FromSeed([]byte(accountSeed))
	if err != nil {
		return "", "", err
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		return "", "", err
	}
	pub, err := user.PublicKey()
	if err != nil {
		return "", "", err
	}
	own, err := user.Seed()
	if err != nil {
		return "", "", err
	}
	token, err = jwt.NewUserClaims(pub).Encode(account)
	return token, string(own), err
}
