#!/usr/bin/env bash
# Walks through the pages of a fleet in Chromium, and has axe look at each, where both are installed. ARGOSY names a binary; one is built
# where it is not given. Arguments go to the walk: -full looks at every page in both sizes, lights and languages.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
  echo "browser: no Chromium here: nobody walks through the pages" >&2
  exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
axe=()
if command -v npm >/dev/null && cp package.json "$tmp/" && (cd "$tmp" && npm install --silent --no-audit --no-fund --no-package-lock >/dev/null); then
  axe=(-axe "$tmp/node_modules/axe-core/axe.min.js")
else
  echo "browser: axe cannot be had: accessibility is not looked at" >&2
fi
argosy=${ARGOSY:-$tmp/argosy}
[ -n "${ARGOSY:-}" ] || (cd ../.. && ${GO:-go} build -o "$argosy" ./cmd/argosy)
${GO:-go} build -o "$tmp/browser" .
"$tmp/browser" -walk "$argosy" -out "${SHOTS:-$tmp/shots}" -settle 400ms "${axe[@]}" "$@"
