#!/usr/bin/env bash
# Nodes that keep their archives in S3-compatible storage. Needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the nodes'
# environment; the coordinator writes indexes from its ledger. Whoever reads the archives has the keys, too, and names the store:
#
#   examples/s3.sh serve | agent NAME | verify
set -euo pipefail
endpoint=https://s3.example.com
store="s3://crawls/warc?endpoint=$endpoint&region=eu-1"
case $1 in
serve) exec argosy serve -o coordinator --listen 0.0.0.0:8480 --tls-cert cert.pem --tls-key key.pem --token-file token --allow-store "s3://crawls?endpoint=$endpoint" ;;
agent) exec argosy agent --join https://coordinator.example.com:8480 --ca cert.pem --token-file token --name "$2" --store "$store" ;;
verify) exec argosy verify coordinator --store "$store" ;;
esac
