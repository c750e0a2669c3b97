package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"argosy/internal/crawl"
)

// untrusted says what is wrong with a certificate, in words that add to those of the kind.
func untrusted(err *tls.CertificateVerificationError) (crawl.Kind, error) {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &name):
		return crawl.KindOtherName, errors.New(isFor(name.Certificate))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return crawl.KindExpired, errors.New(validWhen(invalid.Cert, err.UnverifiedCertificates))
	case errors.As(err, &unknown):
		return crawl.KindCertificate, errors.New("it is signed by an unknown authority")
	}
	return crawl.KindCertificate, err
}

// maxNames bounds how many names of a certificate are told.
const maxNames = 3

// isFor says whose a certificate is.
func isFor(c *x509.Certificate) string {
	names := c.DNSNames
	for _, a := range c.IPAddresses {
		names = append(names[:len(names):len(names)], a.String())
	}
	if len(names) == 0 {
		return "it names no host"
	}
	text := "it is for " + strings.Join(names[:min(len(names), maxNames)], ", ")
	if n := len(names) - maxNames; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return printable(text)
}

// validWhen says since when, or until when, a certificate is not valid: the site's own, which comes first in its chain, or another of it.
func validWhen(c *x509.Certificate, chain []*x509.Certificate) string {
	who := "it"
	if len(chain) > 0 && !c.Equal(chain[0]) {
		who = printable("its issuer's, " + c.Subject.CommonName + ",")
	}
	if now := time.Now(); now.Before(c.NotBefore) {
		return who + " is valid only from " + c.NotBefore.Format(time.DateOnly) + " on"
	}
	return who + " expired on " + c.NotAfter.Format(time.DateOnly)
}

// printable leaves out of a text what a terminal would not show.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
