#!/usr/bin/env bash
# A web of real documentation: Debian's packages behind nginx, each under a host name of its own.
#
#   bench/docweb.sh start [DIR]   installs what is missing, serves on 127.0.0.1:8088, prints the seeds (DIR/seeds.txt)
#   bench/docweb.sh stop  [DIR]
#
# The names end in .docs.test: crawl them with --resolve '*.docs.test=127.0.0.1' --allow-private=127.0.0.0/8.
set -euo pipefail
cmd=${1:-start}
dir=${2:-${TMPDIR:-/tmp}/argosy-docweb}
port=${PORT:-8088}
sites="
rust-doc               rust        /usr/share/doc/rust-doc/html
python3-doc            python      /usr/share/doc/python3/html
postgresql-doc-15      postgresql  /usr/share/doc/postgresql-doc-15/html
openjdk-17-doc         java        /usr/share/doc/openjdk-17-jre-headless/api
sqlite3-doc            sqlite      /usr/share/doc/sqlite3
git-doc                git         /usr/share/doc/git-doc
apache2-doc            apache      /usr/share/doc/apache2-doc/manual
python-django-doc      django      /usr/share/doc/python-django-doc/html
python-sqlalchemy-doc  sqlalchemy  /usr/share/doc/python-sqlalchemy-doc/html
libstdc++-12-doc       libstdcxx   /usr/share/doc/gcc-12-base/libstdc++
cmake-doc              cmake       /usr/share/doc/cmake-data/html
sphinx-doc             sphinx      /usr/share/doc/sphinx-doc/html
python-scipy-doc       scipy       /usr/share/doc/python-scipy-doc/html
libboost1.74-doc       boost       /usr/share/doc/libboost1.74-doc
jython-doc             jython      /usr/share/doc/jython-doc/html/javadoc
ant-doc                ant         /usr/share/doc/ant
python-pandas-doc      pandas      /usr/share/doc/python-pandas-doc/html
debian-policy          policy      /usr/share/doc/debian-policy
libglib2.0-doc         glib        /usr/share/gtk-doc/html
tomcat10-docs          tomcat      /usr/share/tomcat10-docs/docs
python-requests-doc    requests    /usr/share/doc/python-requests-doc/html
octave-doc             octave      /usr/share/doc/octave/octave.html
gnuplot-doc            gnuplot     /usr/share/doc/gnuplot/htmldocs
debian-handbook        handbook    /usr/share/doc/debian-handbook/html
aptitude-doc-en        aptitude    /usr/share/doc/aptitude/html/en
"
if [ "$cmd" = stop ]; then
  [ -f "$dir/nginx.pid" ] && kill "$(cat "$dir/nginx.pid")"
  exit 0
fi
mkdir -p "$dir/tmp"
missing=""
for p in nginx-light $(echo "$sites" | awk 'NF {print $1}'); do
  dpkg -s "$p" >/dev/null 2>&1 || missing="$missing $p"
done
if [ -n "$missing" ]; then
  apt-get update -qq -o DPkg::Lock::Timeout=120 >&2
  for p in $missing; do
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=120 --no-install-recommends "$p" >/dev/null 2>&1 || echo "docweb: no package $p here" >&2
  done
fi
{
  cat <<CONF
daemon on;
worker_processes ${WORKERS:-1};
pid $dir/nginx.pid;
error_log $dir/error.log;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  charset_types text/plain;
  access_log ${ACCESS_LOG:-off};
  sendfile on;
  keepalive_requests 1000000;
  keepalive_timeout 120s;
  gzip on; gzip_comp_level 1; gzip_min_length 256;
  gzip_types text/plain text/css application/javascript application/xml image/svg+xml;
  open_file_cache max=4000 inactive=60s;
  client_body_temp_path $dir/tmp; proxy_temp_path $dir/tmp; fastcgi_temp_path $dir/tmp; uwsgi_temp_path $dir/tmp; scgi_temp_path $dir/tmp;
  server { listen 127.0.0.1:$port default_server; return 404; }
CONF
  echo "$sites" | while read -r pkg name root; do
    [ -n "$pkg" ] && [ -d "$root" ] || continue
    echo "  server { listen 127.0.0.1:$port; server_name $name.docs.test; root $root; autoindex on; index index.html; }"
    echo "http://$name.docs.test:$port/" >&3
  done
  echo "}"
} 3>"$dir/seeds.txt" >"$dir/nginx.conf"
nginx -c "$dir/nginx.conf" -p "$dir" 2>/dev/null
cat "$dir/seeds.txt"
