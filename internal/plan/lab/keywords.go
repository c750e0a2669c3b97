package lab

import (
	"fmt"

	"argosy/internal/plan/report"
	"argosy/internal/plan/sim"
)

// The market paper's experiment: for each keyword of each topic five crawlers look for pages about it, for 300 s, with the market (A) and
// without (B).

// shownTopics are the topics, from 1, of which the paper prints every keyword.
var shownTopics = []int{1, 4, 11}

// paperWays are the paper's two ways, as its table has them.
var paperWays = []struct {
	name string
	mode sim.FocusMode
}{{"A", sim.Paper}, {"B", sim.Alone}}

// paperMeasures are the paper's three measures, with its averages in A and B, in %.
var paperMeasures = []struct {
	name, title string
	a, b        string
}{
	{"CR", "CR, visited pages on the topic", "85", "76"},
	{"RCR", "RCR, pages saved, of those visited", "80", "72"},
	{"RR", "RR, pages on the topic had again, of those visited", "0.3", "0.8"},
}

func keywordRun(topic, keyword int, way string) string {
	return fmt.Sprintf("topic %d keyword %d %s", topic, keyword, way)
}

// keywordRuns runs the experiment on the web of a seed.
func keywordRuns(seed uint64, out figures) error {
	f := sim.DefaultFocus(seed)
	for f.Topic = range f.Topics {
		for f.Keyword = range f.Keywords {
			for _, way := range paperWays {
				r, err := f.Run(way.mode)
				if err != nil {
					return err
				}
				out[keywordRun(f.Topic+1, f.Keyword+1, way.name)] = reals{100 * r.CR(), 100 * r.RCR(), 100 * r.RR()}
			}
		}
	}
	return nil
}

// keywordReport is the paper's table, and its three bar charts, with 95 % intervals over webs.
func keywordReport(r results, keys []string) (report.Table, []report.Figure) {
	size := sim.DefaultFocus(0)
	t := report.Table{
		Caption: fmt.Sprintf("With the market (A) and without (B), in %%: %d topics of %d keywords, %d crawlers, %d s, on %d made webs", size.Topics, size.Keywords, size.Crawlers, size.Seconds, len(keys)),
		Head:    []string{"topic", "keyword", "CR A", "CR B", "RCR A", "RCR B", "RR A", "RR B"},
	}
	mean := func(topics, keywords []int, k int, way string) (of sample) {
		for _, key := range keys {
			sum, n := 0.0, 0.0
			for _, topic := range topics {
				for _, keyword := range keywords {
					sum, n = sum+r.sample(keywordRun(topic, keyword, way), k, key)[0], n+1
				}
			}
			of = append(of, sum/n)
		}
		return of
	}
	row := func(topic, keyword string, topics, keywords []int) {
		cells := []string{topic, keyword}
		for k := range paperMeasures {
			for _, way := range paperWays {
				cells = append(cells, fmt.Sprintf("%.2f", mean(topics, keywords, k, way.name).mean()))
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	topics, keywords := upTo(size.Topics), upTo(size.Keywords)
	for _, topic := range shownTopics {
		for _, keyword := range keywords {
			row(fmt.Sprint(topic), fmt.Sprint(keyword), []int{topic}, []int{keyword})
		}
	}
	for _, topic := range topics {
		row(fmt.Sprint(topic), "average", []int{topic}, keywords)
	}
	row("all", "average", topics, keywords)
	published := []string{"all", "published"}
	var charts []report.Figure
	for k, m := range paperMeasures {
		published = append(published, m.a, m.b)
		fig := report.Figure{Kind: report.Bars, Caption: m.title + ", in %, by topic. Whiskers: 95 % intervals over webs.", Y: report.Axis{Label: "%", Zero: true}}
		for _, way := range paperWays {
			one := report.Series{Name: map[string]string{"A": "with the market (A)", "B": "without (B)"}[way.name]}
			for i, topic := range topics {
				one.Points = append(one.Points, mean([]int{topic}, keywords, k, way.name).spread(float64(i)))
			}
			one.Points = append(one.Points, mean(topics, keywords, k, way.name).spread(float64(len(topics))))
			fig.Series = append(fig.Series, one)
		}
		for _, topic := range topics {
			fig.Categories = append(fig.Categories, fmt.Sprintf("topic %d", topic))
		}
		fig.Categories = append(fig.Categories, "all")
		charts = append(charts, fig)
	}
	t.Rows = append(t.Rows, published)
	return t, charts
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i+1)
	}
	return out
}
