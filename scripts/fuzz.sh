#!/usr/bin/env bash
# Runs every fuzz target for the given time (10s) or number of inputs (1000x).
set -euo pipefail
cd "$(dirname "$0")/.."

amount=${1:-10s}
flags=(-run='^$' "-fuzztime=$amount")
flavour=$(scripts/flavour.sh)
[ -z "$flavour" ] || flags+=("$flavour")
targets=$(grep -rHoE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' cmd internal | sort) || {
  echo "fuzz: no target found" >&2
  exit 1
}
while IFS=: read -r file declaration; do
  name=${declaration#func }
  echo "fuzz $(dirname "$file") $name $amount"
  go test "${flags[@]}" -fuzz="^$name\$" "./$(dirname "$file")" </dev/null |
    grep -vE '^(fuzz: elapsed|PASS|ok )' || [ "${PIPESTATUS[0]}" -eq 0 ]
done <<<"$targets"
