package predict

import "math"

// least is what a pair's speed is at least: what it had while its node was at its own limit. Of a pair that was never seen without that limit it is
// all that is known.
type least struct {
	ln float64 // of bits/s
	at int64   // 0: nothing is known
}

// raise takes in a speed that a pair has at least. A lower one than before tells nothing, unless the one before is so old that the pair may have changed
// by as much.
func (l *least) raise(ln, drift float64, at int64) {
	if l.at == 0 || ln >= l.ln-math.Sqrt(drift*float64(max(0, at-l.at))) {
		*l = least{ln, at}
	}
}

// encode leaves out what has seen nothing.
func (l least) encode() []float64 {
	if l.at == 0 {
		return nil
	}
	return []float64{l.ln, float64(l.at)}
}

// above is what is to be expected of a pair of which all others say that the logarithm of its speed is x, unsure by sd, and of which a lease had as
// much as this at least: the mean and the standard deviation of a normal distribution that is cut off below, as far as one lease tells of its pair.
func (l *least) above(x, sd, noise, drift float64, at int64) (mean, sigma float64) {
	square := sd * sd
	all := square + noise + drift*float64(max(0, at-l.at))
	d := (l.ln - x) / math.Sqrt(all)
	more := d + 1/max(d, 1) // far out in the tail
	if d < farOut {
		more = math.Sqrt(2/math.Pi) * math.Exp(-d*d/2) / math.Erfc(d/math.Sqrt2)
	}
	return x + square/math.Sqrt(all)*more, sd * math.Sqrt(max(1e-4, 1-square/all*more*(more-d)))
}

// farOut is from how many standard deviations on a tail is taken for an exponential one.
const farOut = 10
