#!/usr/bin/env bash
# Looks for known vulnerabilities that mediagen's code can reach, in both flavours. The database is built from the
# golang.org/x/vulndb module, so no vulnerability service is asked; its version in internal/tools/go.mod is its age.
set -euo pipefail
cd "$(dirname "$0")/.."

govulncheck=$(scripts/tool.sh govulncheck)
go -C internal/tools build -o "$PWD/.cache/bin/vulngate" ./vulngate

version=$(go -C internal/tools list -m -f '{{.Version}}' golang.org/x/vulndb)
db=$PWD/.cache/vulndb/$version
if [ ! -d "$db" ]; then
  indexdb=$(scripts/tool.sh indexdb)
  go -C internal/tools mod download golang.org/x/vulndb
  source=$(go -C internal/tools list -m -f '{{.Dir}}' golang.org/x/vulndb)
  rm -rf "$db.new"
  mkdir -p "$db.new"
  "$indexdb" -vulns "$source/data/osv" -out "$db.new" >/dev/null
  mv "$db.new" "$db"
fi

scan() { # NAME FLAGS...
  echo "vulnerabilities reachable from the $1 flavour (database $version):"
  "$govulncheck" -db "file://$db" -format json "${@:2}" ./... | .cache/bin/vulngate
}
if [ -z "$(scripts/flavour.sh)" ]; then
  scan libvips
fi
CGO_ENABLED=0 scan pure-Go -tags=novips,nodynamic
