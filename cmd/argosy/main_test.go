package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/verify"
	"argosy/internal/fleet/web"
)

// argosy runs a command line and returns its exit code and what it printed.
func argosy(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	read := func(f **os.File) func() string {
		was := *f
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		*f = w
		out := make(chan string)
		go func() {
			b, _ := io.ReadAll(r)
			out <- string(b)
		}()
		return func() string {
			*f = was
			_ = w.Close()
			return <-out
		}
	}
	so, se := read(&os.Stdout), read(&os.Stderr)
	code = run(context.Background(), args)
	return code, so(), se()
}

// Bad input gets one line that says what, where and what is allowed, and exit code 2.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	seeds := filepath.Join(dir, "seeds.txt")
	if err := os.WriteFile(seeds, []byte("# fine\nhttp://ok.example/\nftp://no.example/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ragged, negative, words := file("ragged", "1 2\n3\n"), file("negative", "1 -2\n3 4\n"), file("words", "1 many\n")
	empty, square := file("empty", ""), file("square", "0 5\n5 0\n")
	unknown := file("unknown.yaml", "seeds: [a.example]\nspeed: 3\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"crawl"}, "no seed"},
		{[]string{"crawl", "ftp://x/"}, `seed "ftp://x/"`},
		{[]string{"crawl", "x.example", "--max-page", "3"}, "did you mean --max-pages?"},
		{[]string{"crwl", "x.example"}, "did you mean crawl?"},
		{[]string{"crawl", "x.example", "-o", seeds}, "-o " + seeds + ": that is a file"},
		{[]string{"crawl", "x.example", "--resolve", "foo"}, "such as www.example.com=192.0.2.1"},
		{[]string{"crawl", "x.example", "--user-agent", " "}, "--user-agent: say who asks"},
		{[]string{"crawl", "x.example", "-o", filepath.Join(dir, "out"), "--explain-log", filepath.Join(dir, "none", "log")}, "no such file or directory"},
		{[]string{"crawl", "--seeds", dir}, dir + " is a directory"},
		{[]string{"crawl", "--seeds", seeds}, seeds + ":3:"},
		{[]string{"crawl", "--seeds", filepath.Join(dir, "none")}, "--seeds"},
		{[]string{"crawl", "x.example", "--scope", "planet"}, "site, host, domain, prefix, any"},
		{[]string{"crawl", "x.example", "--include", "["}, `include: "["`},
		{[]string{"crawl", "x.example", "--max-pages", "-1"}, "--max-pages"},
		{[]string{"crawl", "x.example", "--max-pages", "many"}, "--max-pages"},
		{[]string{"crawl", "x.example", "--max-bytes", "1X"}, "K, M, G or T"},
		{[]string{"crawl", "x.example", "--delay", "-1s"}, "-1s: allowed are 0 and more"},
		{[]string{"crawl", "x.example", "--recycle-after", "20ms"}, "20ms: allowed are 1s and more"},
		{[]string{"crawl", "x.example", "--max-body", "0"}, "--max-body\" flag: 0: allowed are 1K and more"},
		{[]string{"crawl", "x.example", "--resolve", "x"}, "HOST=IP"},
		{[]string{"crawl", "x.example", "--allow-private=10"}, "CIDR"},
		{[]string{"crawl", "x.example", "--bind", "here"}, "--bind"},
		{[]string{"crawl", "x.example", "--proxy", "gopher://x"}, "--proxy"},
		{[]string{"crawl", "x.example", "--header", "nonsense"}, "--header"},
		{[]string{"crawl", "x.example", "--header", "Host: y"}, "ours to set"},
		{[]string{"crawl", "x.example", "--warc-size", "1"}, "64K to 1T"},
		{[]string{"crawl", "x.example", "--warc-size", "big"}, "--warc-size"},
		{[]string{"crawl", "x.example", "--warc-prefix", "../x"}, "--warc-prefix"},
		{[]string{"crawl", "x.example", "--operator", "a\nrobots: ignore"}, "--operator"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--warc-size", "2T"}, "64K to 1T"},
		{[]string{"solve", "assign", filepath.Join(dir, "none")}, "none"},
		{[]string{"solve", "assign", ragged}, ragged + ": line 2: 1 numbers"},
		{[]string{"solve", "assign", words}, `"many" is not a number`},
		{[]string{"solve", "assign", empty}, "no numbers"},
		{[]string{"solve", "assign", words, "--method", "guess"}, "jv, patent"},
		{[]string{"solve", "assign", words, "--format", "guess"}, "matrix, orlib"},
		{[]string{"solve", "assign", words, "--leftover", "wait"}, "--leftover goes with --batch"},
		{[]string{"solve", "assign", words, "--trace"}, "--trace goes with --method patent"},
		{[]string{"solve", "assign", words, "--trace", "--method", "patent", "--batch", "2"}, "--trace does not go with --batch"},
		{[]string{"solve", "market", words}, "not a number"},
		{[]string{"solve", "market", negative, "--places", "1"}, "1 numbers for 2 buyers"},
		{[]string{"solve", "market", negative, "--step", "-1"}, "step -1"},
		{[]string{"solve", "pack", words}, "JSON"},
		{[]string{"solve", "pack", words, "--time", "-1s"}, "--time -1s: want 0"},
		{[]string{"solve", "pack", words, "--time", "1s", "--rule", "tetris"}, "--time goes with --rule portfolio"},
		{[]string{"solve", "flow", empty}, "JSON"},
		{[]string{"solve", "pack", file("huge.json", `{"nodes":[{"capacity":[1e308]}],"tasks":[]}`)}, "huge.json: node 1: 1e+308 is not an amount: allowed are 0 to 1.8e+302"},
		{[]string{"solve", "pack", file("null.json", "null")}, "null.json: JSON, line 1: null: want a value"},
		{[]string{"solve", "flow", file("arc.json", `{"supplies":[1,-1],"arcs":[{"from":0,"to":9,"capacity":1,"cost":1}]}`)}, "arc.json: arc 0: from 0 to 9"},
		{[]string{"coords", ragged}, "line 2"},
		{[]string{"solve", "market", file("buyers", strings.Repeat("1\n", 50_000)), "--epsilon", "1"}, "50000 buyers, and 50001 items and places: want at most 2000000000"},
		{[]string{"coords", square, "--dim", "0"}, "--dim"},
		{[]string{"coords", square, "--given", "0,1", "--landmarks", "2"}, "--given: want the numbers of landmarks, and then no --landmarks"},
		{[]string{"coords", square, "--given", ""}, "--given: want the numbers"},
		{[]string{"coords", square, "--model", "auto", "--dim", "3"}, "--model auto goes without"},
		{[]string{"coords", square, "--landmarks", "9"}, "want 2 to 2"},
		{[]string{"coords", square, "--landmarks", "2", "--model", "auto"}, "none of the 0 measured pairs that are not to landmarks is in the tenth that --model auto chooses by"},
		{[]string{"plan", "--demand", "3", "--reserve", "1", "--use", "1", "--surcharge", "1"}, "surcharge 1"},
		{[]string{"plan", "--reserve", "1", "--use", "1", "--surcharge", "9"}, "--demand or --tasks"},
		{[]string{"plan", "--demand", words, "--reserve", "1", "--use", "1", "--surcharge", "9"}, `"many" is not a count`},
		{[]string{"split", words}, words},
		{[]string{"strategies", "guess"}, "allowed are bandwidth"},
		{[]string{"explain", "x", "--server", "ftp://x"}, "--server"},
		{[]string{"explain", "x", "--all", "--attempt", "2"}, "--attempt"},
		{[]string{"explain", "14", "--job", "3"}, "task 14 says its job"},
		{[]string{"explain", "x", "--log", words}, "line 1: not a decision"},
		{[]string{"probe", "ftp://x/"}, `"ftp://x/"`},
		{[]string{"probe", "http://x/", "--tries", "0"}, "--tries 0"},
		{[]string{"lab", "run", "guess"}, "neither one of argosy lab list nor a file"},
		{[]string{"lab", "run", "papers", "--seeds", "0"}, "--seeds 0"},
		{[]string{"lab", "run", file("wide.yaml", "name: wide\nexperiment: throughput\nthroughput: {capacity: 1e308}\n")}, "line 3: throughput.capacity"},
		{[]string{"lab", "run", "strategies", "--strategies", "guess"}, "allowed are bandwidth"},
		{[]string{"lab", "run", "strategies", "--strategies", "flow,"}, `--strategies "flow,": a name is empty`},
		{[]string{"lab", "run", "strategies", "--strategies", "flow+"}, "after the last comma"},
		{[]string{"lab", "run", "strategies", "--strategies", "hash+group=rack"}, "--strategies: strategy hash,group=rack: no node has the label rack"},
		{[]string{"lab", "replay", dir, "--strategy", "random,,flow"}, `--strategy "random,,flow": a name is empty`},
		{[]string{"lab", "run", "strategies", "--strategies", "flow,probes=2"}, `--strategies: "probes=2" is an option, not a strategy`},
		{[]string{"lab", "replay", dir, "--strategy", "feedback+full=2"}, "load=on"},
		{[]string{"crawl", "x.example", "--strategy", "flow,"}, "after the last comma"},
		{[]string{"crawl", "x.example", "--strategy", "nearest,landmarks=n7+n8"}, "strategy nearest,landmarks=n7+n8: there is no node n7: allowed are node-1"},
		{[]string{"crawl", "x.example", "--strategy", "hash,group=city"}, "strategy hash,group=city: no node has the label city, nor any other"},
		{[]string{"serve", "-o", dir, "--shadow", "flow,"}, "--shadow: strategy flow"},
		{[]string{"submit", "--check", file("comma.yaml", "seeds: [a.example]\nplacing: {strategy: 'flow,'}\n")}, "line 2: placing.strategy flow: \"flow,\" names no option"},
		{[]string{"lab", "run", "strategies", "--only", "guess"}, `--only: kind of worlds "guess": allowed are equal, one-x3`},
		{[]string{"crawl", "x.example", "--strategy", "nearest,top=0"}, "top=0"},
		{[]string{"crawl", "x.example", "--strategy", "guess"}, "roundrobin"},
		{[]string{"crawl", "x.example", "--strategy", "geo"}, "--geoip FILE"},
		{[]string{"crawl", "x.example", "--log-level", "loud"}, "debug, info, warn, error"},
		{[]string{"crawl", "x.example", "--nonsense"}, "--nonsense"},
		{[]string{"verify", "-o", dir}, "not the directory of a crawl"},
		{[]string{"export"}, "-o"},
		{[]string{"drop", "-o", dir}, "at least 1"},
		{[]string{"serve"}, "-o"},
		{[]string{"serve", "-o", dir, "--listen", "here"}, "--listen here"},
		{[]string{"serve", "-o", dir, "--bus-listen", "127.0.0.1:70000"}, "--bus-listen 127.0.0.1:70000"},
		{[]string{"crawl", "ok.example", "-o", filepath.Join(dir, "listens"), "--listen", "127.0.0.1:99999"}, "--listen 127.0.0.1:99999"},
		{[]string{"crawl", "ok.example", "-o", filepath.Join(dir, "trusts"), "--insecure", "--ca", filepath.Join(dir, "nofile.pem")}, "--ca"},
		{[]string{"crawl", "--seeds", file("commented", "# nothing\n"), "-o", filepath.Join(dir, "none.out")}, "commented: no seed"},
		{[]string{"serve", "-o", dir, "--strategy", "guess"}, "allowed are bandwidth"},
		{[]string{"serve", "-o", dir, "--ledger", "mysql://x"}, "postgres://"},
		{[]string{"serve", "-o", dir, "--tls-cert", words, "--tls-key", words}, "--tls-cert"},
		{[]string{"serve", "-o", dir, "--token-file", words}, "16 characters"},
		{[]string{"serve", "-o", dir, "--probe", "some"}, "none, few, all"},
		{[]string{"serve", "-o", dir, "--ping-every", "-1s"}, "--ping-every -1s: want 1s or more, or 0"},
		{[]string{"serve", "-o", dir, "--ping-every", "1ns"}, "--ping-every 1ns: want 1s or more, or 0"},
		{[]string{"serve", "-o", dir, "--checkpoint", "0"}, "--checkpoint 0: want a whole number from 1"},
		{[]string{"jobs", "--token-file", os.DevNull}, "it is empty"},
		{[]string{"agent", "--store", dir}, "--join"},
		{[]string{"agent", "--join", "http://127.0.0.1:1"}, "--store"},
		{[]string{"agent", "--join", "nonsense", "--store", dir}, "http://HOST:PORT"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", "ftp://x"}, "a directory, file:// and s3://"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--name", "a b"}, "letters, digits"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--label", "x"}, "NAME=VALUE"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--label", "a=b", "--label", "a=c"}, `a is "b" already`},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--prices", "use=NaN"}, `--prices: use: "NaN": want 0 to 1e9`},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--prices", "use=1e400"}, `--prices: use: "1e400": want 0 to 1e9`},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--capacity", "cpu=-1"}, `--capacity: cpu: "-1": want 0 to 1e9`},
		{[]string{"agent", "--join", "ftp://127.0.0.1:1", "--store", dir}, `--join: "ftp://127.0.0.1:1"`},
		{[]string{"nodes", "--token-file", file("token.bin", "a\xff\x00")}, "the token: allowed are"},
		{[]string{"nodes", "--token-file", file("token.long", strings.Repeat("a", 5000))}, "the token: allowed are"},
		{[]string{"nodes", "--token-file", file("token.huge", strings.Repeat("a", maxSmall+1))}, "token.huge: it is too large: allowed are 1048576 bytes"},
		{[]string{"nodes", "--token-file", file("token", "a"), "--ca", "/dev/zero"}, "--ca: /dev/zero: it is too large"},
		{[]string{"crawl", "x.example", "-o", dir, "--ca", "/dev/zero"}, "--ca: /dev/zero: it is too large"},
		{[]string{"crawl", "x.example", "-o", dir, "--cookies", "/dev/zero"}, "--cookies: /dev/zero: it is too large"},
		{[]string{"crawl", "x.example", "-o", dir, "--dns", "::::"}, `--dns: "::::" is neither a host nor host:port`},
		{[]string{"crawl", "x.example", "-o", dir, "--dns", "a.example:0"}, "--dns: "},
		{[]string{"crawl", "x.example", "-o", dir, "--dns", "http://a.example"}, "--dns: "},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--label", "city=Par\xe9s"}, "NAME=VALUE in UTF-8"},
		{[]string{"crawl", "x.example", "--config", file("quiet.yaml", "quiet: maybe\n")}, `line 1: quiet: "maybe": want true or false`},
		{[]string{"crawl", "x.example", "--delay", "2000000h"}, "allowed are 0 to 87600h"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--capacity", "disks=1"}, "cpu, memory, bandwidth"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--capacity", "bandwidth=50Mbit"}, "bits a second"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--prices", "use=-1"}, "0 to 1e9"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--echo", ":0"}, "HOST:PORT"},
		{[]string{"agent", "--join", "http://127.0.0.1:1", "--store", dir, "--echo", "127.0.0.1:99999"}, "1 to 65535"},
		{[]string{"submit"}, "job file"},
		{[]string{"submit", "--check", words}, words},
		{[]string{"submit", "--check", unknown}, "line 2"},
		{[]string{"submit", "--check", file("depth.yaml", "seeds: [a.example]\nlimits: {max_depth: -2}\n")}, "line 2: max_depth: -2: allowed are -1 to 60000"},
		{[]string{"submit", "--check", file("need.yaml", "seeds: [a.example]\nplacing:\n  need:\n    cpu: 1e300\n")}, "line 4: placing.need.cpu: the number is out of range; allowed are 0 to 1e+15"},
		{[]string{"submit", "--check", file("place.yaml", "seeds: [a.example]\nplacing: {places: {a.example: {lat: 91, lon: 1}}}\n")}, "line 2: placing.places: lat: the number is out of range; allowed are -90 to 90"},
		{[]string{"submit", "--check", file("filters.yaml", "seeds: [a.example]\ninclude: ["+strings.Repeat("x,", 1001)+"]\n")}, "line 2: include: there are too many; allowed are 0 to 1000"},
		{[]string{"submit", "--check", file("filter.yaml", "seeds: [a.example]\nname: x\nexclude: ['(']\n")}, "line 3: exclude: \"(\""},
		{[]string{"submit", "--check", file("name.yaml", "seeds: [a.example]\nname: "+strings.Repeat("x", 300)+"\n")}, "line 2: name: it is too short, or too long; allowed are 0 to 200 bytes"},
		{[]string{"submit", "--check", file("strategy.yaml", "seeds: [a.example]\nplacing: {strategy: nosuch}\n")}, "line 2: placing.strategy \"nosuch\": allowed are"},
		{[]string{"token", "create", "--role", "join", "--uses", "-1", "--server", "http://127.0.0.1:1"}, "--uses -1: allowed are 1 to 1000"},
		{[]string{"token", "create", "--role", "observer", "--uses", "1", "--server", "http://127.0.0.1:1"}, "--uses: only join tokens are counted"},
		{[]string{"token", "create", "--role", "join", "--expires", "soon", "--server", "http://127.0.0.1:1"}, `--expires: "soon" is not a span; allowed are 1s to 87600h`},
		{[]string{"token", "create", "--role", "nobody", "--server", "http://127.0.0.1:1"}, `--role "nobody": allowed are join, observer and operator`},
		{[]string{"token", "create", "--role", "join", "--label", strings.Repeat("x", 65), "--server", "http://127.0.0.1:1"}, "--label: allowed are at most 64"},
		{[]string{"jobs", "--server", "ftp://x"}, "http://HOST:PORT"},
		{[]string{"pause", "one"}, "its number"},
		{[]string{"tasks"}, "-o"},
		{[]string{"tasks", "-o", dir, "--state", "lost"}, "waiting, crawling, done, manual, dropped"},
		{[]string{"retry"}, "-o"},
		{[]string{"retry", "--lost"}, "-o"},
		{[]string{"retry", "-o", dir, "--set", "{limits: {delay: 2s}}"}, "--delay 2s"},
		{[]string{"retry", "-o", dir, "--lost", "--fleet-dir", dir}, "name the directory of a crawl, or"},
		{[]string{"retry", "1", "--fleet-dir", dir}, "with --lost"},
		{[]string{"retry", "-o", dir, "--store", dir}, "with --lost"},
		{[]string{"keys"}, "-o"},
		{[]string{"frobnicate"}, "frobnicate"},
	} {
		code, out, errs := argosy(t, c.args...)
		if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("argosy %s: exit %d, stdout %q, stderr %q; want exit 2 and one line with %q", strings.Join(c.args, " "), code, out, errs, c.want)
		}
	}
}

// The demo ends well, and its directory answers every other command.
func TestLongDemoAndDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	code, out, errs := apart(t, "demo", "-o", dir, "--json")
	if code != exitDone {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	var sum struct {
		State                                            string
		Sites, Discovered, Fetched, Failed, Excluded     int64
		Pages, Pending, Manual, Requests, Bytes, Seconds float64
		Reasons                                          map[string]int64
		Verify                                           verify.Report
	}
	if err := json.Unmarshal([]byte(out), &sum); err != nil {
		t.Fatal(err)
	}
	if sum.State != "done" || sum.Sites != 12 || !sum.Verify.OK || sum.Discovered != sum.Fetched+sum.Failed+sum.Excluded {
		t.Errorf("%+v", sum)
	}
	for _, r := range []string{"trap-yield", "redirects", "robots", "robots-down", "scope", "decoded-large"} {
		if sum.Reasons[r] == 0 {
			t.Errorf("no URL was refused or failed with reason %s: %v", r, sum.Reasons)
		}
	}
	for _, command := range [][]string{{"verify"}, {"retry", "--lost"}, {"rebuild", "ledger"}} {
		if code, _, errs := apart(t, append(command, dir, "--store", filepath.Join(dir, "nosuch"))...); code != exitUsage || !strings.Contains(errs, "no such directory") {
			t.Errorf("%v with a store that is not there: exit %d, %s", command, code, errs)
		}
	}
	if code, out, _ := apart(t, "verify", "-o", dir); code != 0 || !strings.HasPrefix(out, "clean") {
		t.Errorf("verify: exit %d, %s", code, out)
	}
	code, out, _ = apart(t, "export", "-o", dir)
	if code != 0 || int64(strings.Count(out, "\n")) != sum.Fetched+sum.Failed+countState(out, "excluded") {
		t.Errorf("export: exit %d, %d lines", code, strings.Count(out, "\n"))
	}
	if code, out, _ := apart(t, "tasks", "-o", dir, "--json"); code != 0 || strings.Count(out, "\n") != 12 {
		t.Errorf("tasks: exit %d, %s", code, out)
	}
	var released web.Released
	if code, out, _ := apart(t, "retry", "-o", dir, "--json"); code != 0 || json.Unmarshal([]byte(out), &released) != nil || released.Pending == 0 {
		t.Errorf("retry: exit %d, %s", code, out)
	}
	code, _, errs = apart(t, "crawl", "http://other.example/", "-o", dir, "--quiet")
	if code != exitUsage || !strings.Contains(errs, "belongs to another job") || !strings.Contains(errs, "seeds") {
		t.Errorf("another job: exit %d, %s", code, errs)
	}
	damage(t, dir)
	code, out, _ = apart(t, "verify", "-o", dir, "--json")
	var r verify.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitFailed || r.OK || r.Lost == 0 {
		t.Errorf("verify of a damaged archive: exit %d, %v, %s", code, err, out)
	}
	if _, out, _ := apart(t, "verify", dir); len(r.LostPages) == 0 || len(r.Hurt) == 0 || !strings.Contains(out, "\n  "+strings.Join(r.LostPages, "\n  ")+"\n") ||
		!strings.Contains(out, "\n"+r.Hurt[0].Name+": ") {
		t.Errorf("verify for people does not list what is lost: %s", out)
	}
	if code, out, _ := apart(t, "retry", "-o", dir, "--lost"); code != 0 || !strings.Contains(out, "pending") {
		t.Errorf("retry --lost: exit %d, %s", code, out)
	}
	tasksAgree(t, dir)
}

// tasksAgree compares what tasks count with the rows of their pages.
func tasksAgree(t *testing.T, dir string) {
	t.Helper()
	type sums struct{ Fetched, Pages, Bytes, Duplicates int64 }
	var tasks, pages sums
	_, out, _ := apart(t, "tasks", "-o", dir, "--json")
	for line := range strings.Lines(out) {
		var s sums
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		tasks = sums{tasks.Fetched + s.Fetched, tasks.Pages + s.Pages, tasks.Bytes + s.Bytes, tasks.Duplicates + s.Duplicates}
	}
	_, out, _ = apart(t, "export", "-o", dir)
	for line := range strings.Lines(out) {
		var p ledger.Page
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		pages.Bytes += p.Bytes
		if p.State != "fetched" {
			continue
		}
		pages.Fetched++
		if p.HTML && p.Status == 200 {
			pages.Pages++
		}
		if p.Revisit {
			pages.Duplicates++
		}
	}
	if tasks != pages {
		t.Errorf("the tasks count %+v, their pages are %+v", tasks, pages)
	}
}

func countState(jsonl, state string) (n int64) {
	for l := range strings.Lines(jsonl) {
		if strings.Contains(l, `"state":"`+state+`"`) {
			n++
		}
	}
	return n
}

// damage cuts the largest archive of a crawl in half.
func damage(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	largest, size := "", int64(0)
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.Size() > size {
			largest, size = f, st.Size()
		}
	}
	b, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(largest, bytes.Clone(b[:len(b)/2]), 0o644); err != nil {
		t.Fatal(err)
	}
}

// files returns an empty directory, and what writes files there.
func files(t *testing.T) (dir string, file func(name, text string) (path string)) {
	dir = t.TempDir()
	return dir, func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// The solver commands print what their files hold.
func TestSolvers(t *testing.T) {
	dir, file := files(t)
	shut := file("shut", "1 inf\n5 inf\n")
	costs := file("costs", "60 60 60 20\n40 50 80 70\n40 40 10 30\n80 90 20 90\n")
	five := file("five", "60 60 60 20 9\n40 50 80 70 8\n40 40 10 30 7\n80 90 20 90 6\n")
	market := file("market", "9,5,1\n7,5,2\n4,3,2\n")
	pack := file("pack", `{"nodes":[{"capacity":[10]},{"capacity":[10]},{"capacity":[10]}],"tasks":[[6],[5],[4],[5],[11]]}`)
	flow := file("flow", `{"supplies":[2,0,-2],"arcs":[{"from":0,"to":1,"capacity":1,"cost":1},{"from":1,"to":2,"capacity":5,"cost":1},{"from":0,"to":2,"capacity":1,"cost":5}]}`)
	rtt := file("rtt", "0 10 20 15 12\n10 0 12 9 11\n20 12 0 14 13\n15 9 14 0 8\n12 11 13 8 0\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"solve", "assign", costs, "--json"}, []string{`"total":120,"assignment":[3,0,1,2]`, `"optimal_bound":120`}},
		{[]string{"solve", "assign", costs, "--method", "patent", "--trace"}, []string{`"assignment":[3,0,1,2]`, `"stuck":false`, "z = 20", "covering 2 2 1"}},
		{[]string{"solve", "assign", five, "--batch", "4", "--leftover", "wait"}, []string{`"assignment":[[3],[0],[1],[2]]`, `"left_over":[4]`}},
		{[]string{"solve", "assign", five, "--batch", "4"}, []string{`[2,4]`, `"total":126`}},
		{[]string{"solve", "assign", five, "--batch", "5", "--leftover", "wait"}, []string{`"total":76,"assignment":[[3],[0],[2],[4]]`, `"left_over":[1]`}},
		{[]string{"solve", "assign", five, "--batch", "5"}, []string{`"total":116,"assignment":[[3],[0],[2,1],[4]]`}},
		{[]string{"solve", "assign", shut, "--batch", "2"}, []string{`"total":1,"assignment":[[0],[]]`, `"left_over":[1]`}},
		{[]string{"solve", "assign", file("negative", "1 -2\n3 4\n"), "--json"}, []string{`"total":1,"assignment":[1,0]`, `"optimal_bound":1`}},
		{[]string{"solve", "market", market, "--step", "1", "--trace"}, []string{`"prices":[3,1,0],"assignment":[0,1,2],"rounds":4,"total_valuation":16`, "round 4: prices [3 1 0]"}},
		{[]string{"solve", "market", market, "--places", "2,1,0"}, []string{`"buyers":[0,`, `"total_valuation":16`}},
		{[]string{"solve", "pack", pack}, []string{`"nodes_used":2`, `"lower_bound":2,"gap":0,"optimal":true`, `"too_big":[4]`}},
		{[]string{"solve", "pack", pack, "--rule", "working-first"}, []string{`"placement":[0,1,0,1,-1]`}},
		{[]string{"solve", "flow", flow}, []string{`"total":7,"flow":[1,1,1],"shipped":2,"unshipped":0`}},
		{[]string{"coords", rtt, "--landmarks", "3", "--dim", "2", "--json"}, []string{`"pairs":1`, `"median_error"`}},
		{[]string{"plan", "--demand", "8", "--nodes", "20", "--reserve", "1", "--use", "2", "--surcharge", "5", "--json"}, []string{`"best_reservation":8,"cost":24`}},
		{[]string{"strategies"}, []string{"flow (default)", "nearest", "top=3|1|auto"}},
		{[]string{"split", "../../examples/dairy.yaml"}, []string{"wd=%E5%85%89%E6%98%8E+%E9%AB%98%E9%92%99+%E7%89%9B%E5%A5%B6&ie=utf-8", "%E7%89%9B%E5%A5%B6+site%3Acca.org.cn&ie=utf-8", "%E6%97%A9%E9%A4%90%E5%A5%B6+site%3A315zj.com%2F&pn=0", "%E6%97%A9%E9%A4%90%E5%A5%B6+site%3Ahd315.gov.cn&pn=0", "site%3Aweibo.com+%E9%9B%80%E5%B7%A2%26%E4%B8%AD%E8%80%81%E5%B9%B4%26%E5%A5%B6%E7%B2%89&wbts=1"}},
	} {
		code, out, errs := argosy(t, c.args...)
		if code != 0 {
			t.Errorf("%v: exit code %d: %s", c.args, code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%v: %q is missing in %s%s", c.args, want, out, errs)
			}
		}
	}
	svg := filepath.Join(dir, "plan.svg")
	if code, _, errs := argosy(t, "plan", "--demand", "8", "--reserve", "1", "--use", "2", "--surcharge", "5", "--svg", svg); code != 0 {
		t.Error(errs)
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "surcharge</text>") {
		t.Errorf("the drawing: %v", err)
	}
}

// What serve prints to do next can be done: with the token where one is needed, by names that can be asked.
func TestNext(t *testing.T) {
	for _, c := range []struct{ api, cert, agent, nodes string }{
		{"http://127.0.0.1:8480", "", "--join http://127.0.0.1:8480 --store", "argosy nodes\n"},
		{"http://127.0.0.1:81", "", "--join http://127.0.0.1:81 --store", "argosy nodes --server http://127.0.0.1:81\n"},
		{"https://[::]:81", "c.pem", "--join https://" + defaultNode() + ":81 --ca c.pem --token-file join.token --store", "argosy nodes --server https://localhost:81 --ca c.pem\n"},
		{"http://192.0.2.2:81", "", "--join http://192.0.2.2:81 --token-file join.token --store", "argosy nodes --server http://192.0.2.2:81 --token-file T\n"},
	} {
		if got := next(c.api, c.cert, "T"); !strings.Contains(got, c.agent) || !strings.HasSuffix(got, c.nodes) {
			t.Errorf("%s:\n%s", c.api, got)
		}
	}
}
