package lab

import (
	"fmt"
	"time"

	"argosy/internal/plan/report"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/solve"
)

// markets are the ways in which crawlers work together, with what was published of them.
var markets = []struct {
	name, paper string
	mode        sim.FocusMode
}{
	{"without the market (B)", "0.76 / 0.72 / 0.008", sim.Alone}, {"with the market (A)", "0.85 / 0.80 / 0.003", sim.Paper},
	{"market in lots", "", sim.Lots}, {"breadth first", "", sim.Breadth}, {"depth first", "", sim.Depth}, {"fuzzy rules", "", sim.Fuzzy}, {"one queue, best first", "", sim.Central},
}

// visits are the sizes of the experiment: with the paper's parameters, and with ability for 120 visits a crawler, at which
// queues overlap and the difference shows.
var visits = []struct {
	name string
	set  func(f *sim.Focus)
}{
	{"50 visits", func(*sim.Focus) {}},
	{"600 visits", func(f *sim.Focus) {
		f.Exchange.Beta, f.Exchange.Alpha, f.Seconds, f.Exchange.Lifetime, f.Exchange.Space = 60, 40, 3600, time.Hour, 1<<30
	}},
}

// planMarket is the market paper, on made webs.
func planMarket(s *Scenario, _ Config) ([]unit, func(r results) (report.Section, error), error) {
	var units []unit
	for seed := range uint64(s.Seeds) {
		units = append(units, unit{fmt.Sprintf("seed %d", seed), func() (figures, error) {
			out := figures{}
			if err := keywordRuns(seed, out); err != nil {
				return nil, err
			}
			for _, v := range visits {
				for _, m := range markets {
					f := sim.DefaultFocus(seed)
					f.Topic, f.Keyword = int(seed)%f.Topics, int(seed)%f.Keywords
					v.set(&f)
					r, err := f.Run(m.mode)
					if err != nil {
						return nil, err
					}
					out[v.name+" "+m.name] = reals{r.CR(), r.RCR(), r.RR(), r.Harvest(), r.Recall()}
				}
			}
			return out, nil
		}})
	}
	return units, func(r results) (report.Section, error) { return marketSection(s, r) }, nil
}

func marketSection(s *Scenario, r results) (report.Section, error) {
	sec := report.Section{Title: "Market matching"}
	t, err := marketExample()
	if err != nil {
		return sec, err
	}
	var keys []string
	for seed := range s.Seeds {
		keys = append(keys, fmt.Sprintf("seed %d", seed))
	}
	keywords, charts := keywordReport(r, keys)
	shares := report.Table{
		Caption: fmt.Sprintf("Crawlers on %d made webs: the paper's three measures, and those of the field", s.Seeds),
		Head:    []string{"visits", "crawlers", "published CR / RCR / RR", "CR", "RCR", "RR", "harvest", "true recall"},
	}
	for _, v := range visits {
		fig := report.Figure{Kind: report.Bars, Caption: v.name + ": distinct relevant pages for each visit (harvest), and the share of all relevant pages that was found. Whiskers: 95 % intervals.", Y: report.Axis{Label: "share", Share: true}, Categories: []string{"harvest", "true recall", "CR (precision)"}}
		for _, m := range markets {
			at := v.name + " " + m.name
			paper := m.paper
			if v.name != visits[0].name {
				paper = ""
			}
			row := []string{v.name, m.name, paper}
			for k := range 5 {
				row = append(row, r.sample(at, k, keys...).text(3))
			}
			shares.Rows = append(shares.Rows, row)
			one := report.Series{Name: m.name}
			for cat, k := range []int{3, 4, 0} {
				one.Points = append(one.Points, r.sample(at, k, keys...).spread(float64(cat)))
			}
			fig.Series = append(fig.Series, one)
		}
		sec.Figures = append(sec.Figures, fig)
	}
	sec.Tables = append(sec.Tables, t, keywords, shares)
	sec.Figures = append(charts, sec.Figures...)
	sec.Notes = append(sec.Notes, "Made webs: take the order and not the level. A page on the topic counts for RCR if nobody saved it before, else for RR. "+
		"CR and RCR are shares of what was visited: with the market they rise also because crawlers that have reached their target stop, and visit less. "+
		"They rise when known pages are fetched again, too. Harvest and true recall, which the paper does not print, say what was found.")
	return sec, nil
}

// marketExample is the worked example.
func marketExample() (report.Table, error) {
	t := report.Table{Caption: "The worked example", Head: []string{"figure", "published", "ours", "remark"}}
	v, err := solve.FromRows([][]float64{{9, 5, 1}, {7, 5, 2}, {4, 3, 2}})
	if err != nil {
		return t, err
	}
	c, err := solve.ClearMarket(v, solve.MarketOptions{Step: 1, Trace: true})
	if err != nil {
		return t, err
	}
	path := ""
	for _, r := range c.Trace {
		path += fmt.Sprint(r.Prices) + " "
	}
	net := c.Valuation
	for _, p := range c.Prices {
		net -= p
	}
	v.Set(2, 2, -1)
	bad, err := solve.ClearMarket(v, solve.MarketOptions{Step: 1})
	if err != nil {
		return t, err
	}
	t.Rows = [][]string{
		{"rounds", "4", fmt.Sprint(c.Rounds), ""},
		{"prices by round", "(0,0,0) (1,0,0) (2,0,0) (3,1,0)", path, ""},
		{"items of buyers 1 to 3", "1 2 3", ints(c.Item), ""},
		{"sum of payoffs", "12", fmt.Sprint(net), ""},
		{"with the printed −1", "", fmt.Sprintf("%d rounds, prices %v", bad.Rounds, bad.Prices), "so the −1 is a misprint for 2"},
	}
	return t, nil
}
