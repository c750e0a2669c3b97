package main

import (
	"strconv"
	"strings"
	"testing"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// Places are a reason why the cheapest did not get a task only where they were scarce, or had a price. Probes are not taken for figures that
// are held.
func TestExplainsWhatIsKnown(t *testing.T) {
	d := schedule.Decision{
		Node: "b", Solver: "random among the 3 nearest", Measured: &schedule.Measured{}, Known: []schedule.Known{{Node: "a", Heard: predict.Heard{Delays: 1, Requests: 1}}, {Node: "c"}},
		Passed: &schedule.Passed{Node: "a", Places: 4096, Taken: 6, By: []string{"other.test"}},
	}
	said := func() string {
		var out strings.Builder
		if err := printDecision(&out, &d); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := said()
	for _, want := range []string{"a costs least and did not get it: it has room, and solver random among the 3 nearest chose b\n", "  c has tried the site, and measured nothing\n", "0 of delay", "1 delay remembered, 1 request\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, scarce := range []schedule.Passed{{Node: "a", Places: 6, Taken: 6}, {Node: "a", Places: 9, Taken: 6, Place: 0.5}} {
		d.Passed = &scarce
		scarce.Held, scarce.By = []string{"old.test"}, []string{"new.test"}
		if text := said(); !strings.Contains(text, "did not get it: 6 of its ") || !strings.Contains(text, "are taken, before by old.test, now by new.test") {
			t.Error(text)
		}
	}
}

// Of a file that is being written the last line may have no end; any other that is not a decision is named.
func TestDecisionsOfAFileInTheMaking(t *testing.T) {
	whole := `{"task":3,"site":"a.test","strategy":"flow","node":"n1"}` + "\n" + `{"task":4,"site":"b.test","strategy":"flow","node":"n2"}` + "\n"
	for text, want := range map[string]string{
		whole:                               "1",
		whole + `{"task":3,"site":"a.te`:    "1",
		whole + `{"task":3,"strategy":"s"}`: "2",
		`{"task":3,"strategy":"s"}`:         "1",
		`{"task":3}`:                        "line 1: not a decision: it names no task or no strategy",
		"":                                  "0",
		"sites.txt":                         "line 1: not a decision",
		whole + "{}\n":                      "line 3: not a decision: it names no task",
		"null\n":                            "line 1: not a decision: it names no task",
		`{"task":3,"si` + "\n" + whole:      "line 1: not a decision",
		whole[:30] + whole[40:] + "\n{}\n":  "line 1: not a decision",
	} {
		ds, err := decisions(strings.NewReader(text), "3")
		if got := strconv.Itoa(len(ds)); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d decisions, %v, want %s", text, len(ds), err, want)
		}
	}
}

// What is said of a task goes by what it is by now.
func TestExplainsWhatATaskIsByNow(t *testing.T) {
	task := func(state string, fetched int64, holder *coordinator.LeaseView) *coordinator.TaskView {
		v := &coordinator.TaskView{Holder: holder}
		v.State, v.Fetched = state, fetched
		return v
	}
	for _, c := range []struct {
		v    *coordinator.TaskView
		want string
	}{
		{task("waiting", 0, &coordinator.LeaseView{Task: 9, Job: 2}), "nothing is decided about it yet: its site is asked for task 9 of job 2"},
		{task("waiting", 0, nil), "no plan has looked at it"},
		{task("waiting", 5, nil), "no decision about it is remembered"},
		{task("dropped", 0, nil), "the task is dropped by now"},
		{task("manual", 3, nil), "waiting for a person by now"},
	} {
		if got := undecided(c.v); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for state, want := range map[string]string{"waiting": "", "crawling": "", "dropped": "  by now the task is dropped\n", "done": "  by now the task is done\n"} {
		var out strings.Builder
		if printSince(&out, task(state, 1, nil)); out.String() != want {
			t.Errorf("%s: %q", state, out.String())
		}
	}
}

// How unsure a prediction is stands beside it as a factor, since its logarithm is what is normally distributed; of a share as a
// difference; where nobody knows, nothing is said.
func TestHowUnsureAPredictionIs(t *testing.T) {
	got := parts([]schedule.Part{
		{Name: "speed", Unit: "Mbit/s", Value: 2, Sigma: 1.5, Source: "predicted"}, {Name: "success", Unit: "share", Value: 0.5, Sigma: 0.1, Source: "predicted"},
		{Name: "need CPU", Unit: "cores", Value: 0.25, Source: "predicted"}, {Name: "delay", Unit: "ms", Value: 7, Sigma: 0.2, Source: "measured"},
	})
	if want := "speed 2 Mbit/s (predicted, within a factor 4.48), success 0.5 share (predicted ± 0.1), need CPU 0.25 cores (predicted), delay 7 ms (measured)"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Figures are written as people write them, and what is as good as nothing as 0.
func TestFiguresHaveNoExponent(t *testing.T) {
	got := parts([]schedule.Part{
		{Name: "learning", Unit: "Mbit/s", Value: 3.583e-15, Source: "predicted"}, {Name: "distance", Unit: "km", Value: 12345.6, Source: "stated"},
		{Name: "speed", Unit: "Mbit/s", Value: 0.000012345, Source: "measured"}, {Name: "load", Unit: "share", Value: 1.0 / 3, Source: "stated"},
	})
	if want := "learning 0 Mbit/s (predicted), distance 12350 km (stated), speed 0.00001234 Mbit/s (measured), load 0.3333 share (stated)"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
