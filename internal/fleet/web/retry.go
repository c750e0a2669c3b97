package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Release has tasks tried again: those that it names, all of a job if it names none.
type Release struct {
	NamedTasks
	Lost [][]byte `json:"lost,omitempty" doc:"keys of pages whose records are gone"`
	Cut  bool     `json:"cut,omitempty" doc:"instead, URLs that wait because those like them brought nothing new"`

	Gone map[string][]int64 `json:"gone,omitempty" doc:"records that are gone, by file where they stood: with lost, they are not named any more, and other answers of those pages are; without it, all answers of lost pages are not"`

	Status string   `json:"status,omitempty" maxLength:"200" doc:"instead, pages that were answered with these statuses, such as 5xx,429"`
	_      struct{} `json:"-" additionalProperties:"false"`
}

// words says what is asked for.
func (r *Release) words(job uint32) string {
	what := r.NamedTasks.words("retry", job)
	if n := len(r.Lost); n > 0 {
		what += fmt.Sprintf(", %d lost pages", n)
	}
	if n := len(r.Gone); n > 0 {
		what += fmt.Sprintf(", records of %d files that are gone", n)
	}
	if r.Cut {
		what += ", what was cut"
	}
	if r.Status != "" {
		what += ", what was answered with " + r.Status
	}
	return what
}

// StatusesOf returns the statuses that a list names, such as 5xx,429, each once and in order.
func StatusesOf(list string) (out []int, err error) {
	for _, s := range strings.Split(list, ",") {
		s = strings.ToLower(strings.TrimSpace(s))
		n, err := strconv.Atoi(strings.Replace(s, "xx", "00", 1))
		if err != nil || len(s) != 3 || n < 100 || n > 599 {
			return nil, fmt.Errorf("%q: want statuses from 100 to 599, or 4xx, 5xx, with commas between them", list)
		}
		out = append(out, n)
		for more := n + 1; strings.HasSuffix(s, "xx") && more < n+100; more++ {
			out = append(out, more)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
