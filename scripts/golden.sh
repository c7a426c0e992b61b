#!/usr/bin/env bash
# Prints the packages whose tests take -update.
set -euo pipefail
cd "$(dirname "$0")/.."

grep -rlE 'flag\.Bool(Var)?\(.*"update"' --include='*_test.go' cmd internal | xargs -n1 dirname | sort -u | sed 's|^|./|'
