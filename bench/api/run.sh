#!/usr/bin/env bash
# What tools of others make of a fleet's API: Spectral lints its description, a client that is generated from it runs calls, and promtool
# checks metrics and alert rules. Spectral and the generator come from npm, promtool is Debian's (package prometheus). ARGOSY names a
# binary; one is built where it is not given. What cannot be had is told, and left out.
set -euo pipefail
cd "$(dirname "$0")"
here=$(pwd)
tmp=$(mktemp -d)
served=
end() {
  [ -z "$served" ] || kill "$served" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$tmp"
}
trap end EXIT
argosy=${ARGOSY:-$tmp/argosy}
[ -n "${ARGOSY:-}" ] || (cd ../.. && ${GO:-go} build -o "$argosy" ./cmd/argosy)
promtool=$(command -v promtool || true)
if [ -z "$promtool" ] && command -v apt-get >/dev/null && (cd "$tmp" && chmod 777 . && apt-get download -qq prometheus && dpkg -x prometheus_*.deb prometheus) >/dev/null 2>&1; then
  promtool=$tmp/prometheus/usr/bin/promtool
fi
(umask 077 && head -c 24 /dev/urandom | base64 | tr -d '/+=' >"$tmp/token")
TOKEN=$(cat "$tmp/token")
"$argosy" serve -o "$tmp/fleet" --listen 127.0.0.1:0 --bus-listen 127.0.0.1:0 --min-free 0 --socket none --token-file "$tmp/token" --log-level error >"$tmp/said" 2>&1 &
served=$!
API=
for _ in $(seq 300); do
  API=$(grep -o 'http://[^/ ]*' "$tmp/said" | head -1 || true)
  [ -n "$API" ] && curl -sf "$API/readyz" >/dev/null && break
  sleep 0.2
done
export API TOKEN
ask() { curl -sf -H "Authorization: Bearer $TOKEN" "$API$1"; }

if [ -n "$promtool" ]; then
  ask /metrics | "$promtool" check metrics
  "$promtool" check rules ../../deploy/monitoring/alerts.yaml
  echo "promtool: metrics and rules are in order"
else
  echo "api: promtool cannot be had: metrics and rules are not checked" >&2
fi

if ! command -v npm >/dev/null || ! (cp package.json calls.ts "$tmp/" && cd "$tmp" && npm install --silent --no-audit --no-fund --no-package-lock >/dev/null 2>&1); then
  echo "api: Spectral and the generator cannot be had: the description is not read by others" >&2
  exit 0
fi
ask /api/v1/openapi.json >"$tmp/openapi.json"
cd "$tmp"
node_modules/.bin/spectral lint openapi.json --ruleset "$here/spectral.yaml" --fail-severity warn
node_modules/.bin/openapi-ts -i openapi.json -o client -c @hey-api/client-fetch --silent
node_modules/.bin/tsc --noEmit --strict --target es2022 --module esnext --moduleResolution bundler --skipLibCheck --types node calls.ts
(cd "$here/../.." && ${GO:-go} tool -modfile=tools.mod esbuild "$tmp/calls.ts" --bundle --platform=node --format=esm --target=node20 --outfile="$tmp/calls.mjs" --log-level=warning)
node calls.mjs
