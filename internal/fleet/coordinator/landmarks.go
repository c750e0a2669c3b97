package coordinator

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// choose chooses landmarks among nodes, as an earlier leader has done by the delays of its time, if it was among the same nodes; names are theirs.
func (r *reader) choose(of schedule.Landmarks, nodes []schedule.Node, names []byte, now int64) (marks []int, how string) {
	among := sha256.Sum256(names)
	var last *crawl.Landmarks
	for i := range r.was {
		if w := &r.was[i]; bytes.Equal(w.Among, among[:]) && (last == nil || w.At > last.At) {
			last = w
		}
	}
	if last != nil {
		for i := range nodes {
			if slices.Contains(last.Nodes, nodes[i].ID) {
				marks = append(marks, i)
			}
		}
		r.kept, r.was = last, nil
		return marks, learn.ByCentre
	}
	r.kept = nil
	if marks, how = learn.Landmarks(of, nodes, r.book); how == learn.ByCentre {
		r.kept = &crawl.Landmarks{By: r.key, Among: among[:], At: now}
		for _, i := range marks {
			r.kept.Nodes = append(r.kept.Nodes, nodes[i].ID)
		}
	}
	return marks, how
}

// remember has a reader that has chosen no landmarks yet know what earlier leaders have chosen for it.
func (r *reader) remember(jobs func(fn func(*frontier.Job))) {
	if r.chosen != "" || r.was != nil {
		return
	}
	jobs(func(j *frontier.Job) {
		for _, l := range j.Landmarks {
			if l.By == r.key {
				r.was = append(r.was, l)
			}
		}
	})
}

// shown is what maps are drawn from: the book that cycles read, with its landmarks and how they were chosen. Until one was planned since the coordinator
// began it is a book of its own over the same record, by the landmarks of the last leader: what is decided does not hang on who looks at what.
func (k *lore) shown(r *reader, j *frontier.Job) (book *predict.Book, marks []string, how string) {
	if r.chosen != "" || r.book.Fitted() > 0 {
		r.before = nil
		return r.book, r.marks, r.how
	}
	record := k.learned.Record()
	if r.before == nil {
		r.before = record.Book(r.wants.Book)
	}
	last := int64(-1)
	for i := range j.Landmarks {
		if w := &j.Landmarks[i]; w.By == r.key && w.At > last {
			marks, how, last = w.Nodes, learn.ByCentre, w.At
		}
	}
	if len(j.Placing.Landmarks) > 0 {
		marks, how = j.Placing.Landmarks, learn.ByID
	}
	var numbers []int
	for _, id := range marks {
		if record.Knows(id) {
			numbers = append(numbers, record.Node(id))
		}
	}
	if len(numbers) > 0 {
		r.before.SetLandmarks(numbers)
	}
	r.before.Fit()
	return r.before, marks, how
}

// tell puts the landmarks that a job goes by into a grant, if the log does not have them yet.
func (r *run) tell(e *crawl.Entry, j *frontier.Job) {
	readers := []*reader{r.read}
	if r.shadow != nil {
		readers = append(readers, r.shadow.read)
	}
	var all []crawl.Landmarks
	for _, read := range readers {
		if read.kept != nil {
			all = append(all, *read.kept)
		}
	}
	if !slices.EqualFunc(all, j.Landmarks, func(a, b crawl.Landmarks) bool {
		return a.By == b.By && a.At == b.At && bytes.Equal(a.Among, b.Among)
	}) {
		e.Landmarks = all
	}
}
