package topic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// rulesWord is how what the rules promised has come true, by how much they promised. Whoever writes the topic's words into every anchor has the
// rules' word for all of them, whatever is behind, and honest links that say nothing would wait for ever.
type rulesWord struct {
	promised, came [rulesBands]float64
}

const (
	rulesBands = 10 // of promises, by tenths
	// rulesPrior is how many pages of their promises the rules are believed to have kept before anything is known.
	rulesPrior = 4
	// rulesSlack is by how much the rules may promise too much before they count for less: their word is no measured chance, on honest webs neither.
	rulesSlack = 2
)

func rulesBand(p float64) int { return max(0, min(rulesBands-1, int(p*rulesBands))) }

// learn takes in how a page turned out of which the rules had promised p.
func (w *rulesWord) learn(p, on float64) {
	i := rulesBand(p)
	w.promised[i] += p
	w.came[i] += on
}

// kept returns what the rules count for where they promise p: 1 while at least half of such promises came true, and less the less did.
func (w *rulesWord) kept(p float64) float64 {
	i := rulesBand(p)
	return min(1, rulesSlack*(w.came[i]+rulesPrior)/(w.promised[i]+rulesPrior))
}

// unmarshal reads it from the head of b, and returns what is behind.
func (w *rulesWord) unmarshal(b []byte) ([]byte, error) {
	if len(b) < 16*rulesBands {
		return nil, errors.New("a damaged model of links")
	}
	for i := range rulesBands {
		promised, came := math.Float64frombits(binary.BigEndian.Uint64(b)), math.Float64frombits(binary.BigEndian.Uint64(b[8:]))
		if !(promised >= 0 && came >= 0) || math.IsInf(promised+came, 0) {
			return nil, errors.New("a damaged model of links")
		}
		w.promised[i], w.came[i], b = promised, came, b[16:]
	}
	return b, nil
}

// linksVersion is the version of a model as Marshal writes it. One of version 1 does not say how the rules have kept their word.
const linksVersion = 2

// Marshal returns the model as it is kept: the weights that are not zero.
func (m *Links) Marshal() []byte {
	b := []byte{linksVersion}
	b = binary.AppendUvarint(b, uint64(m.seen))
	b = binary.AppendUvarint(b, uint64(m.right))
	for i := range rulesBands {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.rules.promised[i]))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.rules.came[i]))
	}
	for i, w := range m.weights {
		if w == 0 && m.squares[i] == 0 {
			continue
		}
		b = binary.BigEndian.AppendUint16(b, uint16(i))
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(w))
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(m.squares[i]))
	}
	return b
}

// Unmarshal reads what Marshal has written.
func (m *Links) Unmarshal(b []byte) error {
	r := bytes.NewReader(b)
	version, err := r.ReadByte()
	if err != nil || version < 1 || version > linksVersion {
		return errors.New("a model of links of another version")
	}
	seen, err1 := binary.ReadUvarint(r)
	right, err2 := binary.ReadUvarint(r)
	rest := b[len(b)-r.Len():]
	if version > 1 && err1 == nil && err2 == nil {
		if rest, err = m.rules.unmarshal(rest); err != nil {
			return err
		}
	}
	if err1 != nil || err2 != nil || len(rest)%10 != 0 {
		return errors.New("a damaged model of links")
	}
	m.seen, m.right = int64(seen), int64(right)
	if len(rest) > 0 {
		m.weights, m.squares = make([]float32, linkSlots), make([]float32, linkSlots)
	}
	for ; len(rest) > 0; rest = rest[10:] {
		i := binary.BigEndian.Uint16(rest)
		if i >= linkSlots {
			return errors.New("a damaged model of links")
		}
		m.weights[i] = math.Float32frombits(binary.BigEndian.Uint32(rest[2:]))
		m.squares[i] = math.Float32frombits(binary.BigEndian.Uint32(rest[6:]))
	}
	return nil
}
