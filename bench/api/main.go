// Command api has a Prometheus that scrapes a fleet answer what the dashboard for Grafana and the alert rules ask:
//
//	go run ./bench/api -prometheus http://127.0.0.1:9090
//
// It prints how many series each question brings, and fails where one brings none: of panels all must show something while a job runs;
// of rules the metrics that they name must be there. bench/api/run.sh starts all that it needs.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// question is what somebody asks Prometheus.
type question struct{ of, expr string }

func main() {
	at := flag.String("prometheus", "http://127.0.0.1:9090", "where Prometheus is")
	dashboard := flag.String("dashboard", "deploy/monitoring/grafana.json", "the dashboard for Grafana")
	rules := flag.String("rules", "deploy/monitoring/alerts.yaml", "the alert rules")
	patience := flag.Duration("patience", time.Minute, "how long a question may bring nothing: what is projected takes a while")
	flag.Parse()
	if err := answered(*at, *dashboard, *rules, *patience); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func answered(at, dashboard, rules string, patience time.Duration) error {
	panels, err := ofPanels(dashboard)
	if err != nil {
		return err
	}
	named, err := ofRules(rules)
	if err != nil {
		return err
	}
	var bad []error
	end := time.Now().Add(patience)
	for _, q := range slices.Concat(panels, named) {
		n, err := series(at, q.expr)
		for ; err == nil && n == 0 && time.Now().Before(end); n, err = series(at, q.expr) {
			time.Sleep(time.Second)
		}
		if err == nil && n == 0 {
			err = errors.New("it brings nothing")
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %s: %w", q.of, q.expr, err))
		}
		fmt.Printf("%4d  %s\n", n, q.of)
	}
	fmt.Printf("%d questions of panels, %d metrics of rules; %d wrong\n", len(panels), len(named), len(bad))
	return errors.Join(bad...)
}

// ofPanels are the questions of a dashboard's panels, with all coordinators chosen.
func ofPanels(path string) (all []question, err error) {
	type panel struct {
		Title   string
		Targets []struct{ Expr string }
	}
	var d struct{ Panels []panel }
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			all = append(all, question{p.Title, strings.ReplaceAll(t.Expr, "$instance", ".*")})
		}
	}
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no panels", path)
	}
	return all, err
}

// metric is the name of a metric of ours, with what its labels must be.
var metric = regexp.MustCompile(`argosy_[a-z_]+(\{[^}]*\})?`)

// ofRules are the metrics that rules name. A rule brings something only where something is wrong.
func ofRules(path string) (all []question, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		expr, ok := strings.CutPrefix(strings.TrimSpace(line), "expr: ")
		for _, name := range metric.FindAllString(expr, -1) {
			if q := (question{name, name}); ok && !slices.Contains(all, q) {
				all = append(all, q)
			}
		}
	}
	if len(all) == 0 {
		err = fmt.Errorf("%s names no metric", path)
	}
	return all, err
}

// series is how many series answer a question.
func series(at, expr string) (int, error) {
	res, err := http.Get(at + "/api/v1/query?" + url.Values{"query": {expr}}.Encode())
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var v struct {
		Status, Error string
		Data          struct{ Result []any }
	}
	if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
		return 0, err
	}
	if v.Status != "success" {
		return 0, errors.New(v.Error)
	}
	return len(v.Data.Result), nil
}
