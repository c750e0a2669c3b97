#!/usr/bin/env bash
# Crawls the demo's web and reads what it leaves with warcio, a WARC library in another language. ARGOSY names a binary; one
# is built where it is not given.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v npm >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && [ "${CI:-}" = true ]; then
  (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends nodejs npm) >/dev/null 2>&1 || true
fi
if ! command -v npm >/dev/null; then
  echo "readers: no npm here: archives are not read by an independent reader" >&2
  exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp package.json read.mjs "$tmp/"
(cd "$tmp" && npm install --silent --no-audit --no-fund --no-package-lock >/dev/null)
argosy=${ARGOSY:-$tmp/argosy}
[ -n "${ARGOSY:-}" ] || (cd ../.. && ${GO:-go} build -o "$argosy" ./cmd/argosy)
"$argosy" demo -o "$tmp/demo" --quiet
(cd "$tmp" && node read.mjs demo)
