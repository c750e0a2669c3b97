#!/usr/bin/env bash
# Walks through the pages of a fleet in Chromium, and has axe look at each, where both are installed; tsc looks for names
# that the sources of the pages do not have. ARGOSY names a binary; one is built
# where it is not given. Arguments go to the walk: -full looks at every page in both sizes, lights and languages.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
  echo "browser: no Chromium here: nobody walks through the pages" >&2
  exit 0
fi
# unresolved has the compiler of TypeScript look whether every name in the sources of the pages is there: the bundler does not.
unresolved() {
  local said
  said=$("$1" --noEmit --allowJs --checkJs --target es2022 --lib es2023,dom,dom.iterable --module esnext --moduleResolution bundler --jsx react --jsxFactory h \
    --resolveJsonModule --skipLibCheck --strict false ../../internal/fleet/dash/src/main.jsx | grep -v /lib/ | grep -E 'TS(2300|2304|2305|2307|2451|2552|2614|2724)' || true)
  [ -z "$said" ] || { echo "$said" >&2; echo "browser: names that the sources of the pages do not have" >&2; exit 1; }
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
axe=()
if command -v npm >/dev/null && cp package.json "$tmp/" && (cd "$tmp" && npm install --silent --no-audit --no-fund --no-package-lock >/dev/null); then
  axe=(-axe "$tmp/node_modules/axe-core/axe.min.js")
  unresolved "$tmp/node_modules/.bin/tsc"
else
  echo "browser: axe and tsc cannot be had: accessibility, and the names in the sources of the pages, are not looked at" >&2
fi
argosy=${ARGOSY:-$tmp/argosy}
[ -n "${ARGOSY:-}" ] || (cd ../.. && ${GO:-go} build -o "$argosy" ./cmd/argosy)
${GO:-go} build -o "$tmp/browser" .
"$tmp/browser" -walk "$argosy" -out "${SHOTS:-$tmp/shots}" -settle 400ms "${axe[@]}" "$@"
