package yield

import (
	"encoding/binary"
	"fmt"
	"slices"

	"argosy/internal/crawl"
)

// How a Model is kept in records.

// Kinds of records: the first byte of their keys.
const (
	recMeta     = 'm'
	recTemplate = 't'
	recGroup    = 'a'
	recNode     = 'n'
	recGuess    = 'g'
	recMark     = 'k'
	recRest     = 'r'
	recChosen   = 's'
)

// Flush gives every record that has changed since the last Flush to put, and every prefix whose records are gone to drop. Keys
// and values may be kept.
func (m *Model) Flush(put func(key, value []byte) error, drop func(prefix []byte) error) error {
	var err error
	save := func(kind byte, id uint64, v any) {
		if err == nil {
			var b []byte
			if b, err = crawl.Marshal(v); err == nil {
				err = put(binary.BigEndian.AppendUint64([]byte{kind}, id), b)
			}
		}
	}
	if m.changed {
		for _, t := range m.kept {
			if t.dirty {
				t.dirty = false
				save(recTemplate, uint64(t.ID), t)
			}
		}
		gone := false
		for _, g := range m.grouped {
			if !g.dirty {
				continue
			}
			g.dirty = false
			save(recGroup, uint64(g.ID), g)
			if g.Members <= 0 && g.Waiting <= 0 && g.Part == nil {
				gone = true
				delete(m.groups, g.ID)
				if err == nil {
					err = drop(binary.BigEndian.AppendUint64([]byte{recGroup}, uint64(g.ID)))
				}
			}
		}
		if gone {
			m.grouped = slices.DeleteFunc(m.grouped, func(g *Group) bool { return m.groups[g.ID] != g })
		}
		for _, at := range m.dirtyNodes {
			save(recNode, at, m.nodes[at])
		}
		for _, g := range m.guessed {
			if g.dirty {
				g.dirty = false
				save(recGuess, g.at, g.guess)
			}
		}
		m.dirtyNodes, m.changed = m.dirtyNodes[:0], false
	}
	if err == nil {
		err = m.marks.flush(recMark, put, drop)
	}
	if err == nil {
		err = m.rests.flush(recRest, put, drop)
	}
	if err == nil {
		err = m.chosen.flush(recChosen, put, drop)
	}
	if m.metaDirty {
		m.metaDirty = false
		m.Meta.Marks, m.Meta.Rests, m.Meta.Chosen = m.marks.gen, m.rests.gen, m.chosen.gen
		save(recMeta, 0, &m.Meta)
	}
	return err
}

// Load takes in a record that Flush has given to put, in the order of their keys.
func (m *Model) Load(key, value []byte) error {
	if len(key) < 9 {
		return fmt.Errorf("yield: key of %d bytes", len(key))
	}
	id := binary.BigEndian.Uint64(key[1:])
	var err error
	switch key[0] {
	case recMeta:
		err = crawl.Unmarshal(value, &m.Meta)
	case recTemplate:
		t := &Template{}
		err = crawl.Unmarshal(value, t)
		m.keep(t)
	case recGroup:
		g := &Group{}
		m.kin = nil
		err = crawl.Unmarshal(value, g)
		m.keepGroup(g)
		if g.Cut {
			m.cuts++
		}
		if g.Vain > 0 {
			m.vain[g.Part.named()] += g.Vain
		}
	case recNode:
		n := &node{}
		err = crawl.Unmarshal(value, n)
		m.nodes[id] = n
		m.noted(n.Names, 0)
	case recGuess:
		g := &guess{}
		err = crawl.Unmarshal(value, g)
		m.keepGuess(id, g)
		m.likely = m.likely || g.likely()
		if g.With > 0 {
			all := m.handedOf(g)
			all.with, all.on = all.with+g.With, all.on+g.On
		}
		for _, v := range g.Vouches {
			m.handedOf(g).vouches.add(v)
		}
		m.paired(g, &guess{})
		if g.Group != 0 {
			m.learn(g)
		}
	case recMark:
		m.marks.load(key, value)
	case recRest:
		m.rests.load(key, value)
	case recChosen:
		m.chosen.load(key, value)
	default:
		err = fmt.Errorf("yield: record of kind %q", key[0])
	}
	return err
}
