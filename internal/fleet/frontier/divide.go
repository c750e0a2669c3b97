package frontier

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// part returns the crawler that gets number n of what is divided: a seed, or what is dealt out as seeds are. said is what a link says of it. It
// goes by the URL and these words alone, so that whoever reads the log again divides alike, and for any number of crawlers.
func (j *Job) part(url, said string, n int64) (c uint32) {
	switch m := j.Identity.Market; {
	case m == nil:
		return 0
	case m.Divide == crawl.DivideKeyword:
		c = j.byKeyword(address(url), said)
	case m.Divide == crawl.DivideLikeness:
		c = byLikeness(address(url), said, m.Crawlers)
	}
	if c == 0 {
		c = j.turn(n)
	}
	return c
}

// keyword are the words of the topic that a crawler has, and what they weigh.
type keyword struct {
	judge *topic.Judge
	all   float64
}

// byKeyword returns the crawler whose words of the topic weigh most in what names a URL, 0 if none stands there. Where words are fewer than
// crawlers several have the same, and get what names it by the hash of its address.
func (j *Job) byKeyword(url, said string) uint32 {
	if j.keywords == nil {
		j.keywords = keywordsOf(j.Identity.Topic, j.crawlers())
	}
	best, most := 0, 0.0
	for k, of := range j.keywords {
		if w := of.judge.Short(url, said) * of.all; w > most {
			best, most = k+1, w
		}
	}
	if best == 0 {
		return 0
	}
	sharers := 1 + (j.crawlers()-best)/len(j.keywords)
	return uint32(best + len(j.keywords)*int(wordHash([]byte(url))%uint64(sharers)))
}

// keywordsIn returns a crawler's words of the topic that name a URL.
func (j *Job) keywordsIn(c uint32, url, said string) (out []string) {
	if j.byKeyword(address(url), said) == 0 {
		return nil
	}
	v := j.keywords[int(c-1)%len(j.keywords)].judge.Explain([]byte(address(url)+" "+said), false)
	for _, p := range v.Parts {
		out = append(out, p.Term)
	}
	return out
}

// keywordsOf deals a topic's single words out in turn, the heaviest first.
func keywordsOf(t *crawl.Topic, crawlers int) []keyword {
	terms := slices.DeleteFunc(slices.Clone(t.Terms), func(w crawl.TopicTerm) bool { return w.Weight <= 0 || w.Next != "" })
	slices.SortStableFunc(terms, func(a, b crawl.TopicTerm) int { return cmp.Compare(b.Weight, a.Weight) })
	out := make([]keyword, min(crawlers, len(terms)))
	for k := range out {
		of := *t
		of.Terms = nil
		for i := k; i < len(terms); i += len(out) {
			of.Terms = append(of.Terms, terms[i])
			out[k].all += terms[i].Weight
		}
		out[k].judge = topic.NewJudge(&of)
	}
	return out
}

// byLikeness returns the crawler of what has the same least hash of its words: two URLs have it as often as words of one are the other's, too, of
// all that either has (Broder, On the resemblance and containment of documents, 1997).
func byLikeness(url, said string, crawlers int) uint32 {
	least := uint64(math.MaxUint64)
	topic.Each([]byte(url+" "+said), func(word []byte) { least = min(least, wordHash(word)) })
	return uint32(least%uint64(crawlers)) + 1
}

// wordHash is FNV-1a with the finalizer of MurmurHash3: the least of several is any of them, and what is left of it by division is spread.
func wordHash(b []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// address is what of a URL says something.
func address(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return rest
}

// timed counts how long a page took that was answered, where crawlers are valued by it.
func (t *Task) timed(j *Job, o *crawl.Outcome) {
	if m := j.Identity.Market; m == nil || m.Speed == 0 || o.Status == 0 {
		return
	}
	t.Timed++
	for _, us := range o.Timing {
		t.TimedUS += int64(max(0, us))
	}
}

// SiteMS returns how many ms a page of a site has taken a crawler on average, 0 if it has had none.
func (f *Frontier) SiteMS(j *Job, c uint32, site string) float64 {
	at, subset := j.home(c)
	t := f.tasks[f.byName[taskName{space: at, subset: subset, site: site}]]
	if t == nil || t.Timed == 0 {
		return 0
	}
	return max(0.001, float64(t.TimedUS)/1000/float64(t.Timed))
}

// bySpeed lowers what URLs are worth to crawlers that were slower at their sites than the fastest was: the share of it that goes by speed is divided
// by how many times as long a page took. Who was never there is taken to be as fast as the fastest: nobody knows better.
func (f *Frontier) bySpeed(j *Job, offers []Offer) {
	times := map[string][]float64{}
	for i := range offers {
		o := &offers[i]
		ms, ok := times[o.Site]
		if !ok {
			ms = make([]float64, j.crawlers())
			for c := range ms {
				ms[c] = f.SiteMS(j, uint32(c)+1, o.Site)
			}
			times[o.Site] = ms
		}
		weighBySpeed(o.Values, ms, j.Identity.Market.Speed)
	}
}

// weighBySpeed changes valuations by what a page takes each crawler; 0: it is not known.
func weighBySpeed(values, ms []float64, share float64) {
	fastest := math.Inf(1)
	for _, t := range ms {
		if t > 0 {
			fastest = min(fastest, t)
		}
	}
	for c, t := range ms {
		if c < len(values) && t > 0 {
			values[c] *= 1 - share + share*fastest/t
		}
	}
}
