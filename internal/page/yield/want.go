package yield

import "argosy/internal/crawl"

// Want says how a URL is to be asked for: whether its answer is to be marked, whether by whom it was named is of interest, and
// how many more of its group may be out.
type Want struct {
	Mark  crawl.Mark
	Back  bool
	Room  int
	Group uint32
	Loose bool // the group has brought nothing yet: MaxLoose of all such ones together may be out
}

// MaxLoose is how many URLs may be out of groups that have brought nothing yet, together: they may turn out to be one trap.
const MaxLoose = 64

// Loose returns how many URLs are out of groups that have brought nothing yet.
func (m *Model) Loose() (n int) {
	for _, g := range m.groups {
		if g.loose() {
			n += g.flight
		}
	}
	return n
}

// Want says how a URL of a template is to be asked for. via is the template that has named it. Answers must be marked of
// templates under suspicion, of those that such a one has named, and the first few of each; of others a few may be.
func (m *Model) Want(template, via uint32, k crawl.Key) Want {
	t := m.byID[template]
	if t == nil || t.Answers == 0 && !t.Free {
		w := Want{Mark: crawl.MarkMay, Room: minFlight, Loose: true}
		v := m.byID[via]
		if v != nil && (v.dry() || v.Dry > 0 || m.suspect(m.groups[v.Group])) {
			w.Mark, w.Back = crawl.MarkMust, true
		}
		if v != nil && v.dry() {
			w.Group, w.Room, w.Loose = v.Group, m.room(m.groups[v.Group], 0), m.groups[v.Group].loose()
		} else if t != nil {
			w.Group, w.Room, w.Loose = t.Group, m.room(m.groups[t.Group], 0), m.groups[t.Group].loose()
		}
		return w
	}
	g := m.groups[t.Group]
	w := Want{Room: m.room(g, t.Answers), Group: g.ID, Loose: g.loose()}
	ends := g.ends()
	if ends {
		w.Room = max(w.Room, unsureFlight-g.flight)
	}
	if t.Free {
		w.Room = min(w.Room, max(0, hearGrow-g.flight))
	}
	if t.wavers() {
		w.Room = min(w.Room, max(0, t.unsure()-g.flight))
	}
	if t.Alike >= sameAfter {
		w.Room = min(w.Room, max(0, int(max(4, limit*max(1, g.Grace)-t.Alike))-g.flight))
	}
	switch {
	case t.uncertain() && k[14]%drawnSoon == 0, t.drawn() && k[14]%drawnEvery == 0:
		w.Mark, w.Back = crawl.MarkTwice, t.Dry > 0 || t.New < 2
	case ends && t.Marked >= markFirst && !t.All && !t.drawn() && k[15]%markMixed != 0: // the others stand for it
	case t.All || t.drawn() || t.Dry > 0 || t.Alike >= sameAfter || m.suspect(g) || t.mixed() && k[15]%t.mixedEvery() == 0, t.wavers() && k[15]%markWavering == 0:
		w.Mark, w.Back = crawl.MarkMust, t.Dry > 0 || t.New < 2
	case t.Marked < markFirst, k[15]%markEvery == 0:
		w.Mark = crawl.MarkMust
	case t.Marked < markAll:
		w.Mark = crawl.MarkMay
	}
	if w.Mark == crawl.MarkMust && t.Faint >= dryAfter && via != template && t.single() { // what its own kind names may be without end
		w.Mark = crawl.MarkClosely
	}
	return w
}

// unsure is how many URLs of a wavering template's group may be out: as many as a quarter of what it has found at most, since each small portion costs a
// message, and what has found much seldom runs dry at once.
func (t *Template) unsure() int {
	return int(min(mostUnsure, max(unsureFlight, t.finds()/4)))
}

// mixedEvery is of how many answers of a mixed template one must be marked: all, unless it is proven, or hardly any counted as nothing. What
// others name, as a manual's lists do, is faint and does not count. Little that is new proves nothing: the next such page may count for it.
func (t *Template) mixedEvery() uint8 {
	if t.Little <= t.finds() && (t.finds() >= proven || wavering*t.Barren < t.Marked) {
		return markMixed
	}
	return 1
}

// weight is how many of a template's answers a marked one stands for.
func (t *Template) weight(g *Group) int64 {
	if g.ends() {
		return 1 + t.Skipped
	}
	return 1
}

// ends reports whether a group was spared since it is finite, and still seems to be.
func (g *Group) ends() bool { return g.Spared && !g.Cut && g.dies() }

// suspect reports whether a group has brought nothing more than once in a while.
func (m *Model) suspect(g *Group) bool { return g.Sum > newPays || g.Cut }

// room is how many more URLs of a group may be out: what they can add to its sum is what the limit leaves. A group that is above
// suspicion may have as many out as its template has had answers, marked or not: small portions cost the coordinator a message each.
func (m *Model) room(g *Group, answers int64) int {
	left := g.limit() - g.Sum
	proven := minFlight + 2*g.New
	if g.Sum == 0 && g.New > 0 {
		proven = max(proven, answers)
	}
	most := min(maxFlight, proven)
	return max(0, int(max(4, min(left, most)))-g.flight)
}

// Out notes that URLs of a template have been asked for (n > 0), or that their answers have come (n < 0).
func (m *Model) Out(template uint32, n int) {
	t := m.byID[template]
	if t == nil {
		return
	}
	n = max(n, -t.flight) // a process that has just begun does not know what is out
	t.flight += n
	m.groups[t.Group].flight += n
}

// Home notes that nothing is out.
func (m *Model) Home() {
	for _, t := range m.byID {
		t.flight = 0
	}
	for _, g := range m.groups {
		g.flight = 0
	}
}
