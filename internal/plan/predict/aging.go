package predict

// aging learns from the measurements that come to pairs which were measured before how far one measurement is from its
// pair's mean, and how a mean moves while nobody looks: the squares of their distances lie around a line over the time
// in between (variances of ln speed; ms). It starts as if it had seen startNoise at once and twice that after half an hour.
type aging struct{ n, e, t, tt, et float64 }

const (
	startNoise = 0.09      // a standard deviation of 0.3
	startAfter = 1_800_000 // ms
	startCount = 10        // measurements that the start is worth, each
	keepAging  = 2000      // measurements that it remembers
)

func (a *aging) add(square float64, dt int64, weight float64) {
	keep := 1 - weight/keepAging
	t, x := weight*float64(dt), weight*square
	a.n, a.e, a.t, a.tt, a.et = a.n*keep+weight, a.e*keep+x, a.t*keep+t, a.tt*keep+t*float64(dt), a.et*keep+x*float64(dt)
}

// fit returns the line: the variance of one measurement, and what is added to it in each ms.
func (a *aging) fit() (noise, drift float64) {
	const n, e, t, tt, et = 2 * startCount, 3 * startCount * startNoise, startCount * startAfter, startCount * startAfter * startAfter, 2 * startCount * startNoise * startAfter
	sn, se, st, stt, set := a.n+n, a.e+e, a.t+t, a.tt+tt, a.et+et
	drift = max(0, (sn*set-st*se)/(sn*stt-st*st))
	return max(1e-3, (se-drift*st)/sn), drift
}

// A lease is measured every few seconds while it lasts. What comes alone after so long (ms) counts as one measurement; what comes before counts
// as the share of it that has passed, and a tenth at least, for what made the last one fast or slow mostly still does.
const (
	comesAlone = 30_000
	justNow    = comesAlone / 3
	leastApart = 0.1
)

// apart is as how much of a measurement one counts that comes so long after the last one of its pair, ms.
func apart(dt int64) float64 { return min(1, max(leastApart, float64(dt)/comesAlone)) }
