package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"argosy/internal/crawl"
)

// Market says how many crawlers share what a job with a topic finds, and how. The names of the parameters are the published ones; what is
// not said is as published, or, in the mode lots, without a bound.
type Market struct {
	Mode          string   `yaml:"mode" doc:"lots: one memory, several URLs change hands at once; paper: as published; independent: each for itself; default lots" enum:"lots paper independent"`
	Crawlers      *int     `yaml:"crawlers" doc:"how many share the URLs" min:"1" max:"100"`
	Alpha         *int     `yaml:"alpha" doc:"pages on the topic that a crawler is to save: who has them buys" min:"0"`
	Beta          *float64 `yaml:"beta" doc:"ability of a crawler at first"`
	Delta1        *float64 `yaml:"delta1" doc:"ability that a page costs"`
	Delta2        *float64 `yaml:"delta2" doc:"step by which prices rise; 0: the smallest that changes something"`
	Delta3        *Span    `yaml:"delta3" doc:"lifetime that a purchase brings its buyer, such as 10s"`
	Delta4        *Size    `yaml:"delta4" doc:"space that a purchase brings its buyer, in bytes"`
	Understanding *float64 `yaml:"understanding" doc:"links that promise less are not followed; not in lots"`
	Lifetime      *Span    `yaml:"lifetime" doc:"of a crawler, such as 10m"`
	Interval      *Span    `yaml:"interval" doc:"between two markets, such as 2m"`
	Reserve       string   `yaml:"reserve" doc:"where prices begin: at zero, or at what a URL is worth to its seller" enum:"zero similarity"`
	Space         *Size    `yaml:"space" doc:"of a crawler at first, in bytes of pages"`
	Divide        string   `yaml:"divide" doc:"how seeds are divided among crawlers: in turn, by the topic's words that stand in them, or so that those alike come together" enum:"turn keyword likeness"`
	Speed         *float64 `yaml:"speed" doc:"how much of what a URL is worth goes by how fast its buyer was at the site, from 0 (the default) to 1; not in independent"`
	Turn          *int     `yaml:"turn" doc:"lots: pages of a crawler between two markets" min:"1" max:"1000"`
}

// ReadMarket reads a market as flags have it: a mode and parameters, such as paper,alpha=10,interval=30s.
func ReadMarket(spec string) (m Market, err error) {
	given := map[string]bool{}
	for i, part := range strings.Split(spec, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !ok && i == 0 && name != "":
			name, value = "mode", name
		case !ok || name == "" || value == "":
			return m, fmt.Errorf("%q: want a mode, and parameters as NAME=VALUE, with commas between", spec)
		}
		if given[name] {
			return m, fmt.Errorf("%q: %s is given twice", spec, name)
		}
		given[name] = true
		if err := m.set(name, value); err != nil {
			return m, err
		}
	}
	if key, err := within(reflect.ValueOf(&m).Elem(), ""); err != nil {
		return m, fmt.Errorf("%s: %w", key, err)
	}
	return m, nil
}

// Over returns the market with what it does not say as another one has it. Of another mode nothing is taken: its parameters mean nothing here.
func (m Market) Over(other Market) Market {
	if m.Mode != "" && m.Mode != cmp.Or(other.Mode, string(crawl.MarketLots)) {
		return m
	}
	v, from := reflect.ValueOf(&m).Elem(), reflect.ValueOf(other)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			v.Field(i).Set(from.Field(i))
		}
	}
	return m
}

// String returns what the market says as ReadMarket reads it; empty if it says nothing.
func (m Market) String() string {
	var parts []string
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		parts = append(parts, v.Type().Field(i).Tag.Get("yaml")+"="+written(v.Field(i).Interface()))
	}
	text := strings.Join(parts, ",")
	if m.Mode != "" {
		text = strings.TrimPrefix(text, "mode=")
	}
	return text
}

// written returns a parameter as set takes it.
func written(value any) string {
	switch p := value.(type) {
	case *Size:
		return strconv.FormatInt(int64(*p), 10)
	case *Span:
		return time.Duration(*p).String()
	}
	return fmt.Sprint(reflect.Indirect(reflect.ValueOf(value)))
}

// set sets a parameter, by its name in job files.
func (m *Market) set(name, value string) error {
	v := reflect.ValueOf(m).Elem()
	var names []string
	for i := range v.NumField() {
		if names = append(names, v.Type().Field(i).Tag.Get("yaml")); names[i] != name {
			continue
		}
		want, err := "", error(nil)
		switch p := v.Field(i).Addr().Interface().(type) {
		case *string:
			*p = value
		case **int:
			*p, want = new(int), "a whole number"
			**p, err = strconv.Atoi(value)
		case **float64:
			*p, want = new(float64), "a number"
			**p, err = strconv.ParseFloat(value, 64)
		case **Size:
			*p, want = new(Size), "a number of bytes, with K, M, G or T"
			n, fault := crawl.ParseSize(value)
			**p, err = Size(n), fault
		case **Span:
			*p, want = new(Span), "a span of time such as 90s or 2m"
			err = (*p).set(value)
		}
		if err != nil {
			return fmt.Errorf("%s: %q: want %s", name, value, want)
		}
		return nil
	}
	return fmt.Errorf("%q: there are %s", name, strings.Join(names, ", "))
}

// Made returns the market, nil if there is none to hold.
func (m *Market) Made() (*crawl.Market, error) {
	if *m == (Market{}) {
		return nil, nil
	}
	mode := crawl.MarketMode(m.Mode)
	if mode == "" {
		mode = crawl.MarketLots
	}
	out := crawl.DefaultMarket(mode)
	put(&out.Crawlers, m.Crawlers)
	put(&out.Alpha, m.Alpha)
	put(&out.Turn, m.Turn)
	put(&out.Beta, m.Beta)
	put(&out.Delta1, m.Delta1)
	put(&out.Delta2, m.Delta2)
	put(&out.Understanding, m.Understanding)
	put(&out.Delta4, (*int64)(m.Delta4))
	put(&out.Space, (*int64)(m.Space))
	put(&out.Speed, m.Speed)
	if m.Divide != "turn" {
		out.Divide = crawl.Division(m.Divide)
	}
	out.Similarity = m.Reserve == "similarity"
	put(&out.Delta3, (*time.Duration)(m.Delta3))
	put(&out.Lifetime, (*time.Duration)(m.Lifetime))
	put(&out.Interval, (*time.Duration)(m.Interval))
	switch {
	case mode == crawl.MarketLots && m.Understanding != nil:
		return nil, errors.New("market: understanding: in lots no link is passed by; --tunnel says how far off the topic they lead")
	case mode == crawl.MarketAlone && m.Speed != nil:
		return nil, errors.New("market: speed: where each crawler is for itself nothing is valued")
	case mode != crawl.MarketLots && m.Turn != nil:
		return nil, errors.New("market: turn: it is of the mode lots only")
	}
	if err := out.Check(); err != nil {
		return nil, fmt.Errorf("market: %w", err)
	}
	return &out, nil
}

func put[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
