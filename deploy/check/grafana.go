package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// gridWidth is how many columns Grafana's grid of panels has.
const gridWidth = 24

// grafana decodes the dashboard strictly by Grafana's own schema, the options of its panels and the queries of Prometheus included, and
// looks at what that does not: panels that have one number, or that stand on each other.
func grafana() (int, error) {
	b, err := os.ReadFile("../monitoring/grafana.json")
	if err != nil {
		return 0, err
	}
	known := cog.NewRuntime()
	known.RegisterPanelcfgVariant(timeseries.VariantConfig())
	known.RegisterPanelcfgVariant(stat.VariantConfig())
	known.RegisterDataqueryVariant(prometheus.VariantConfig())
	var d, strictly dashboard.Dashboard
	var wrong cog.BuildErrors
	if err := strictly.UnmarshalJSONStrict(b); !errors.As(err, &wrong) || len(wrong) > 0 { // where nothing is wrong it returns an empty list
		return 0, fmt.Errorf("grafana.json: %w", err)
	}
	if err := json.Unmarshal(b, &d); err != nil { // what is decoded strictly lacks the panels
		return 0, fmt.Errorf("grafana.json: %w", err)
	}
	if err := d.Validate(); err != nil {
		return 0, fmt.Errorf("grafana.json: %w", err)
	}
	ids, places, asks := map[uint32]bool{}, map[[2]uint32]string{}, 0
	var found []error
	panel := func(id *uint32, title *string, at *dashboard.GridPos) {
		if id == nil || title == nil || at == nil {
			found = append(found, errors.New("grafana.json: a panel lacks its id, title or place"))
			return
		}
		if ids[*id] || at.X+at.W > gridWidth {
			found = append(found, fmt.Errorf("grafana.json: %s: number %d is taken, or it is wider than the grid", *title, *id))
		}
		ids[*id] = true
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, taken := places[[2]uint32{x, y}]; taken {
					found = append(found, fmt.Errorf("grafana.json: %s stands on %s", *title, other))
					return
				}
				places[[2]uint32{x, y}] = *title
			}
		}
	}
	for _, p := range d.Panels {
		switch {
		case p.RowPanel != nil:
			panel(&p.RowPanel.Id, p.RowPanel.Title, p.RowPanel.GridPos)
		case p.Panel != nil:
			panel(p.Panel.Id, p.Panel.Title, p.Panel.GridPos)
			if f := p.Panel.FieldConfig; f == nil || f.Defaults.Unit == nil || p.Panel.Type != "timeseries" && p.Panel.Type != "stat" {
				found = append(found, fmt.Errorf("grafana.json: panel %d has no unit, or is a %s", *p.Panel.Id, p.Panel.Type))
			}
			for _, t := range p.Panel.Targets {
				if q, ok := t.(*prometheus.Dataquery); !ok || q.Expr == "" {
					found = append(found, fmt.Errorf("grafana.json: panel %d asks Prometheus for nothing", *p.Panel.Id))
				}
				asks++
			}
		}
	}
	if asks < 20 {
		found = append(found, fmt.Errorf("grafana.json: %d questions were found", asks))
	}
	return 1, errors.Join(found...)
}
