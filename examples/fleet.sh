#!/usr/bin/env bash
# A fleet on one machine: a coordinator, two nodes that store in their own directories, and a job.
#
#   examples/fleet.sh [DIR [JOB.yaml [FLAGS OF THE NODES…]]]
#
# With several machines, S3 and PostgreSQL the flags are those that stand behind the #; docs/fleet.md says more.
set -euo pipefail
dir=${1:-fleet}
job=${2:-$(dirname "$0")/job.yaml}
shift $(($# < 2 ? $# : 2))
argosy serve -o "$dir" &    # --listen 0.0.0.0:8480 --tls-cert … --tls-key … --token-file …  --ledger postgres://user@host/argosy
serve=$!
trap 'kill $serve $nodes 2>/dev/null; wait' EXIT
nodes=""
until argosy jobs >/dev/null 2>&1; do sleep 0.2; done
for n in a b; do
  argosy agent --join http://127.0.0.1:8480 --name "$n" --store "$dir-$n" "$@" &    # --store 's3://bucket/prefix?endpoint=https://…&region=…'
  nodes="$nodes $!"
done
argosy submit "$job" --wait
argosy nodes
