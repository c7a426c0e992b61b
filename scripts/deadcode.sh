#!/usr/bin/env bash
# Fails when a function cannot be reached from any program or test. A name with a reason in scripts/deadcode.allow is
# let through; a name there that is not dead any more fails too, so the list cannot rot.
set -euo pipefail
cd "$(dirname "$0")/.."

deadcode=$(scripts/tool.sh deadcode)
flags=(-test)
flavour=$(scripts/flavour.sh)
[ -z "$flavour" ] || flags+=("$flavour")

# shellcheck disable=SC2016 # a Go template
format='{{$p := .Path}}{{range .Funcs}}{{printf "%s.%s\n" $p .Name}}{{end}}'
found=$("$deadcode" "${flags[@]}" -f "$format" ./... | grep . | sort -u || [ "${PIPESTATUS[0]}" -eq 0 ])
allowed=$(sed -e 's/#.*//' -e 's/[[:space:]]*$//' scripts/deadcode.allow | grep . | sort -u || true)

status=0
dead=$(comm -23 <(printf '%s\n' "$found") <(printf '%s\n' "$allowed") | grep . || true)
if [ -n "$dead" ]; then
  printf 'cannot be reached from a program or a test; remove it:\n%s\n' "$dead"
  status=1
fi
stale=$(comm -13 <(printf '%s\n' "$found") <(printf '%s\n' "$allowed") | grep . || true)
if [ -n "$stale" ]; then
  printf 'is not dead any more; remove it from scripts/deadcode.allow:\n%s\n' "$stale"
  status=1
fi
exit $status
