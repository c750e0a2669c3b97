package yield

// What a template gets, or pays, for what its pages have named.

// credit is for a template that has named something new.
func (m *Model) credit(via *Template) Event {
	if via == nil {
		return Nothing
	}
	g := m.groups[via.Group]
	via.Named++
	m.touch(via, g)
	pays := int64(namedPays)
	switch {
	case via.Known > via.Faint:
		pays = namedKnown
	case via.dated():
		pays = datedPays
	}
	if pays = min(pays, via.Lent); pays == 0 && via.Dry > 0 {
		return Nothing // an earlier page has named it: the last ones lead nowhere all the same
	}
	via.Dry, via.Lent = 0, via.Lent-pays
	if via.Alike > 0 {
		m.speaks(via) // a button leads nowhere
	}
	if g.Cut {
		sum := g.Sum
		if m.lift(g, liftPays); via.Button {
			via.Button, g.Sum = false, min(g.Sum, sum)
		}
		return Lifted
	}
	g.Sum, via.Cost = max(0, g.Sum-pays), max(0, via.Cost-pays)
	return Nothing
}

// points lends a template for a redirect to what was not there as much as what comes of it may pay: the redirect itself has cost nothing.
func (t *Template) points(a *Answer) {
	if a.Found > a.Same {
		t.Lent += namedKnown
	}
}

// lift lets a cut group go on: it is cut again once it has brought nothing for another while, as long as is paid.
func (m *Model) lift(g *Group, pays int64) {
	g.Cut, g.Round, g.Next, g.Strangers, g.Newborns = false, 0, 0, 0, 0
	g.Sum, g.Buckets, g.dirty = g.limit()-pays, nil, true
	m.cuts--
	m.share()
}

// charge has a template share the cost of a page that it has named and that is the end of a way, where most of such bring nothing, there are
// more of them than pages that name them, and these are new by little: a page each may be a button, and 20 each would be asked for 20 times as
// often as pages that are new by little are.
func (m *Model) charge(t, via *Template) {
	if via == nil || via.Group == t.Group || via.Little <= via.finds() || t.Barren <= max(t.New, via.Answers) {
		return
	}
	g := m.groups[via.Group]
	if via.Owed++; via.Owed%tablesCost == 0 && !g.Cut {
		g.Sum, via.Cost = g.Sum+1, via.Cost+1
	}
	m.touch(via, g)
}
