#!/usr/bin/env bash
# Prints the go flags for the flavour that this machine can build: none for libvips, the tags of the pure-Go imaging
# otherwise. It installs nothing.
set -euo pipefail

compiler=$(go env CC)
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "${compiler%% *}" >/dev/null 2>&1 &&
  pkg-config --exists 'vips >= 8.14' >/dev/null 2>&1; then
  exit 0
fi
echo "no C compiler or no libvips 8.14: using the pure-Go imaging" >&2
echo "-tags=novips,nodynamic"
