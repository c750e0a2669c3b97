#!/usr/bin/env bash
# Kills a crawl of the documentation web (bench/docweb.sh) with SIGKILL at random moments, starts it again each time, and
# compares what it ends with: an independent search reaches the same URLs, verify is clean, nothing waits for a person.
#
#   bench/kill.sh [SEEDS [KILLS]]      SEEDS defaults to what docweb.sh wrote, KILLS to 20
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-${TMPDIR:-/tmp}/argosy-docweb/seeds.txt}
kills=${2:-20}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/argosy" ./cmd/argosy
go build -o "$tmp/complete" ./bench/complete
crawl=("$tmp/argosy" crawl --seeds "$seeds" --resolve '*.docs.test=127.0.0.1' --allow-private --delay 0 --per-ip 0 --json -o "$tmp/out")
RANDOM=7
done=0
for i in $(seq "$kills"); do
  "${crawl[@]}" >"$tmp/summary" 2>"$tmp/errors" &
  pid=$!
  (sleep "$((RANDOM % 3)).$((RANDOM % 10))3"; kill -9 $pid 2>/dev/null) &
  killer=$!
  if wait $pid 2>/dev/null; then done=$((i - 1)); wait $killer 2>/dev/null || true; break; fi
  wait $killer 2>/dev/null || true
  done=$i
done
echo "killed $done times"
"${crawl[@]}"
"$tmp/argosy" verify -o "$tmp/out"
echo "manual: $("$tmp/argosy" tasks -o "$tmp/out" --state manual --json | wc -l)"
"$tmp/complete" -seeds "$seeds" -addr "127.0.0.1:${PORT:-8088}" -dir "$tmp/out"
