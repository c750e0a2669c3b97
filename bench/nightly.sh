#!/usr/bin/env bash
# What is tried for longer than people wait for. Each part says how long it takes on a 2-core VM, shows how it gets on, and ends with
# its result; the next one runs whether or not it passed. The last line names the parts that failed, and the exit code is 1 then.
#
#   bench/nightly.sh              all parts, in this order
#   bench/nightly.sh race fuzz    some of them; make nightly-race is the same as bench/nightly.sh race
#
# Variables: FUZZTIME (30s) a fuzz target, SEEDS (100) sequences of faults in the simulated fleet, KILLS (20) of a crawl, RACE (packages
# under the race detector), ENGINES (directory of the search programs), LOGS (bench/out/nightly, what parts print in full).
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go} FUZZTIME=${FUZZTIME:-30s} SEEDS=${SEEDS:-100} KILLS=${KILLS:-20} ENGINES=${ENGINES:-/tmp/argosy-engines} LOGS=${LOGS:-bench/out/nightly}
# Packages with goroutines or locks, or whose users have them. The others are pure, and arch_test.go holds them to that.
RACE=${RACE:-./cmd/... ./internal/fleet/... ./internal/page/archive ./internal/page/fetch ./internal/plan/lab ./internal/plan/segment ./internal/webs}
all="servers race fuzz seeds fleet kills browser api engines"

# targets prints each fuzz target and its package.
targets() {
  grep -rEo --include=*_test.go '^func Fuzz[A-Za-z0-9_]*' cmd internal bench | sort | while IFS=: read -r file func; do
    echo "${func#func } ./$(dirname "$file")"
  done
}

# seconds prints a duration of Go's (30s, 5m, 1h) in seconds.
seconds() {
  case $1 in
    *h) echo $((${1%h} * 3600)) ;;
    *m) echo $((${1%m} * 60)) ;;
    *) echo "${1%s}" ;;
  esac
}

# about prints what a part is, and how many minutes it takes.
about() {
  case $1 in
    servers) echo 3 "the servers that tests start are built" ;;
    race) echo 30 "tests under the race detector: $RACE" ;;
    fuzz) n=$(targets | wc -l) && echo $((n * ($(seconds "$FUZZTIME") + 10) / 60 + 1)) "$n fuzz targets, $FUZZTIME each" ;;
    seeds) echo 13 "rules that hold for every seed, with many seeds; strategies in ten worlds of each kind; real fleets in larger webs" ;;
    fleet) echo $((SEEDS / 4 + 3)) "$SEEDS sequences of faults in the simulated fleet, half as many in its market; replays of five strategies" ;;
    kills) echo $((KILLS / 10 + 1)) "a crawl is killed $KILLS times" ;;
    browser) echo 10 "every page of the dashboard in Chromium" ;;
    api) echo 3 "the API by a generated client" ;;
    engines) echo 15 "search programs of Debian are filled, asked and collected from (needs root)" ;;
    *) return 1 ;;
  esac
}

# verdicts shows a test's progress: results of packages and of what runs for long, and all that is wrong.
verdicts() { grep --line-buffered -E '^(ok|FAIL|panic:|fatal error:|---)|^    --- |DATA RACE|^fuzz: elapsed.*failed|_test.go:[0-9]+: (seed|[a-z]+ [0-9]+)' || true; }

fuzz() {
  local bad=0
  while read -r target package; do
    echo "fuzz $target of $package"
    "$GO" test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 5s "$package" || bad=1
  done < <(targets)
  return $bad
}

engines() {
  bench/engines.sh start "$ENGINES" || return 1
  "$GO" run ./bench/engines -dir "$ENGINES" && "$GO" run ./bench/collect -dir "$ENGINES" && "$GO" run ./bench/collect -dir "$ENGINES" -kill
  local code=$?
  bench/engines.sh stop "$ENGINES"
  return $code
}

# part runs one part; what it prints goes into its log as a whole.
part() {
  case $1 in
    servers) make servers GO="$GO" ;;
    race) "$GO" test -race -count=1 -run . -timeout 2h $RACE ;;
    fuzz) fuzz ;;
    seeds)
      ARGOSY_NIGHTLY=1 "$GO" test -count=1 -timeout 2h $(grep -rl --include=*_test.go testkit/seeds internal bench | xargs -n1 dirname | sort -u | grep -v -e fleet/assemble -e fleet/simulated | sed 's|^|./|') &&
        ARGOSY_NIGHTLY=1 "$GO" test -count=1 -timeout 1h ./internal/fleet/assemble
      ;;
    fleet) "$GO" test ./internal/fleet/simulated -count=1 -v -run 'Simulated|Replay' -sim.seeds "$SEEDS" -timeout 5h ;;
    kills) ARGOSY_NIGHTLY=1 "$GO" test ./internal/fleet/assemble -count=1 -v -run KilledIt -kills "$KILLS" -timeout 1h ;;
    browser) bench/browser/run.sh -full ;;
    api) bench/api/run.sh ;;
    engines) engines ;;
  esac
}

# shown runs a part, keeps its output and shows what tells how it gets on.
shown() {
  local log=$LOGS/$1.log
  case $1 in
    race | seeds | fleet | kills) part "$1" 2>&1 | tee "$log" | verdicts ;;
    *) part "$1" 2>&1 | tee "$log" ;;
  esac
  return "${PIPESTATUS[0]}"
}

parts=${*:-$all}
total=0
for p in $parts; do
  line=$(about "$p") || { echo "nightly: there is no part $p; there are: $all" >&2; exit 2; }
  total=$((total + ${line%% *}))
done
mkdir -p "$LOGS"
echo "nightly: $parts, about $total minutes on a 2-core VM; in full in $LOGS"
failed="" results=""
for p in $parts; do
  line=$(about "$p")
  echo "== $p: ${line#* }, about ${line%% *} min"
  begin=$SECONDS
  if shown "$p"; then result=passed; else
    result=FAILED failed="$failed $p"
    grep -E '^ *--- FAIL|^FAIL|^panic:|DATA RACE' "$LOGS/$p.log" | sort | uniq -c | head -40
  fi
  line=$(printf '%-8s %-6s %4d min %02d s' "$p" $result $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)))
  echo "== $line"
  results="$results$line"$'\n'
done
printf '\n%s' "$results"
if [ -n "$failed" ]; then
  echo "nightly: failed:$failed; see $LOGS"
  exit 1
fi
echo "nightly: all passed"
