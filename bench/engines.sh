#!/usr/bin/env bash
# Search programs that are not ours, as Debian packages them, for the catalogue of engines to be held against: MediaWiki with its
# search page and its API, Omega (xapian-omega) over PostgreSQL's documentation, and searx in front of both.
#
#   bench/engines.sh start [DIR]   installs what is missing (needs root), fills and serves them on 127.0.0.1:8190 to 8192
#   bench/engines.sh stop  [DIR]   ends what was started and leaves the directory
#   go run ./bench/engines -dir DIR   searches each by the catalogue and compares with the program's own index
set -Eeuo pipefail
. "$(dirname "$0")/lib.sh"
cmd=${1:-start}
dir=$(realpath -m "${2:-${TMPDIR:-/tmp}/argosy-engines}")
port=${PORT:-8190}
if [ "$cmd" = stop ]; then
  stopped "$dir"
  exit 0
fi

needs mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl xapian-omega xapian-tools postgresql-doc python3 searx python3-babel
mkdir -p "$dir/run" "$dir/log" "$dir/truth"
trap 'echo "engines: line $LINENO failed; see $dir/log" >&2; bash "$0" stop "$dir"' ERR
bash "$0" stop "$dir"

# serve NAME COMMAND…: runs a server in a group of its own.
serve() {
  local name=$1
  shift
  setsid "$@" >"$dir/log/$name" 2>&1 &
  echo $! >"$dir/run/$name.pid"
}

# wait_for URL: until it answers.
wait_for() {
  for _ in $(seq 150); do
    if python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' "$1" 2>/dev/null; then return 0; fi
    sleep 0.2
  done
  echo "engines: $1 does not answer" >&2
  return 1
}

# The wiki: 400 articles out of the licences that every Debian has, the same each time.
wiki=$dir/wiki
if [ ! -f "$wiki/filled" ]; then
  rm -rf "$wiki"; mkdir -p "$wiki/text" "$wiki/root/wiki"
  ln -s /usr/share/mediawiki "$wiki/root/w"
  echo '<?php chdir("/usr/share/mediawiki"); require "index.php";' >"$wiki/root/wiki/index.php" # of /wiki/TITLE, the address of an article
  cat /usr/share/common-licenses/{Apache-2.0,Artistic,GFDL-1.3,GPL-2,GPL-3,LGPL-2.1,MPL-2.0} | tr -s ' \n\t' '   ' | sed 's/\([.;:]\) /\1\n/g' |
    tr -d '<>[]{}*=|"`_' | awk 'length > 40 && length < 300' >"$wiki/sentences"
  for i in $(seq 400); do
    { awk -v key="$i" 'BEGIN { srand(key) } { s[NR] = $0 } END { for (n = 6; n > 0; n--) print s[1 + int(rand() * NR)] }' "$wiki/sentences"
      [ $((i % 9)) != 0 ] || echo "高钙牛奶 milk & more"; } >"$wiki/text/Article $i.txt"
  done
  php /usr/share/mediawiki/maintenance/install.php --dbtype sqlite --dbpath "$wiki" --dbname wiki --server "http://127.0.0.1:$port" --scriptpath /w \
    --confpath "$wiki" --pass "$(head -c 12 /dev/urandom | base64)" "Engines Wiki" Admin >"$dir/log/install" 2>&1
  export MW_CONFIG_FILE=$wiki/LocalSettings.php
  php /usr/share/mediawiki/maintenance/importTextFiles.php --overwrite "$wiki"/text/*.txt >>"$dir/log/install" 2>&1
  php /usr/share/mediawiki/maintenance/rebuildtextindex.php >>"$dir/log/install" 2>&1
  echo '$wgArticlePath = "/wiki/$1";' >>"$wiki/LocalSettings.php"
  touch "$wiki/filled"
fi
MW_CONFIG_FILE=$wiki/LocalSettings.php PHP_CLI_SERVER_WORKERS=2 serve wiki php -S "127.0.0.1:$port" -t "$wiki/root"

# Omega, a CGI program, over PostgreSQL's documentation.
omega=$dir/omega
docs=$(ls -d /usr/share/doc/postgresql-doc-[0-9]*/html | tail -1)
if [ ! -d "$omega/data/default" ]; then
  rm -rf "$omega"; mkdir -p "$omega/data" "$omega/log" "$omega/cdb" "$omega/www/cgi-bin"
  cp /usr/lib/cgi-bin/omega/omega "$omega/www/cgi-bin/omega"
  printf 'database_dir %s/data\ntemplate_dir /var/lib/xapian-omega/templates\nlog_dir %s/log\ncdb_dir %s/cdb\n' "$omega" "$omega" "$omega" >"$omega/omega.conf"
  omindex --db "$omega/data/default" --url http://docs.engines.test/postgresql/ "$docs" >"$dir/log/omindex" 2>&1
fi
(cd "$omega/www" && OMEGA_CONFIG_FILE=$omega/omega.conf serve omega python3 -m http.server --cgi --bind 127.0.0.1 "$((port + 1))")

# searx, a metasearch program, asks the wiki, and Omega where a search says !o.
python3 - "$port" "$dir/searx.yml" <<'PY'
import sys, yaml
port = int(sys.argv[1])
s = yaml.safe_load(open("/usr/share/doc/searx/examples/settings.yml"))
s["server"].update(port=port + 2, bind_address="127.0.0.1", secret_key="of a test", method="GET")
s["search"].update(formats=["html", "json", "rss"], default_lang="en", ban_time_on_fail=0, max_ban_time_on_fail=0)
s["ui"]["default_theme"] = "simple"
s["outgoing"]["request_timeout"] = 20.0
s["engines"] = [dict(name="wiki", engine="mediawiki", shortcut="w", base_url="http://127.0.0.1:%d/" % port,
                     number_of_results=20, search_type="text", enable_http=True, timeout=20.0, categories="general"),
                dict(name="omega", engine="xpath", shortcut="o", paging=True, page_size=20, first_page_num=0, enable_http=True, timeout=20.0,
                     categories="it", results_xpath="//td[b/a/@href]", url_xpath="b/a/@href", title_xpath="b/a", content_xpath="small[1]",
                     search_url="http://127.0.0.1:%d/cgi-bin/omega?P={query}&DEFAULTOP=and&HITSPERPAGE=20&TOPDOC={pageno}" % (port + 1))]
yaml.safe_dump(s, open(sys.argv[2], "w"), allow_unicode=True)
PY
SEARX_SETTINGS_PATH=$dir/searx.yml serve searx searx-run
wait_for "http://127.0.0.1:$port/w/api.php?action=query&meta=siteinfo&format=json"
wait_for "http://127.0.0.1:$((port + 1))/cgi-bin/omega"
wait_for "http://127.0.0.1:$((port + 2))/"
echo "wiki http://127.0.0.1:$port/w, omega http://127.0.0.1:$((port + 1))/cgi-bin/omega, searx http://127.0.0.1:$((port + 2))"
