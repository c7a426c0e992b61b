#!/usr/bin/env bash
# Builds mediagen and makes two pictures with its emulator: no key, no account, no cost. Needs Go and this script only.
set -euo pipefail
cd "$(dirname "$0")/.."

flags=(-trimpath)
if scripts/install-libvips.sh; then
  echo "building bin/mediagen with libvips (the first build takes some minutes)" >&2
else
  flags+=('-tags=novips,nodynamic')
  echo "building bin/mediagen with the pure-Go imaging (the first build takes some minutes)" >&2
fi
go build "${flags[@]}" -o bin/mediagen ./cmd/mediagen

echo '$ bin/mediagen images generate --provider emulator -n 2 -o demo-out/ "a red bicycle"' >&2
bin/mediagen images generate --provider emulator -n 2 -o demo-out/ "a red bicycle"
