package main

import (
	"fmt"
	"time"
)

// harvestSpan is how far back the harvest of a crawl's last minutes reaches.
const harvestSpan = 3 * time.Minute

// harvest is how many of the pages of the last minutes were on the topic.
type harvest struct {
	samples []harvestSample // oldest first
}

type harvestSample struct {
	at              time.Time
	pages, relevant int64
}

// sample takes in counts.
func (h *harvest) sample(now time.Time, pages, relevant int64) {
	if n := len(h.samples); n > 0 && now.Sub(h.samples[n-1].at) < time.Second {
		h.samples[n-1].pages, h.samples[n-1].relevant = pages, relevant
		return
	}
	h.samples = append(h.samples, harvestSample{now, pages, relevant})
	for len(h.samples) > 2 && now.Sub(h.samples[1].at) >= harvestSpan {
		h.samples = h.samples[1:]
	}
}

// String says how many pages are on the topic, and which share of the last ones.
func (h *harvest) String() string {
	if len(h.samples) == 0 {
		return "0 on topic"
	}
	first, last := h.samples[0], h.samples[len(h.samples)-1]
	text := count(last.relevant) + " on topic"
	if n := last.pages - first.pages; n > 0 {
		text += fmt.Sprintf(" (%.0f %% of late)", 100*float64(last.relevant-first.relevant)/float64(n))
	}
	return text
}
