// Package seeds says how many runs of one rule a test makes. It is apart from testkit because tests of pure packages link nothing else.
package seeds

import "os"

// Env names the environment variable that has tests make as many runs as at night; make nightly sets it.
const Env = "ARGOSY_NIGHTLY"

// Many reports whether tests make as many runs as at night.
func Many() bool { return os.Getenv(Env) != "" }

// Of returns how many runs a rule that holds for every seed gets: few in go test, which people wait for, many at night.
func Of(few, many uint64) uint64 {
	if Many() {
		return many
	}
	return few
}
