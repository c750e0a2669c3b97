package topic

// Fuzzy returns what a link promises by fuzzy rules over four signs, each from 0 to 1: how much of the topic its anchor, the words around it and
// its URL name, and the score of the page that names it. It is a baseline. What the link says for itself is its strongest sign, of which the
// URL counts seven tenths and the words around a half; that and the page's score are low, middling and high to degrees that add up to 1. Each
// rule holds as far as both of its conditions do, multiplied, and what the rules conclude is averaged by that (Takagi and Sugeno, IEEE
// Transactions on Systems, Man, and Cybernetics 15(1), 1985, with constants).
func Fuzzy(anchor, around, address, page float64) float64 {
	own, by := grade(max(anchor, 0.7*address, 0.5*around)), grade(page)
	sum := 0.0
	for i, row := range concludes {
		for k, promise := range row {
			sum += float64(own[i] * by[k] * promise)
		}
	}
	return sum
}

// concludes are the rules' conclusions: rows for what the link says for itself, columns for the page that names it, low to high.
var concludes = [3][3]float64{
	{0.01, 0.10, 0.30},
	{0.30, 0.50, 0.70},
	{0.80, 0.85, 0.95},
}

// grade is to which degree a sign is low, middling and high.
func grade(x float64) [3]float64 {
	low, high := min(1, max(0, (0.4-x)/0.3)), min(1, max(0, (x-0.4)/0.3))
	return [3]float64{low, 1 - low - high, high}
}
