#!/usr/bin/env bash
# Real applications, as Debian packages them and without any filter, for a crawler to find its way through: MediaWiki,
# DokuWiki, cgit, gitweb, Fossil (tickets, wiki, check-ins), Mercurial's hgweb, and a listing of Apache with links that sort it. So is Roundup
# where it can be had, which Debian 12 does not have: its commands are looked for, or ROUNDUP names a directory with its source.
#
#   bench/apps.sh start [DIR]   installs what is missing (needs root), fills and serves them on 127.0.0.1:8090 and 8091
#   bench/apps.sh stop  [DIR]   ends what was started and leaves the directory
#   go run ./bench/apps -argosy ./argosy -dir DIR [-app NAME]   crawls each and judges
#
# DIR/truth/NAME.txt holds, by the application's own database, the pages that a visitor would call content, one a line,
# with a tab between URLs of which one is enough; its first line has the seed and flags for the crawl.
set -Eeuo pipefail
. "$(dirname "$0")/lib.sh"
cmd=${1:-start}
dir=$(realpath -m "${2:-${TMPDIR:-/tmp}/argosy-apps}")
port=${PORT:-8090}
if [ "$cmd" = stop ]; then
  stopped "$dir"
  exit 0
fi

needs nginx-light mediawiki dokuwiki cgit gitweb fossil mercurial git apache2 php-fpm php-cli php-sqlite3 php-mbstring php-xml php-intl fcgiwrap sqlite3
fpm=$(ls /usr/sbin/php-fpm[0-9]* | tail -1)
rm -rf "$dir/truth"
mkdir -p "$dir/run" "$dir/truth" "$dir/tmp" "$dir/log"
chmod 755 "$dir"

# words KEY N: N sentences out of the licences that every Debian has, the same for the same key.
sentences=$dir/sentences
cat /usr/share/common-licenses/{Apache-2.0,Artistic,GFDL-1.3,GPL-2,GPL-3,LGPL-2.1,MPL-2.0} | tr -s ' \n\t' '   ' | sed 's/\([.;:]\) /\1\n/g' |
  tr -d '<>[]{}*=|"`_' | awk 'length > 40 && length < 300' >"$sentences"
words() {
  awk -v key="$1" -v n="$2" 'BEGIN { srand(key) } { s[NR] = $0 } END { while (n-- > 0) print s[1 + int(rand() * NR)] }' "$sentences"
}

# head URL FLAG…: the first line of a truth file.
head_line() { echo "# $*"; }

mediawiki() {
  local d=$dir/mediawiki n=90 i url=http://mediawiki.apps.test:$port
  if [ ! -f "$d/LocalSettings.php" ]; then
    rm -rf "$d"; mkdir -p "$d/text"
    ln -sfn /usr/share/mediawiki "$d/root"
    php /usr/share/mediawiki/maintenance/install.php --dbtype sqlite --dbpath "$d" --dbname wiki --server "$url" --scriptpath "" \
      --confpath "$d" --pass "$(head -c 12 /dev/urandom | base64)" "Argosy Wiki" Admin >"$dir/log/mediawiki" 2>&1
    for i in $(seq 1 $n); do
      { words "$i" 8; echo "See [[Article $((i * 2))]], [[Article $((i * 2 + 1))]] and [[Article $((i * 7 % n + 1))]]. [[Category:Group $((i % 6))]]"; } >"$d/text/Article $i.txt"
    done
    { words 1000 6; echo "[[Article 1]] [[:Category:Group 0]]"; } >"$d/text/Main Page.txt"
    for i in 0 1 2 3 4 5; do words $((2000 + i)) 2 >"$d/text/Category:Group $i.txt"; done
    export MW_CONFIG_FILE=$d/LocalSettings.php
    php /usr/share/mediawiki/maintenance/importTextFiles.php --overwrite -s import "$d"/text/*.txt >>"$dir/log/mediawiki" 2>&1
    for i in $(seq 1 3 $n); do { words $((3000 + i)) 8; echo "See [[Article $((i * 2))]], [[Article $((i * 2 + 1))]]. [[Category:Group $((i % 6))]]"; } >"$d/text/Article $i.txt"; done
    php /usr/share/mediawiki/maintenance/importTextFiles.php --overwrite -s second "$d"/text/*.txt >>"$dir/log/mediawiki" 2>&1
    php /usr/share/mediawiki/maintenance/rebuildall.php >>"$dir/log/mediawiki" 2>&1
    php /usr/share/mediawiki/maintenance/runJobs.php >>"$dir/log/mediawiki" 2>&1
    chown -R www-data "$d"
  fi
  { head_line "$url/"
    sqlite3 "$d/wiki.sqlite" "SELECT CASE page_namespace WHEN 14 THEN 'Category:' ELSE '' END || page_title FROM page WHERE page_namespace IN (0, 14)" |
      while read -r t; do printf '%s/index.php/%s\t%s/index.php?title=%s\n' "$url" "$t" "$url" "$t"; done
  } >"$dir/truth/mediawiki.txt"
}

dokuwiki() {
  local d=$dir/dokuwiki n=80 i ns url=http://dokuwiki.apps.test:$port
  if [ ! -d "$d/data" ]; then
    rm -rf "$d"; mkdir -p "$d"
    cp -rL /usr/share/dokuwiki/. "$d/"
    cp -r /var/lib/dokuwiki/data "$d/data"
    mkdir "$d/conf"; cp -L /etc/dokuwiki/* "$d/conf/" 2>/dev/null || true
    echo '<?php' >"$d/inc/preload.php"
    printf "<?php\n\$conf['title'] = 'Argosy';\n\$conf['savedir'] = '%s/data';\n\$conf['useacl'] = 0;\n" "$d" >"$d/conf/local.php"
    for i in $(seq 1 $n); do
      ns=topic$((i % 5)); mkdir -p "$d/data/pages/$ns"
      { echo "====== Page $i ======"; words $((5000 + i)) 8; echo "[[topic$((i * 2 % 5)):page$((i * 2))]] [[topic$(((i * 2 + 1) % 5)):page$((i * 2 + 1))]] [[start]]"; } >"$d/data/pages/$ns/page$i.txt"
    done
    { echo "====== Start ======"; words 5999 5; echo "[[topic1:page1]] [[wiki:welcome]] [[wiki:syntax]] [[wiki:dokuwiki]]"; } >"$d/data/pages/start.txt"
    rm -rf "$d"/data/pages/playground
    find "$d/data/pages" -exec touch -d '60 days ago' {} + # a page that is younger than five says noindex, nofollow
    php "$d/bin/indexer.php" -q >"$dir/log/dokuwiki" 2>&1 || true
    chown -R www-data "$d"
  fi
  { head_line "$url/"
    (cd "$d/data/pages" && find . -name '*.txt') | sed 's|^\./||; s|\.txt$||; s|/|:|g' | while read -r id; do
      case $id in
      start) printf '%s/\t%s/doku.php?id=start\t%s/doku.php\n' "$url" "$url" "$url" ;;
      *) printf '%s/doku.php?id=%s\t%s/doku.php?id=%s\n' "$url" "$id" "$url" "${id//:/%3A}" ;;
      esac
    done
  } >"$dir/truth/dokuwiki.txt"
}

# history FUNCTION N: N changes of some forty files by a version control.
history() {
  local i f
  for i in $(seq 1 "$2"); do
    f=src/part$((i % 7))/file$((i * 11 % 40)).txt
    mkdir -p "$(dirname "$f")"
    words $((7000 + i)) 12 >>"$f"
    words $((8000 + i)) 3 >README
    "$1" "$i"
  done
}

git_change() {
  git add -A
  GIT_AUTHOR_DATE="@$((1700000000 + $1 * 40000)) +0000" GIT_COMMITTER_DATE="@$((1700000000 + $1 * 40000)) +0000" \
    git -c user.name="Author $(($1 % 5))" -c user.email=a@apps.test commit -q -m "$(words $((9000 + $1)) 1 | cut -c1-60)" -m "$(words $((9500 + $1)) 2)"
  [ $(($1 % 50)) != 0 ] || git tag "v$(($1 / 50))"
}

# same_versions REPOSITORY FILE URL: the URLs of a file as it was after each commit since it was changed last, which is as it is now.
same_versions() {
  local changed
  changed=$(git -c safe.directory='*' -C "$1" log -1 --format=%H -- "$2")
  git -c safe.directory='*' -C "$1" tag --contains "$changed" | awk -v url="$3" '{ printf "\t%s?h=%s", url, $0 }'
  { echo "$changed"; git -c safe.directory='*' -C "$1" log --format=%H "$changed..HEAD"; } |
    awk -v url="$3" '{ printf "\t%s?id=%s", url, $0; for (i = 1; i <= 4; i++) printf "\t%s?h=v%d&id=%s", url, i, $0 }'
}

cgit() {
  local d=$dir/git name url
  if [ ! -d "$d/work.git" ]; then
    rm -rf "$d"; mkdir -p "$d/work"
    (cd "$d/work" && git init -q -b main && history git_change 200 && git clone -q --bare . "$d/work.git")
  fi
  echo '<p>Work</p>' >"$d/footer"
  # Twice: by default each page has the time of its answer at its end, so that versions of a file seldom look the same.
  for name in cgit cgit-footer; do
    url=http://$name.apps.test:$port
    printf 'css=/cgit.css\nlogo=/cgit.png\nvirtual-root=/\nenable-commit-graph=1\nenable-blame=1\nenable-log-filecount=1\nsnapshots=\n' >"$d/$name.apps.test.rc"
    [ $name = cgit ] || echo "footer=$d/footer" >>"$d/$name.apps.test.rc"
    printf 'repo.url=work\nrepo.path=%s/work.git\nrepo.desc=Work\n' "$d" >>"$d/$name.apps.test.rc"
    # Its pages say nofollow by default, which is a filter.
    { head_line "$url/" --ignore-robots
      echo "$url/"
      echo "$url/work/"
      git -c safe.directory='*' -C "$d/work.git" log --format=%H | while read -r c; do printf "%s/work/commit/?id=%s" "$url" "$c"; for i in 1 2 3 4; do printf '\t%s/work/commit/?h=v%s&id=%s' "$url" $i "$c"; done; echo; done
      git -c safe.directory='*' -C "$d/work.git" ls-tree -r -t --name-only HEAD | while read -r f; do
        printf '%s/work/tree/%s' "$url" "$f"
        [ $name = cgit ] || same_versions "$d/work.git" "$f" "$url/work/tree/$f"
        echo
      done
    } >"$dir/truth/$name.txt"
  done
  chown -R www-data "$d"
}

# gitweb shows the repository that cgit does, all in parameters that a semicolon separates. Its pages say nofollow, which is a filter.
gitweb() {
  local d=$dir/git url=http://gitweb.apps.test:$port c f blob
  mkdir -p "$dir/gitweb/root"
  ln -sfn "$d/work.git" "$dir/gitweb/root/work.git"
  cat >"$dir/gitweb/conf" <<CONF
our \$projectroot = "$dir/gitweb/root";
our \$site_name = "Argosy";
our @stylesheets = ("static/gitweb.css");
CONF
  { head_line "$url/" --ignore-robots
    echo "$url/"
    git -c safe.directory='*' -C "$d/work.git" log --format=%H | while read -r c; do printf '%s/?p=work.git;a=commit;h=%s\t%s/?p=work.git;a=commitdiff;h=%s\n' "$url" "$c" "$url" "$c"; done
    git -c safe.directory='*' -C "$d/work.git" ls-tree -r HEAD | while read -r _ _ blob f; do
      printf '%s/?p=work.git;a=blob;f=%s;hb=HEAD\t%s/?p=work.git;a=blob_plain;f=%s;hb=HEAD' "$url" "$f" "$url" "$f"
      { echo HEAD; git -c safe.directory='*' -C "$d/work.git" log --format=%H; } | awk -v url="$url" -v f="$f" -v blob="$blob" '
        { for (i = 0; i < 2; i++) printf "\t%s/?p=work.git;a=blob%s;f=%s;h=%s;hb=%s", url, i ? "_plain" : "", f, blob, $0 }'
      echo
    done
  } >"$dir/truth/gitweb.txt"
}

hg_change() {
  hg addremove -q
  hg commit -q -u "Author $(($1 % 5))" -d "$((1700000000 + $1 * 40000)) 0" -m "$(words $((9000 + $1)) 2)"
}

hgweb() {
  local d=$dir/hg url=http://127.0.0.1:$((port + 2))
  if [ ! -d "$d/.hg" ]; then
    rm -rf "$d"; mkdir -p "$d"
    (cd "$d" && hg init && history hg_change 80)
  fi
  hg serve -R "$d" -a 127.0.0.1 -p $((port + 2)) -d --pid-file "$dir/run/hg.pid" -A /dev/null -E "$dir/log/hg"
  # Its pages say nofollow by default, which is a filter.
  { head_line "$url/" --ignore-robots
    hg -R "$d" log -T '{node|short} {node}\n' | while read -r s l; do printf '%s/rev/%s\t%s/rev/%s\n' "$url" "$s" "$url" "$l"; done
    # A file is as it is now since its last change, so each commit from then on shows it.
    (cd "$d" && hg files) | awk -F '\t' -v url="$url" '
      NR == FNR { node[++n] = $1; k = split($2, changed, "|"); for (i = 1; i <= k; i++) if (!(changed[i] in last)) last[changed[i]] = n; next }
      { printf "%s/file/tip/%s", url, $0; for (i = 1; i <= last[$0]; i++) printf "\t%s/file/%s/%s", url, node[i], $0; print "" }
    ' <(hg -R "$d" log -T '{node|short}\t{join(files, "|")}\n') -
  } >"$dir/truth/hgweb.txt"
}

fossil_change() {
  fossil addremove >/dev/null
  fossil commit --user-override "author$(($1 % 5))" --date-override "$(date -u -d "@$((1700000000 + $1 * 40000))" '+%Y-%m-%d %H:%M:%S')" --no-warnings --allow-empty \
    -m "$(words $((9000 + $1)) 2)" >/dev/null
}

tracker() {
  local d=$dir/fossil i url=http://127.0.0.1:$((port + 3))
  export HOME=$dir/tmp FOSSIL_USER=admin USER=admin
  if [ ! -f "$d/work.fossil" ]; then
    rm -rf "$d" "$HOME/.fossil" "$HOME/.config/fossil.db"; mkdir -p "$d/work"
    fossil init "$d/work.fossil" --admin-user admin --date-override 2023-01-01 >/dev/null
    (cd "$d/work" && fossil open "$d/work.fossil" >/dev/null && history fossil_change 80
     for i in $(seq 1 60); do
       fossil ticket add title "$(words $((6000 + i)) 1 | cut -c1-70)" type "$([ $((i % 2)) = 0 ] && echo Code_Defect || echo Feature_Request)" status Open \
         comment "$(words $((6200 + i)) 4)" --user admin >/dev/null
     done
     for i in $(seq 1 30); do { words $((6400 + i)) 6; echo "[Page $((i + 1))]"; } | fossil wiki create "Page $i" >/dev/null; done
     fossil close --force >/dev/null)
    # Who is not logged in sees links, as on a site whose owner wants to be found.
    fossil user capabilities nobody ghjorz -R "$d/work.fossil" >/dev/null
    fossil user capabilities anonymous ghjorz -R "$d/work.fossil" >/dev/null
  fi
  fossil server "$d/work.fossil" --port $((port + 3)) --localhost >"$dir/log/fossil" 2>&1 &
  echo $! >"$dir/run/fossil.pid"
  { head_line "$url/"
    sqlite3 "$d/work.fossil" "SELECT tkt_uuid FROM ticket" | while read -r t; do printf '%s/info/%s\t%s/tktview/%s\t%s/info/%s\t%s/tktview/%s\n' "$url" "$t" "$url" "$t" "$url" "${t:0:10}" "$url" "${t:0:10}"; done
    sqlite3 "$d/work.fossil" "SELECT uuid FROM blob JOIN event ON rid = objid WHERE event.type = 'ci'" | while read -r c; do printf "%s/info/%s\t%s/info/%s\t%s/info/%s\n" "$url" "$c" "$url" "${c:0:10}" "$url" "${c:0:16}"; done
    sqlite3 "$d/work.fossil" "SELECT substr(tagname, 6) FROM tag WHERE tagname GLOB 'wiki-*'" | while read -r w; do
      printf '%s/wiki?name=%s\t%s/wiki?name=%s\t%s/wiki/%s\n' "$url" "${w// /+}" "$url" "${w// /%20}" "$url" "${w// /%20}"
    done
  } >"$dir/truth/fossil.txt"
}

# roundup_run admin|server ARGUMENT…: runs one of its commands in place of this shell.
roundup_run() {
  if [ -n "${ROUNDUP:-}" ]; then
    exec env PYTHONPATH="$ROUNDUP" python3 -c "from roundup.scripts.roundup_$1 import run; run()" "${@:2}"
  fi
  exec "roundup-$1" "${@:2}"
}

# roundup: 60 issues with one to three messages each, some of which follow from others, and a few keywords.
roundup() {
  local d=$dir/roundup i j m=0 list url=http://127.0.0.1:$((port + 5))/work
  [ -n "${ROUNDUP:-}" ] || command -v roundup-server >/dev/null || return 0
  if [ ! -f "$d/filled" ]; then
    rm -rf "$d"; mkdir -p "$d"
    (roundup_run admin -i "$d/tracker" install classic sqlite) >"$dir/log/roundup"
    sed -i "s|^#web = .*|web = $url/|; s|^#domain = .*|domain = apps.test|; s|^#host = .*|host = localhost|" "$d/tracker/config.ini"
    (roundup_run admin -i "$d/tracker" initialise "$(head -c 12 /dev/urandom | base64)") >>"$dir/log/roundup"
    for i in 1 2 3 4 5; do echo "create keyword name=topic$i"; done >"$d/commands"
    for i in $(seq 1 60); do
      list=""
      for j in $(seq 0 $((i % 3))); do
        m=$((m + 1)); list=$list${list:+,}$m
        echo "create msg author=1 date=2024-01-$((1 + i % 28)).10:$((10 + j)):00 content=\"$(words $((i * 10 + j)) 5 | tr -d "\"'\\\\" | tr '\n' ' ')\""
      done
      echo "create issue title=\"$(words $((4000 + i)) 1 | tr -d "\"'\\\\" | cut -c1-70)\" messages=$list priority=$((1 + i % 5)) status=$((1 + i % 8)) keyword=$((1 + i % 5))$([ $((i % 4)) != 0 ] || echo " superseder=$((i / 2))")"
    done >>"$d/commands"
    echo commit >>"$d/commands"
    (roundup_run admin -i "$d/tracker" <"$d/commands") >>"$dir/log/roundup"
    chown -R www-data "$d"
    : >"$d/filled"
  fi
  (roundup_run server -u www-data -g www-data -n 127.0.0.1 -p $((port + 5)) "work=$d/tracker") >>"$dir/log/roundup" 2>&1 &
  echo $! >"$dir/run/roundup.pid"
  { head_line "$url/"
    sqlite3 "$d/tracker/db/db" "SELECT id FROM _issue WHERE __retired__ = 0" | while read -r i; do echo "$url/issue$i"; done
    sqlite3 "$d/tracker/db/db" "SELECT id FROM _msg WHERE __retired__ = 0" | while read -r i; do echo "$url/msg$i"; done
  } >"$dir/truth/roundup.txt"
}

listing() {
  local d=$dir/files i j url=http://127.0.0.1:$((port + 1))
  if [ ! -d "$d" ]; then
    for i in $(seq 1 130); do
      mkdir -p "$d/dir$((i % 13))/sub$i"
      for j in 1 2 3 4; do words $((i * 10 + j)) 5 >"$d/dir$((i % 13))/sub$i/text$j.txt"; done
    done
  fi
  cat >"$dir/apache.conf" <<CONF
ServerRoot /etc/apache2
ServerName 127.0.0.1
Listen 127.0.0.1:$((port + 1))
PidFile $dir/run/apache.pid
ErrorLog $dir/log/apache
Mutex file:$dir/tmp default
User www-data
Group www-data
StartServers 1
IncludeOptional mods-available/mpm_event.load
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule autoindex_module /usr/lib/apache2/modules/mod_autoindex.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
TypesConfig /etc/mime.types
Include mods-available/autoindex.conf
DocumentRoot $d
<Directory $d>
  Options Indexes
  Require all granted
</Directory>
CONF
  sed -i '/Include mods-available.autoindex/d; s|^DocumentRoot|IndexOptions FancyIndexing VersionSort HTMLTable NameWidth=*\nDocumentRoot|' "$dir/apache.conf"
  [ -f /etc/mime.types ] || sed -i '/TypesConfig/d' "$dir/apache.conf"
  /usr/sbin/apache2 -f "$dir/apache.conf"
  { head_line "$url/"
    (cd "$d" && find . -mindepth 1 -type d -printf '%P/\n' -o -type f -printf '%P\n') | while read -r f; do echo "$url/$f"; done
  } >"$dir/truth/listing.txt"
}

servers() {
  cat >"$dir/fpm.conf" <<CONF
[global]
pid = $dir/run/fpm.pid
error_log = $dir/log/fpm
[apps]
user = www-data
group = www-data
listen = $dir/run/fpm.sock
listen.owner = www-data
pm = static
pm.max_children = 4
clear_env = no
CONF
  "$fpm" -y "$dir/fpm.conf"
  start-stop-daemon -S -b -m -p "$dir/run/fcgiwrap.pid" -x /usr/sbin/fcgiwrap -c www-data -- -c 4 -s "tcp:127.0.0.1:$((port + 4))"
  cat >"$dir/nginx.conf" <<CONF
daemon on;
user www-data;
worker_processes 1;
pid $dir/run/nginx.pid;
error_log $dir/log/nginx;
events { worker_connections 512; }
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log off;
  keepalive_requests 100000;
  client_body_temp_path $dir/tmp; proxy_temp_path $dir/tmp; fastcgi_temp_path $dir/tmp; uwsgi_temp_path $dir/tmp; scgi_temp_path $dir/tmp;
  server {
    listen 127.0.0.1:$port; server_name mediawiki.apps.test;
    root /usr/share/mediawiki; index index.php;
    location ~ ^(.+?\.php)(/.*)?\$ {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME \$document_root\$1; fastcgi_param SCRIPT_NAME \$1; fastcgi_param PATH_INFO \$2;
      fastcgi_param MW_CONFIG_FILE $dir/mediawiki/LocalSettings.php;
      fastcgi_pass unix:$dir/run/fpm.sock;
    }
  }
  server {
    listen 127.0.0.1:$port; server_name dokuwiki.apps.test;
    root $dir/dokuwiki; index doku.php;
    location ~ /(data|conf|bin|inc|vendor)/ { deny all; }
    location ~ \.php\$ {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name;
      fastcgi_pass unix:$dir/run/fpm.sock;
    }
  }
  server {
    listen 127.0.0.1:$port; server_name cgit.apps.test cgit-footer.apps.test;
    root /usr/share/cgit;
    location ~ ^/cgit\.(css|png)\$ { }
    location / {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME /usr/lib/cgit/cgit.cgi; fastcgi_param PATH_INFO \$uri; fastcgi_param CGIT_CONFIG $dir/git/\$host.rc;
      fastcgi_pass 127.0.0.1:$((port + 4));
    }
  }
  server {
    listen 127.0.0.1:$port; server_name gitweb.apps.test;
    root /usr/share/gitweb;
    location /static/ { }
    location / {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME /usr/share/gitweb/gitweb.cgi; fastcgi_param GITWEB_CONFIG $dir/gitweb/conf;
      fastcgi_pass 127.0.0.1:$((port + 4));
    }
  }
}
CONF
  nginx -c "$dir/nginx.conf" -p "$dir" 2>>"$dir/log/nginx"
}

trap 'echo "apps: line $LINENO failed; see $dir/log" >&2; bash "$0" stop "$dir"' ERR
"$0" stop "$dir"
mediawiki
dokuwiki
cgit
gitweb
servers
listing
hgweb
tracker
roundup
wc -l "$dir"/truth/*.txt
