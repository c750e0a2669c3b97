#!/bin/sh
# Builds argosy 0.1.0, which today's agents and coordinators are tried with, from the commit that kept a directory of it for later
# versions. Without history it does nothing.
set -e
cd "$(dirname "$0")"
commit=$(git log --diff-filter=A --format=%H -- :/internal/fleet/assemble/testdata/argosy-0.1.0.tar.gz 2>/dev/null | tail -1)
[ -n "$commit" ] || { echo "no history of 0.1.0: its test is skipped"; exit 0; }
[ ! -x bin/argosy-0.1.0 ] || exit 0
out=$PWD/bin/argosy-0.1.0
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git -C "$(git rev-parse --show-toplevel)" archive "$commit" | tar -x -C "$tree"
cd "$tree"
"${1:-go}" build -o "$out" ./cmd/argosy
