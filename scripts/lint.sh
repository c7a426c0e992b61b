#!/usr/bin/env bash
# Checks the lint configuration, then every package in the libvips flavour, the imaging package in the pure-Go flavour,
# and the tools of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."

lint=$(scripts/tool.sh golangci-lint)
export GOLANGCI_LINT_CACHE=$PWD/.cache/golangci-lint
config=$PWD/.golangci.yml

"$lint" config verify
if [ -z "$(scripts/flavour.sh)" ]; then
  "$lint" run ./...
fi
"$lint" run --build-tags=novips,nodynamic ./internal/imaging/...
(cd internal/tools && "$lint" run --config="$config" ./vulngate/...)
