#!/usr/bin/env bash
# Kills a crawl of the documentation web (bench/docweb.sh) with SIGKILL at random moments, starts it again each time, and
# compares what it ends with: an independent search reaches the same URLs, verify is clean, nothing waits for a person.
#
#   bench/kill.sh [SEEDS [KILLS]]      SEEDS defaults to what docweb.sh wrote, KILLS to 20
#
# It is killed after at most SPAN seconds each time (3; a web that is had sooner wants less). ARGOSY and COMPLETE name binaries that
# are there already. It ends with 1 when anything differs.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-${TMPDIR:-/tmp}/argosy-docweb/seeds.txt}
kills=${2:-20}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
argosy=${ARGOSY:-$tmp/argosy} complete=${COMPLETE:-$tmp/complete}
[ -n "${ARGOSY:-}" ] || CGO_ENABLED=0 go build -o "$argosy" ./cmd/argosy
[ -n "${COMPLETE:-}" ] || go build -o "$complete" ./bench/complete
crawl=("$argosy" crawl --seeds "$seeds" --resolve '*.docs.test=127.0.0.1' --allow-private --delay 0 --per-ip 0 --json -o "$tmp/out")
RANDOM=7
done=0
for i in $(seq "$kills"); do
  code=0
  ms=$((1 + RANDOM * ${SPAN:-3} * 1000 / 32768))
  { timeout --foreground -s KILL "$((ms / 1000)).$(printf %03d $((ms % 1000)))" "${crawl[@]}" >"$tmp/summary" 2>"$tmp/errors" || code=$?; } 2>/dev/null
  [ "$code" -eq 137 ] || { [ "$code" -eq 0 ] && break; cat "$tmp/errors" >&2; exit "$code"; }
  done=$i
done
echo "killed $done times"
"${crawl[@]}"
"$argosy" verify "$tmp/out"
manual=$("$argosy" tasks "$tmp/out" --state manual --json | wc -l)
echo "manual: $manual"
"$complete" -seeds "$seeds" -addr "127.0.0.1:${PORT:-8088}" -dir "$tmp/out"
[ "$manual" -eq 0 ]
