#!/usr/bin/env bash
# Nodes that keep their archives in S3-compatible storage. Needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the nodes'
# environment; the coordinator writes indexes and reads archives (argosy report, verify) with its own.
#
#   examples/s3.sh serve | agent NAME
set -euo pipefail
store='s3://crawls/warc?endpoint=https://s3.example.com&region=eu-1'
case $1 in
serve) exec argosy serve -o coordinator --listen 0.0.0.0:8480 --tls-cert cert.pem --tls-key key.pem --token-file token ;;
agent) exec argosy agent --join https://coordinator.example.com:8480 --ca cert.pem --token-file token --name "$2" --store "$store" ;;
esac
