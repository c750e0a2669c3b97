package webs

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"strings"
)

// Spammers are the kinds of sites without end that AddSpam knows, and what their pages are like; all name each other by the topic's words.
var Spammers = [][2]string{
	{"words", "the topic's words again and again"},
	{"lists", "words of the topic's field in lists, with others between"},
	{"claims", "title, heading and anchors name the topic, the text says nothing of it"},
	{"frame", "the same text on each, but for a sentence about the topic"},
	{"copies", "sentences of pages on the topic"},
	{"hosts", "copies, on 200 hosts of a domain"},
	{"domains", "copies, on 200 domains"},
	{"seed", "sentences that are half of pages on the topic, on a seed's site"},
	{"seeds", "such sentences on 200 domains, one of them a seed's"},
}

// SeedSpam reports whether a kind of spam is not found by links, but given as a seed.
func SeedSpam(kind string) bool { return strings.HasPrefix(kind, "seed") }

// spamHosts is how many hosts or domains of a kind there are.
const spamHosts = 200

// AddSpam adds a site without end to the web, of a kind of Spammers, or hosts or domains of such, and returns its name. A twentieth of the web's own
// pages, and the front pages, have a link to it, unless it is a seed.
func (t *Topical) AddSpam(kind string) (host string) {
	hosts := []string{kind + ".spam.test"}
	for i := 1; i < spamHosts; i++ {
		switch kind {
		case "hosts":
			hosts = append(hosts, fmt.Sprintf("h%d.spam.test", i))
		case "domains", "seeds":
			hosts = append(hosts, fmt.Sprintf("spam%d.test", i))
		}
	}
	for host, h := range t.Sites {
		t.Sites[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(rw, r)
			if _, port, _ := strings.Cut(r.Host, ":"); !SeedSpam(kind) && (r.URL.Path == "/" || crc32.ChecksumIEEE([]byte(r.Host+r.URL.Path))%20 == 0) {
				fmt.Fprintf(rw, "<p><a href=\"http://%s:%s/\">%s</a></p>\n", hosts[0], port, TopicalWords)
			}
		})
	}
	for _, host := range hosts {
		t.Sites[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(rw, r)
				return
			}
			_, port, _ := strings.Cut(r.Host, ":")
			rng := rand.New(rand.NewPCG(t.cfg.Seed, uint64(crc32.ChecksumIEEE([]byte(host+r.URL.Path)))))
			var b strings.Builder
			for part := range 12 {
				to := fmt.Sprintf("http://%s:%s/q%d", hosts[rng.IntN(len(hosts))], port, rng.IntN(1e6))
				fmt.Fprintf(&b, "<p>%s <a href=\"%s\">%s</a></p>\n", t.spamText(kind, part, port, rng), to, TopicalWords)
			}
			page(rw, TopicalWords+" "+r.URL.Path, b.String())
		})
	}
	return hosts[0]
}

// spamText is a part of the text of such a page.
func (t *Topical) spamText(kind string, part int, port string, rng *rand.Rand) string {
	others := func(rng *rand.Rand, n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "word%d ", rng.IntN(600))
		}
		return b.String()
	}
	switch kind {
	case "words":
		return strings.Repeat(TopicalWords+" ", 60)
	case "lists":
		var b strings.Builder
		for range 12 {
			fmt.Fprintf(&b, "%s, %s, ", topicalOwn[rng.IntN(len(topicalOwn))], others(rng, 1))
		}
		return b.String()
	case "claims":
		return others(rng, 15)
	case "frame":
		same := rand.New(rand.NewPCG(5, uint64(part)))
		text := others(same, 12) + topicalOwn[same.IntN(len(topicalOwn))] + " " + others(same, 12)
		if part == 3 {
			text += "enzyme " + others(rng, 6) + "kinetics " + others(rng, 3)
		}
		return text
	}
	text := ""
	for text == "" { // a sentence of a page on the topic
		_, body := t.page(t.among[rng.IntN(len(t.among))], port)
		if parts := strings.Split(body, "<p>")[1:]; len(parts) > 0 {
			text, _, _ = strings.Cut(parts[rng.IntN(len(parts))], "<a ")
		}
	}
	if SeedSpam(kind) {
		words := strings.Fields(text)
		for i := range words {
			if rng.IntN(2) == 0 {
				words[i] = strings.TrimSpace(others(rng, 1))
			}
		}
		text = strings.Join(words, " ")
	}
	return text
}
