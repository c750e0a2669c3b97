package agent

import (
	"sync"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
	"argosy/internal/page/topic"
)

// maxJudges bounds for how many jobs a judge is kept.
const maxJudges = 16

// judges are those of the topics of jobs.
type judges struct {
	mu sync.Mutex
	of map[uint32]*topic.Judge
}

// get returns the judge of a job's topic, nil if it has none. What makes a job this job never changes.
func (s *judges) get(j *crawl.Job) *topic.Judge {
	if j.Identity.Topic == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.of[j.ID]; of != nil {
		return of
	}
	if s.of == nil || len(s.of) >= maxJudges {
		s.of = map[uint32]*topic.Judge{}
	}
	s.of[j.ID] = topic.NewJudge(j.Identity.Topic)
	return s.of[j.ID]
}

// judged scores a page in a charset whose first half is ASCII, and marks what one on the topic says.
func (l *lease) judged(body []byte, charset string) (score float32, said uint64) {
	if l.judge == nil {
		return 0, 0
	}
	body = body[:min(len(body), maxTextSource)]
	if charset != "utf-8" {
		body = []byte(parse.Decode(body, charset))
	}
	if score = float32(l.judge.Page(body)); float64(score) >= l.judge.Topic.Threshold {
		said = topic.Said(body)
	}
	return score, said
}

// focus notes the page's score for what its links are worth. Without a limit of depth the filter of links, which takes again what
// comes from less deep, goes by how promising the page is instead: a link that a better page names is sent again.
func (f *finder) focus(score float32, off uint8) {
	if f.l.judge == nil {
		return
	}
	f.found.Score = score
	f.all = !f.l.job.Identity.ByRule && float64(score) >= f.l.judge.Topic.Threshold
	if !f.limited {
		f.depth = promise(float64(score), f.l.judge.Topic.Threshold, off)
	}
}

// promise ranks pages by what their links are worth; the best is 0. off is how many pages in a row were off the topic on the way.
func promise(score, threshold float64, off uint8) uint16 {
	if score >= threshold {
		return uint16(7 - min(7, int(8*(score-threshold)/(1-threshold))))
	}
	return 8 + 4*uint16(min(off, crawl.MaxTunnel)) + uint16(3-min(3, int(4*score/threshold)))
}
