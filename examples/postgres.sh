#!/usr/bin/env bash
# A coordinator whose ledger is a PostgreSQL database, so that pages can be queried while they are crawled, by many.
#
#   createdb argosy; examples/postgres.sh
#   psql argosy -c 'SELECT status, count(*) FROM pages GROUP BY status'       (docs/ledger.md has ten queries)
set -euo pipefail
exec argosy serve -o coordinator --ledger 'postgres://argosy:secret@127.0.0.1/argosy' --listen 127.0.0.1:8480
