package main

import (
	"fmt"
	"net/http"
	"net/url"
)

// Traps whose answers are not pages: only their headers lead on.

// bodies is a row of answers without end, each of which names the next one in its header, and has nothing to read or what only its
// number tells from the others.
func bodies(kind string) *part {
	var make func(n int) *answer
	switch kind {
	case "empty":
		make = func(int) *answer { return &answer{} }
	case "none":
		make = func(int) *answer { return &answer{status: http.StatusNoContent} }
	case "missing":
		make = func(int) *answer { return &answer{status: http.StatusNotFound} }
	case "text":
		make = func(n int) *answer {
			return &answer{kind: "text/plain", body: fmt.Sprintf("There is nothing here, and nothing at %d.\n", n)}
		}
	case "data":
		make = func(n int) *answer {
			return &answer{kind: "application/json", body: fmt.Sprintf("{\"items\":[],\"offset\":%d}\n", n)}
		}
	case "image":
		make = func(n int) *answer { return &answer{kind: "image/gif", body: fmt.Sprintf("GIF89a %d", n)} }
	case "same":
		make = func(int) *answer { return &answer{kind: "image/gif", body: "GIF89a"} }
	}
	paths := "/" + kind + "/"
	traps := []trap{{name: "bodies", endless: true, mark: paths}}
	return made(paths, []link{{paths + "0", "More", ""}}, nil, traps, func(_ *site, rest string, _ url.Values) *answer {
		var n int
		if !is(rest, "%d", &n) {
			return nil
		}
		a := make(n)
		a.next, a.trap, a.says = fmt.Sprint(paths, n+1), "bodies", kind
		return a
	})
}

// pictures is a gallery of images alone: each names the next one in its header.
func pictures(n int) *part {
	return made("/picture/", []link{{"/picture/0", "Pictures", "picture0"}}, ids("picture", n), nil, func(_ *site, rest string, _ url.Values) *answer {
		var k int
		if !is(rest, "%d", &k) || k >= n {
			return nil
		}
		id := fmt.Sprint("picture", k)
		a := &answer{kind: "image/jpeg", real: id, says: id}
		random := rng(id)
		for range 400 {
			a.body += string(byte(random.IntN(256)))
		}
		if k+1 < n {
			a.next = fmt.Sprint("/picture/", k+1)
		}
		return a
	})
}

// headers returns the webs that are made of them.
func headers() (ws []*web) {
	for _, kind := range []string{"empty", "none", "missing", "text", "data", "image", "same"} {
		ws = append(ws, single("body-"+kind, bodies(kind), library(100)))
	}
	return append(ws, single("pictures", pictures(800)))
}
