package yield

// What a template gets for what its pages say that is new, and gets or pays for what they have named.

// often lowers the limit of the group of a template that has brought much.
func (t *Template) often(g *Group) {
	if !t.bag() { // of paths that grow, each may lead to a name that was not there
		g.Sooner = min(soonerAt*max(0, t.New-soonerFrom), soonerBy)
	}
}

// brought takes in a new answer, which pays so much.
func (m *Model) brought(t, via *Template, a *Answer, pays int64) Event {
	t.New++
	t.Dry, t.Spared, t.Equal = 0, 0, 0
	g := m.groups[t.Group]
	g.New++
	t.often(g)
	if g.Cut && !a.Tried && m.good(t) {
		m.touch(t, g)
		return Nothing // it was asked for because of its form, and says nothing of others
	}
	others := via == nil || !m.groups[via.Group].Cut
	choices := g.Members > 1 && (m.sorts(t) || m.combination(t)) // all are the same list
	if g.Cut && g.Members > 1 && !choices && !(others && t.twofold() || (others || pays == partPays) && t.Barren > dryAfter*t.New) {
		m.alone(t, pays) // the others may be a trap all the same
		m.credit(via)
		return Lifted
	}
	if g.Cut {
		m.touch(t, g)
		ok := strangerOK
		if pays == partPays && m.behind { // at a quarter, a set of which less than half seem new that are known dies out
			ok /= 4
		}
		g.Things = min(g.Things+ok, strangeMax)
		if others { // what others name may be new, and the rest a trap all the same
			if g.Strangers = min(g.Strangers+ok, strangeMax); g.Strangers == ok { // those that wait may be tried again
				return max(Lifted, m.credit(via))
			}
			return m.credit(via)
		}
		m.lift(g, pays)
		return Lifted
	}
	inner := t.inner(via)
	if inner {
		t.Within++
	} else {
		pays = min(pays, max(0, t.Cost-t.Inner)) // it says nothing of what its own kind names
	}
	switch {
	case g.Members == 1 || choices:
		g.Sum = max(0, g.Sum-pays)
		t.Cost = min(t.Cost, g.Sum)
		t.Inner = min(t.Inner, t.Cost)
	case inner || !t.fed():
		g = m.alone(t, pays)
	default:
		g.Sum, t.Cost = max(0, g.Sum-pays), t.Cost-pays
	}
	m.touch(t, g)
	if via == t {
		return Nothing
	}
	return m.credit(via)
}

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

// moved takes in a redirect. One to what was not there costs nothing, and lends its template as much as what comes of it may pay. One to what
// was there brings nothing, as a button does that leads back to where it stands.
func (m *Model) moved(t, via *Template, a *Answer) Event {
	switch {
	case a.Found > a.Same:
		t.Lent, t.Equal = t.Lent+namedKnown, 0
	case a.Found == 0 && a.Moved:
		return m.barren(t, via, a, faintCosts, aKnown)
	}
	return Nothing
}

// lift lets a cut group go on: it is cut again once it has brought nothing for another while, as long as is paid.
func (m *Model) lift(g *Group, pays int64) {
	g.Cut, g.Round, g.Next, g.Strangers, g.Newborns, g.Kin, g.Things = false, 0, 0, 0, 0, 0, 0
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
