package main

import (
	"testing"
	"time"
)

// The harvest is that of the last minutes; who fetched nothing meanwhile has none.
func TestHarvest(t *testing.T) {
	var h harvest
	start := time.Unix(1000, 0)
	if s := h.String(); s != "0 on topic" {
		t.Error(s)
	}
	for i := range int64(600) { // a page a second; from the third minute on every second is on the topic
		on := max(0, i-180) / 2
		h.sample(start.Add(time.Duration(i)*time.Second), 1000+i, on)
	}
	if s := h.String(); s != "209 on topic (50 % of late)" {
		t.Error(s)
	}
	h.sample(start.Add(time.Hour), 1599, 209)
	h.sample(start.Add(2*time.Hour), 1599, 209)
	if s := h.String(); s != "209 on topic" {
		t.Error(s)
	}
	if len(h.samples) > 300 {
		t.Errorf("%d samples are kept", len(h.samples))
	}
}
