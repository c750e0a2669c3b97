# What scripts share that fill and serve programs of Debian. To be sourced.

# stopped DIR: ends what was started there: DIR/run has a file with a process id for each.
stopped() {
  local f pid
  for f in "$1"/run/*.pid; do
    [ -f "$f" ] || continue
    pid=$(cat "$f")
    kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true # with its workers, where they are a group
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    rm -f "$f"
  done
}

# needs PACKAGE…: installs what is missing.
needs() {
  local p missing=""
  for p; do dpkg -s "$p" >/dev/null 2>&1 || missing="$missing $p"; done
  [ -n "$missing" ] || return 0
  apt-get update -qq -o DPkg::Lock::Timeout=120 >&2
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=120 --no-install-recommends $missing >/dev/null
}
