#!/usr/bin/env bash
# Runs every test, with the race detector. Installs libvips first where it is missing and that needs no password;
# otherwise it tests the pure-Go flavour and says so. Arguments go to "go test".
set -euo pipefail
cd "$(dirname "$0")/.."

flags=(-timeout=40m)
if scripts/install-libvips.sh; then
  what="libvips flavour"
else
  what="pure-Go flavour (libvips is not here)"
  flags+=('-tags=novips,nodynamic')
fi
compiler=$(go env CC)
if command -v "${compiler%% *}" >/dev/null 2>&1; then
  export CGO_ENABLED=1
  flags+=(-race)
else
  what+=", without -race (no C compiler)"
fi

echo "go test ${flags[*]} $* ./...   # $what"
go test "${flags[@]}" "$@" ./...
echo "all tests passed: $what"
