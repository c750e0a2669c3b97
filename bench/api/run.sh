#!/usr/bin/env bash
# What tools of others make of a fleet's API: Spectral lints its description, a client that is generated from it runs calls, promtool
# checks metrics and tries the alert rules, and a Prometheus that scrapes a crawl of the demo's sites answers what the dashboard for
# Grafana asks. Spectral and the generator come from npm, Prometheus and promtool are Debian's (package prometheus). ARGOSY names a
# binary; one is built where it is not given. What cannot be had is told, and left out.
set -euo pipefail
cd "$(dirname "$0")"
here=$(pwd)
tmp=$(mktemp -d)
started=()
end() {
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$tmp"
}
trap end EXIT
argosy=${ARGOSY:-$tmp/argosy}
[ -n "${ARGOSY:-}" ] || (cd ../.. && ${GO:-go} build -o "$argosy" ./cmd/argosy)
promtool=$(command -v promtool || true) prometheus=$(command -v prometheus || true)
if [ -z "$promtool" ] && command -v apt-get >/dev/null && (cd "$tmp" && chmod 777 . && apt-get download -qq prometheus && dpkg -x prometheus_*.deb prometheus) >/dev/null 2>&1; then
  promtool=$tmp/prometheus/usr/bin/promtool prometheus=$tmp/prometheus/usr/bin/prometheus
fi
(umask 077 && head -c 24 /dev/urandom | base64 | tr -d '/+=' >"$tmp/token")
TOKEN=$(cat "$tmp/token")
"$argosy" serve -o "$tmp/fleet" --listen 127.0.0.1:0 --bus-listen 127.0.0.1:0 --min-free 0 --socket none --token-file "$tmp/token" --log-level error >"$tmp/said" 2>&1 &
started+=($!)
API=
for _ in $(seq 300); do
  API=$(grep -o 'http://[^/ ]*' "$tmp/said" | head -1 || true)
  [ -n "$API" ] && curl -sf "$API/readyz" >/dev/null && break
  sleep 0.2
done
export API TOKEN
# freePort prints a port that nobody listens at.
freePort() {
  local port
  while port=$((20000 + RANDOM % 10000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}
# panels has a Prometheus that scrapes the fleet while it crawls answer what the dashboard for Grafana asks.
panels() {
  local port
  [ -n "$prometheus" ] || return 0
  "$argosy" demo --web 127.0.0.1:0 >"$tmp/job.yaml" 2>"$tmp/demo" &
  started+=($!)
  "$argosy" agent --join "$API" --token-file "$tmp/token" --store "$tmp/store" --allow-private --resolve '*.demo=127.0.0.1' --prices reserve=0.01,use=0.02,surcharge=0.06 --log-level error >"$tmp/agent" 2>&1 &
  started+=($!)
  port=$(freePort)
  cat >"$tmp/prometheus.yml" <<EOF
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: argosy
    authorization: {credentials_file: $tmp/token}
    static_configs: [{targets: ["${API#http://}"]}]
EOF
  "$prometheus" --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" --web.listen-address="127.0.0.1:$port" >"$tmp/scraped" 2>&1 &
  started+=($!)
  for _ in $(seq 300); do grep -q down.demo "$tmp/job.yaml" && curl -sf "http://127.0.0.1:$port/-/ready" >/dev/null && break; sleep 0.2; done
  sed -i 's/delay: 100ms/delay: 2s/' "$tmp/job.yaml" # it lasts until all is asked
  "$argosy" submit "$tmp/job.yaml" --server "$API" --token-file "$tmp/token"
  (cd ../.. && ${GO:-go} run ./bench/api -prometheus "http://127.0.0.1:$port")
}
ask() { curl -sf -H "Authorization: Bearer $TOKEN" "$API$1"; }

if [ -n "$promtool" ]; then
  ask /metrics | "$promtool" check metrics
  "$promtool" check rules ../../deploy/monitoring/alerts.yaml
  "$promtool" test rules ../../deploy/monitoring/alerts_test.yaml
  echo "promtool: metrics and rules are in order"
else
  echo "api: promtool cannot be had: metrics and rules are not checked" >&2
fi

if ! command -v npm >/dev/null || ! (cp package.json calls.ts "$tmp/" && cd "$tmp" && npm install --silent --no-audit --no-fund --no-package-lock >/dev/null 2>&1); then
  echo "api: Spectral and the generator cannot be had: the description is not read by others" >&2
  panels
  exit 0
fi
ask /api/v1/openapi.json >"$tmp/openapi.json"
cd "$tmp"
node_modules/.bin/spectral lint openapi.json --ruleset "$here/spectral.yaml" --fail-severity warn
node_modules/.bin/openapi-ts -i openapi.json -o client -c @hey-api/client-fetch --silent
node_modules/.bin/tsc --noEmit --strict --target es2022 --module esnext --moduleResolution bundler --skipLibCheck --types node calls.ts
(cd "$here/../.." && ${GO:-go} tool -modfile=tools.mod esbuild "$tmp/calls.ts" --bundle --platform=node --format=esm --target=node20 --outfile="$tmp/calls.mjs" --log-level=warning)
node calls.mjs
cd "$here"
panels
