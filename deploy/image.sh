#!/usr/bin/env bash
# Builds the image "argosy" with whatever builds images here (docker, podman or buildah), and asks it for its version.
#
#   deploy/image.sh                 as the Dockerfile says
#   deploy/image.sh --local-base    where no registry can be reached: the stage that builds then stands on Debian's
#                                   packages (debootstrap, root) and this machine's Go; the image itself is the same
#
# Elsewhere than in a container buildah needs nothing; in one set BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=
for t in docker podman buildah; do
  if command -v $t >/dev/null && $t info >/dev/null 2>&1; then tool=$t; break; fi
done
[ -n "$tool" ] || { echo "image.sh: none of docker, podman and buildah works here" >&2; exit 2; }
version=$(git describe --always --dirty 2>/dev/null || true) # empty: the one in the source
args=(-t argosy:latest --build-arg "VERSION=$version")
if [ "${1:-}" = --local-base ]; then
  base=$(mktemp -d)
  trap 'rm -rf "$base"' EXIT
  debootstrap --variant=minbase --include=ca-certificates bookworm "$base/root" >/dev/null
  cp -r "$(go env GOROOT)" "$base/root/usr/local/go"
  cp /etc/ssl/certs/ca-certificates.crt "$base/root/etc/ssl/certs/"
  printf 'FROM scratch\nCOPY root /\nENV PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin\n' >"$base/Dockerfile"
  "$tool" build -t localhost/argosy-build -f "$base/Dockerfile" "$base"
  args+=(--build-arg BASE=localhost/argosy-build)
  [ "$tool" = docker ] || args+=(--pull=never)
fi
"$tool" build "${args[@]}" .
if [ "$tool" = buildah ]; then
  c=$(buildah from --pull=never localhost/argosy:latest)
  trap 'buildah rm "$c" >/dev/null; rm -rf "${base:-}"' EXIT
  buildah run "$c" -- /argosy --version
else
  "$tool" run --rm argosy:latest --version
fi
