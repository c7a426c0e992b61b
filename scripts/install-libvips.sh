#!/usr/bin/env bash
# Makes sure that this machine can build the libvips flavour. Prints the command that installs what is missing, a C
# compiler too, and runs it where that needs no password. Exit status: 0 ready, 3 not ready (nothing was changed, or the
# install failed).
set -euo pipefail

compiler=$(go env CC)
have_compiler() { command -v "${compiler%% *}" >/dev/null 2>&1; }
have_libvips() { pkg-config --exists 'vips >= 8.14' >/dev/null 2>&1; }

if have_compiler && have_libvips; then
  exit 0
fi

packages=(libvips-dev pkg-config)
have_compiler || packages+=(gcc libc6-dev)
echo "libvips 8.14 or newer, or a C compiler for it, is missing; on Debian 12 or Ubuntu 24.04 and newer this installs it:" >&2
echo "    sudo apt-get install -y --no-install-recommends ${packages[*]}" >&2

if ! command -v apt-get >/dev/null 2>&1; then
  echo "libvips: no apt-get here; elsewhere install libvips with its headers and pkg-config" >&2
  exit 3
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true >/dev/null 2>&1; then
    echo "libvips: not installed, because that needs a password" >&2
    exit 3
  fi
  sudo=(sudo -n)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@"; }
echo "libvips: installing" >&2
# A source of somebody else's that cannot be read right now is no reason to stop: the install decides.
if ! { apt update || true; apt install -y --no-install-recommends "${packages[@]}"; } >"$log" 2>&1; then
  tail -n 15 "$log" >&2
  echo "libvips: the install failed" >&2
  exit 3
fi
if ! have_compiler; then
  echo "libvips: there is no C compiler named $compiler (CC)" >&2
  exit 3
fi
if ! have_libvips; then
  echo "libvips: the packages of this system are older than 8.14" >&2
  exit 3
fi
