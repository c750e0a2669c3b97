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
	name, title string
	mode        sim.FocusMode
}{{"A", "with the market (A)", sim.Paper}, {"B", "without (B)", sim.Alone}}

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

// keywordReport is the report of the experiment on webs that the lab makes.
func keywordReport(r results, keys []string) (report.Table, []report.Figure) {
	size := sim.DefaultFocus(0)
	caption := fmt.Sprintf("With the market (A) and without (B), in %%: %d topics of %d keywords, %d crawlers, %d s, on %d made webs", size.Topics, size.Keywords, size.Crawlers, size.Seconds, len(keys))
	return PaperMarket(caption, size.Topics, size.Keywords, len(keys), func(topic, keyword int, way string, measure, web int) float64 {
		return r.sample(keywordRun(topic, keyword, way), measure, keys[web])[0]
	})
}

// PaperMarket is the table of the market paper and its three bar charts, with 95 % intervals over webs. of returns a figure, in %, of a run:
// topic and keyword from 1, A or B, measure 0 to 2 (CR, RCR, RR), web from 0.
func PaperMarket(caption string, topics, keywords, webs int, of func(topic, keyword int, way string, measure, web int) float64) (report.Table, []report.Figure) {
	t := report.Table{Caption: caption, Head: []string{"topic", "keyword", "CR A", "CR B", "RCR A", "RCR B", "RR A", "RR B"}}
	mean := func(topics, keywords []int, measure int, way string) (out sample) {
		for web := range webs {
			sum, n := 0.0, 0.0
			for _, topic := range topics {
				for _, keyword := range keywords {
					sum, n = sum+of(topic, keyword, way, measure, web), n+1
				}
			}
			out = append(out, sum/n)
		}
		return out
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
	allTopics, allKeywords := upTo(topics), upTo(keywords)
	for _, topic := range shownTopics {
		for _, keyword := range allKeywords {
			if topic <= topics {
				row(fmt.Sprint(topic), fmt.Sprint(keyword), []int{topic}, []int{keyword})
			}
		}
	}
	for _, topic := range allTopics {
		row(fmt.Sprint(topic), "average", []int{topic}, allKeywords)
	}
	row("all", "average", allTopics, allKeywords)
	published := []string{"all", "published"}
	whiskers := ""
	if webs > 1 {
		whiskers = " Whiskers: 95 % intervals over webs."
	}
	var charts []report.Figure
	for k, m := range paperMeasures {
		published = append(published, m.a, m.b)
		fig := report.Figure{Kind: report.Bars, Caption: m.title + ", in %, by topic." + whiskers, Y: report.Axis{Label: "%", Zero: true}}
		for _, way := range paperWays {
			one := report.Series{Name: way.title}
			for i, topic := range allTopics {
				one.Points = append(one.Points, mean([]int{topic}, allKeywords, k, way.name).spread(float64(i)))
			}
			one.Points = append(one.Points, mean(allTopics, allKeywords, k, way.name).spread(float64(topics)))
			fig.Series = append(fig.Series, one)
		}
		for _, topic := range allTopics {
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
